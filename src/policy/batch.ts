// Batches: ready pull requests of one branch, each validated on top of the previous one, and pushed together.
import type { PullNumber } from '../pull-request/ids.ts'
import type { BranchRules } from './branch-rules.ts'
import type { MergePlan } from './merge-strategy.ts'
import type { MergePermit } from './merge-permit.ts'

/** Orders by ready time, then by number. */
export function sortReadyPullsForBatch<Ready extends { readonly pull: PullNumber; readonly readyAt: number }>(
  ready: readonly Ready[],
): readonly Ready[] {
  return ready.toSorted((a, b) => a.readyAt - b.readyAt || a.pull - b.pull)
}

/**
 * Whether a branch accepts the merges of several pull requests in one push. "Require a pull request" prevents it
 * (rocq-prover/rocq#8183), and so does every unknown rule. GitHub requires checks only on the new tip, as bors-ng's
 * batches show. If GitHub rejects the push, nothing changes and a smaller batch is tried.
 */
export function canMergeBatchInOnePush(
  { method, needsGitHubsTree }: Pick<MergePlan, 'method'> & Partial<MergePlan>,
  rules: BranchRules | undefined,
): boolean {
  return (
    method?.kind === 'push' &&
    !method.signed &&
    needsGitHubsTree !== true &&
    rules !== undefined &&
    rules.pullRequest === undefined &&
    rules.others.length === 0
  )
}

/** Why the permits do not form a chain. Undefined if each one builds on the previous one. */
export function findMergePermitChainProblem(permits: readonly MergePermit[]): string | undefined {
  const merges = permits.map(({ merge }) => merge)
  const [first] = merges
  if (first === undefined) return 'there is no permit'
  if (new Set(merges.map(({ pull }) => pull)).size !== merges.length)
    return 'the batch contains the same pull request twice'
  for (const [index, { repository, baseRef, base }] of merges.entries()) {
    if (repository.owner !== first.repository.owner || repository.name !== first.repository.name)
      return 'the pull requests belong to more than one repository'
    if (baseRef !== first.baseRef) return 'the pull requests target more than one branch'
    const before = merges[index - 1]
    if (before !== undefined && base !== before.commit)
      return 'the base of a merge permit is not the commit of the previous merge permit'
  }
  return undefined
}

/** The maximum number of pull requests per push. Limits recovery work after a crash or a bad push. */
export const maxBatchSize = 32

/** The size of the next batch: half after a rejection, to find the bad member in few pushes; double after a success. */
export function computeNextBatchSize(length: number, end: 'landed' | 'refused'): number {
  return end === 'landed' ? Math.min(maxBatchSize, length * 2) : Math.max(1, Math.floor(length / 2))
}
