// The change that each approving review agreed to. GitHub gives only a review's commit and time, and the same commit
// can mean another change when the merge base moves, so the first evaluation records it permanently.
import { createHash } from 'node:crypto'
import type { CommitSha } from '../pull-request/ids.ts'
import type { PathChange } from '../pull-request/path-change.ts'
import type { PullReview, PullSnapshot } from '../pull-request/snapshot.ts'
import { computeFileCoverage, hasSameFiles, type ApprovalCoverage } from '../checks/ownership/ownership.ts'
import type { ShownHead } from '../policy/commands.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import type { DescribedChange, PullMemory } from '../ports/pull-memory.ts'
import type { GitRepository } from '../ports/repository.ts'
import { memoizeOnce } from '@catalog-bot/findings/memoize'

export function toDescribedChange(covers: ApprovalCoverage): DescribedChange {
  const id = createHash('sha256')
    .update(JSON.stringify([...covers]))
    .digest('hex')
    .slice(0, 40)
  return { id, covers }
}

export interface ApprovalCoverageOptions {
  readonly snapshot: PullSnapshot
  readonly epoch: number
  /** The epoch in which each review was first seen. */
  readonly seen: ReadonlyMap<number, number>
  readonly now: DescribedChange
  readonly shown: readonly ShownHead[]
  readonly memory: PullMemory
  readonly repository: Pick<GitRepository, 'mergeBases' | 'wasTip' | 'treeOf' | 'diff'>
}

/** What the approving reviews of this state agreed to, by their ids. Rejects with a StoreError or GitError. */
export async function resolveApprovalCoverages(
  options: ApprovalCoverageOptions,
): Promise<ReadonlyMap<number, ApprovalCoverage>> {
  const { snapshot, epoch, seen, now, memory } = options
  const { repository, pull, head } = snapshot
  const reviews = snapshot.reviews.filter(
    ({ id, state, commit }) => state === 'approved' && commit === head && (seen.get(id) ?? epoch) === epoch,
  )
  if (reviews.length === 0) return new Map()
  if (!memory.firstSeenApprovals || !memory.recordChange || !memory.readChanges)
    return new Map(reviews.map(({ id }) => [id, now.covers]))
  let known = await memory.firstSeenApprovals(repository, pull, new Map())
  const fresh = reviews.filter(({ id }) => !known.has(id))
  if (fresh.length > 0) {
    const bound = new Map<number, string>()
    const page = memoizeOnce(() => resolveGitHubApprovalCoverage(options))
    for (const review of fresh) bound.set(review.id, await resolveApprovalCoverageId(review, page, options))
    known = await memory.firstSeenApprovals(repository, pull, bound)
  }
  const ids = new Map(reviews.flatMap(({ id }) => [[id, known.get(id) ?? ''] as const]))
  const stored = await memory.readChanges(repository, pull, [...new Set(ids.values())])
  return new Map(
    [...ids].flatMap(([review, id]) => {
      const covers = stored.get(id)
      return covers ? [[review, covers] as const] : []
    }),
  )
}

/** Prefers the id in our own comment over what GitHub showed. */
async function resolveApprovalCoverageId(
  review: PullReview,
  page: () => Promise<ApprovalCoverage | undefined>,
  options: ApprovalCoverageOptions,
): Promise<string> {
  const { snapshot, epoch, now, shown, memory } = options
  const { repository, pull, head } = snapshot
  // GitHub's times have whole seconds, so something shown in the same second may be newer than the review.
  const last = shown
    .filter(({ at }) => at < review.submittedAt)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .at(-1)
  if (last?.change !== undefined && last.head === head && last.epoch === epoch) return last.change
  const files = await page()
  const saw =
    files !== undefined && hasSameFiles(now.covers, files) ? now : toDescribedChange(files ?? new Map())
  await memory.recordChange?.(repository, pull, saw)
  return saw.id
}

/**
 * The files that GitHub's page of a pull request shows; undefined where that is unknown. GitHub compares the head with
 * its merge base at the time of the push
 * (https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/proposing-changes-to-your-work-with-pull-requests/about-comparing-branches-in-pull-requests).
 * Only a single merge base, unchanged since then, proves what every reviewer saw.
 */
async function resolveGitHubApprovalCoverage({
  snapshot,
  repository,
}: ApprovalCoverageOptions): Promise<ApprovalCoverage | undefined> {
  const { base, head, shownBase } = snapshot
  if (shownBase === undefined) return undefined
  const [mergeBase, ...others] = await repository.mergeBases(base, head)
  if (mergeBase === undefined || others.length > 0 || !(await repository.wasTip(base, mergeBase)))
    return undefined
  const before = await findEarlierMergeBases(repository, shownBase, head)
  if (before.length !== 1 || before[0] !== mergeBase) return undefined
  const [old, now] = await Promise.all([repository.treeOf(mergeBase), repository.treeOf(head)])
  const files: readonly PathChange[] = await repository.diff(old, now)
  return computeFileCoverage(files)
}

/** A rewritten base branch may no longer have the commit. */
async function findEarlierMergeBases(
  repository: ApprovalCoverageOptions['repository'],
  shownBase: CommitSha,
  head: CommitSha,
): Promise<readonly CommitSha[]> {
  try {
    return await repository.mergeBases(shownBase, head)
  } catch (error) {
    if (isGitError(error)) return []
    throw error
  }
}
