// Decides which reviews and commands count as approvals. A later review replaces an earlier one by the same account. A
// dismissed review does not count, and a replaced one never becomes valid again. Authors cannot approve their own
// change, and Apps cannot approve.
import type { PullReview, PullSnapshot } from '../../pull-request/snapshot.ts'
import type { Approval } from '../check.ts'
import { normalizeLogin, formatPrincipal } from './principals.ts'
import type { PullRequestChange, TouchedPath } from '../../pull-request/change.ts'
import type { RequiredApproval } from './required-approvals.ts'

/**
 * A change's effect by package directory ('' for other paths), stored with an approval and compared later, because
 * the effect of the same head changes with the merge base and the owners.
 */
export type ApprovalCoverage = ReadonlyMap<string, string>

const isFileApprovalCoverageLine = (line: string): boolean => line.startsWith('= ')

/** Each user's latest review that approves or requests changes, by account id, in order of submission, then id. */
export function findLatestReviewOfEachUser(reviews: readonly PullReview[]): readonly PullReview[] {
  const last = new Map<number, PullReview>()
  const inOrder = reviews.toSorted(
    (a, b) => (a.submittedAt < b.submittedAt ? -1 : a.submittedAt > b.submittedAt ? 1 : 0) || a.id - b.id,
  )
  for (const review of inOrder)
    if (review.author !== null && review.state !== 'commented') last.set(review.author.id, review)
  return [...last.values()]
}

/**
 * Approvals of the current head by review. `firstSeenEpochs`: by review id; a review keeps its epoch even if the head
 * returns to its commit. `agreed`: what the change did for each review id; without it an approval covers nothing.
 */
export function createApprovalsFromReviews(
  snapshot: PullSnapshot,
  epoch: number,
  firstSeenEpochs: ReadonlyMap<number, number>,
  agreed: ReadonlyMap<number, ApprovalCoverage>,
): Approval[] {
  return findLatestReviewOfEachUser(snapshot.reviews).flatMap((review): Approval[] => {
    const { author, commit } = review
    if (review.state !== 'approved' || author === null || commit === null) return []
    const covers = agreed.get(review.id)
    return [
      {
        user: author.id,
        login: normalizeLogin(author),
        head: commit,
        baseRef: snapshot.baseRef,
        epoch: firstSeenEpochs.get(review.id) ?? epoch,
        source: 'review',
        ...(covers && { covers }),
      },
    ]
  })
}

/** Reviews by accounts other than the author that request changes and are the account's latest, for any head. */
export function findChangesRequestedReviews(snapshot: PullSnapshot): readonly PullReview[] {
  return findLatestReviewOfEachUser(snapshot.reviews).filter(
    ({ state, author }) => state === 'changes-requested' && author?.id !== snapshot.author?.id,
  )
}

/** Whether an approval is for this head, base branch and epoch. Does not compare what the change does. */
export function isApprovalForSnapshot(approval: Approval, snapshot: PullSnapshot, epoch: number): boolean {
  return approval.head === snapshot.head && approval.baseRef === snapshot.baseRef && approval.epoch === epoch
}

/** Whether an approval is for exactly this state and everything that the change does in it. */
export function isCurrentApproval(
  approval: Approval,
  snapshot: PullSnapshot,
  epoch: number,
  now: () => ApprovalCoverage,
): boolean {
  return (
    isApprovalForSnapshot(approval, snapshot, epoch) &&
    approval.covers !== undefined &&
    isChangeCoveredByApproval(now(), approval.covers)
  )
}

/**
 * Lines with `=` describe files, lines with `+` their effects. A file's line appears under each directory with owners
 * who must agree to it.
 */
export function computeApprovalCoverage(
  change: PullRequestChange,
  required: readonly RequiredApproval[],
): ApprovalCoverage {
  const lines = new Map<string, Set<string>>()
  const add = (directory: string, line: string): void => {
    lines.set(directory, (lines.get(directory) ?? new Set()).add(line))
  }
  const files = new Map(change.paths.map((path) => [path.path, formatApprovalCoverageLine(path)]))
  for (const { path, role } of change.paths)
    add('directory' in role ? (role.directory ?? '') : '', files.get(path) ?? '')
  for (const requirement of required) {
    const file = files.get(requirement.path)
    if (file !== undefined) add(requirement.directory, file)
    for (const effect of formatEffectsRequiringApproval(requirement))
      add(requirement.directory, `+ ${JSON.stringify(requirement.path)} ${JSON.stringify(effect)}`)
  }
  return new Map(
    [...lines]
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([directory, list]) => [directory, [...list].toSorted().join('\n')]),
  )
}

