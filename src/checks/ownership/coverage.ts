// Describes a change's effect as text that is stored with an approval and compared later. The head alone is not enough,
// because the effect changes when the merge base moves or the owners change.
import type { PullRequestChange, TouchedPath } from '../../pull-request/change.ts'
import type { RequiredApproval } from './required-approvals.ts'
import { formatPrincipal } from './principal.ts'

/** By package directory; '' for paths outside packages. */
export type ApprovalCoverage = ReadonlyMap<string, string>

/**
 * Lines with `=` describe files, lines with `+` their effects. A file's line appears under every directory whose owners
 * must agree to it.
 */
export function computeApprovalCoverage(
  change: PullRequestChange,
  required: readonly RequiredApproval[],
): ApprovalCoverage {
  const lines = new Map<string, Set<string>>()
  const add = (directory: string, line: string): void => {
    const known = lines.get(directory)
    if (known) known.add(line)
    else lines.set(directory, new Set([line]))
  }
  const files = new Map(change.paths.map((path) => [path.path, formatFileCoverageLine(path)]))
  for (const { path, role } of change.paths)
    add('directory' in role ? (role.directory ?? '') : '', files.get(path) ?? '')
  for (const requirement of required) {
    const file = files.get(requirement.path)
    if (file !== undefined) add(requirement.directory, file)
    for (const effect of formatApprovalEffects(requirement))
      add(requirement.directory, `+ ${JSON.stringify(requirement.path)} ${JSON.stringify(effect)}`)
  }
  return new Map(
    [...lines]
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([directory, list]) => [directory, [...list].toSorted().join('\n')]),
  )
}

/** The files alone, as reviewers see them on GitHub. */
export function computeFileCoverage(
  paths: readonly Pick<TouchedPath, 'path' | 'before' | 'after'>[],
): ApprovalCoverage {
  return new Map([['', paths.map(formatFileCoverageLine).toSorted().join('\n')]])
}

/**
 * Whether everything that the change does now was approved: the same files and no new effects. Fewer effects are fine.
 */
export function isChangeCoveredByApproval(now: ApprovalCoverage, agreed: ApprovalCoverage): boolean {
  return areCoverageLinesApproved(toCoverageLineSet(now), toCoverageLineSet(agreed))
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
export function hasSameFilesInCoverage(one: ApprovalCoverage, other: ApprovalCoverage): boolean {
  const files = (coverage: ApprovalCoverage) =>
    new Set([...toCoverageLineSet(coverage)].filter(isFileCoverageLine))
  return areCoverageLinesApproved(files(one), files(other))
}

/** The differences from the approved change, one phrase per path, sorted. */
export function listCoverageDifferences(now: ApprovalCoverage, agreed: ApprovalCoverage): readonly string[] {
  const [present, then] = [toCoverageLineSet(now), toCoverageLineSet(agreed)]
  if (areCoverageLinesApproved(present, then)) return []
  if (then.size === 0) return ['the approved effect is unknown']
  const filesNow = indexCoverageLinesByPath([...present].filter(isFileCoverageLine))
  const filesThen = indexCoverageLinesByPath([...then].filter(isFileCoverageLine))
  const found = new Map<string, string>()
  for (const path of filesThen.keys()) if (!filesNow.has(path)) found.set(path, 'no longer changed')
  for (const [path, line] of filesNow) {
    const before = filesThen.get(path)
    if (before === undefined) found.set(path, 'newly changed')
    else if (before !== line) found.set(path, 'different content')
  }
  for (const line of present)
    if (!isFileCoverageLine(line) && !then.has(line)) {
      const { path, rest } = parseCoverageLine(line)
      const effect = String(JSON.parse(rest))
      found.set(path, found.has(path) ? `${found.get(path)}, ${effect}` : effect)
    }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, difference]) => `${path} (${difference})`)
}

function areCoverageLinesApproved(now: ReadonlySet<string>, agreed: ReadonlySet<string>): boolean {
  for (const line of now) if (!agreed.has(line)) return false
  for (const line of agreed) if (isFileCoverageLine(line) && !now.has(line)) return false
  return true
}

function toCoverageLineSet(coverage: ApprovalCoverage): ReadonlySet<string> {
  const lines = new Set<string>()
  for (const text of coverage.values()) for (const line of text.split('\n')) if (line !== '') lines.add(line)
  return lines
}

const isFileCoverageLine = (line: string): boolean => line.startsWith('= ')

function indexCoverageLinesByPath(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(lines.map((line) => [parseCoverageLine(line).path, line]))
}

function parseCoverageLine(line: string): { path: string; rest: string } {
  const [quoted = '""'] = /"(?:[^"\\]|\\.)*"/.exec(line) ?? []
  return { path: String(JSON.parse(quoted)), rest: line.slice(2 + quoted.length + 1) }
}

function formatFileCoverageLine({
  path,
  before,
  after,
}: Pick<TouchedPath, 'path' | 'before' | 'after'>): string {
  const text = (entry: TouchedPath['before']): string => (entry ? `${entry.mode} ${entry.oid}` : 'none')
  return `= ${JSON.stringify(path)} ${text(before)} ${text(after)}`
}

/** One phrase per effect, so that fewer effects are distinguishable from different ones. */
function formatApprovalEffects({ package: name, kinds, ownerEdit }: RequiredApproval): readonly string[] {
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