/** The files alone, as reviewers see them on GitHub. */
export function computeFileApprovalCoverage(
  paths: readonly Pick<TouchedPath, 'path' | 'before' | 'after'>[],
): ApprovalCoverage {
  return new Map([['', paths.map(formatApprovalCoverageLine).toSorted().join('\n')]])
}

/**
 * Whether everything that the change does now was approved: the same files and no new effects. Fewer effects are fine.
 */
export function isChangeCoveredByApproval(now: ApprovalCoverage, agreed: ApprovalCoverage): boolean {
  return areCoverageLinesApproved(toApprovalCoverageLineSet(now), toApprovalCoverageLineSet(agreed))
}

export function isDirectoryCoveredByApproval(
  directory: string,
  now: ApprovalCoverage,
  agreed: ApprovalCoverage,
): boolean {
  const [present, then] = [now.get(directory), agreed.get(directory)]
  if (present === undefined || then === undefined) return false
  return present === then || areCoverageLinesApproved(new Set(present.split('\n')), new Set(then.split('\n')))
}

/** Whether both have the same files, regardless of effects. */
export function doApprovalsCoverSameFiles(one: ApprovalCoverage, other: ApprovalCoverage): boolean {
  const files = (coverage: ApprovalCoverage) =>
    new Set([...toApprovalCoverageLineSet(coverage)].filter(isFileApprovalCoverageLine))
  return areCoverageLinesApproved(files(one), files(other))
}

/** The differences from the approved change, one phrase per path, sorted. */
export function listChangesSinceApproval(now: ApprovalCoverage, agreed: ApprovalCoverage): readonly string[] {
  const [present, then] = [toApprovalCoverageLineSet(now), toApprovalCoverageLineSet(agreed)]
  if (areCoverageLinesApproved(present, then)) return []
  if (then.size === 0) return ['the approved effect is unknown']
  const filesNow = indexApprovalCoverageByPath([...present].filter(isFileApprovalCoverageLine))
  const filesThen = indexApprovalCoverageByPath([...then].filter(isFileApprovalCoverageLine))
  const found = new Map<string, string>()
  for (const path of filesThen.keys()) if (!filesNow.has(path)) found.set(path, 'no longer changed')
  for (const [path, line] of filesNow) {
    const before = filesThen.get(path)
    if (before === undefined) found.set(path, 'newly changed')
    else if (before !== line) found.set(path, 'different content')
  }
  for (const line of present)
    if (!isFileApprovalCoverageLine(line) && !then.has(line)) {
      const { path, rest } = parseApprovalCoverageLine(line)
      const effect = String(JSON.parse(rest))
      found.set(path, found.has(path) ? `${found.get(path)}, ${effect}` : effect)
    }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, difference]) => `${path} (${difference})`)
}

function areCoverageLinesApproved(now: ReadonlySet<string>, agreed: ReadonlySet<string>): boolean {
  for (const line of now) if (!agreed.has(line)) return false
  for (const line of agreed) if (isFileApprovalCoverageLine(line) && !now.has(line)) return false
  return true
}

function toApprovalCoverageLineSet(coverage: ApprovalCoverage): ReadonlySet<string> {
  const lines = new Set<string>()
  for (const text of coverage.values()) for (const line of text.split('\n')) if (line !== '') lines.add(line)
  return lines
}

function indexApprovalCoverageByPath(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(lines.map((line) => [parseApprovalCoverageLine(line).path, line]))
}

function parseApprovalCoverageLine(line: string): { path: string; rest: string } {
  const [quoted = '""'] = /"(?:[^"\\]|\\.)*"/.exec(line) ?? []
  return { path: String(JSON.parse(quoted)), rest: line.slice(2 + quoted.length + 1) }
}

function formatApprovalCoverageLine({ path, before, after }: Pick<TouchedPath, 'path' | 'before' | 'after'>) {
  const text = (entry: TouchedPath['before']): string => (entry ? `${entry.mode} ${entry.oid}` : 'none')
  return `= ${JSON.stringify(path)} ${text(before)} ${text(after)}`
}

/** One phrase per effect, so that fewer effects are distinguishable from different ones. */
function formatEffectsRequiringApproval({
  package: name,
  kinds,
  ownerEdit,
}: RequiredApproval): readonly string[] {
  const ofPackage = kinds.map((kind) => `${kind} of ${name}`)
  if (ownerEdit === undefined) return ofPackage
  const listed = /^(?:adds|removes) /
  return [
    ...ofPackage,
    ...ownerEdit.added.map((principal) => `adds ${formatPrincipal(principal)}`),
    ...ownerEdit.removed.map((principal) => `removes ${formatPrincipal(principal)}`),
    ...ownerEdit.description.split('; ').filter((word) => !listed.test(word)),
  ]
}
