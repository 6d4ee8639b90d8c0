// A landing train: ready pull requests of one branch, each validated on top of the one before it, pushed together. Which order
// they go in, which branch takes them together, and whether permits are such a chain. Pure; what may land at all is
// decide.ts: each of them has its own permit.
import type { PullNumber } from '../change/ids.ts'
import type { BranchRules } from './branch-rules.ts'
import type { LandingPlan } from './landing-method.ts'
import type { MergePermit } from './merge-permit.ts'

/** Whoever was ready first goes first; at the same moment, the lower number. Nobody is passed by those who come later. */
export function orderTrain<Ready extends { readonly pull: PullNumber; readonly readyAt: number }>(
  ready: readonly Ready[],
): readonly Ready[] {
  return ready.toSorted((a, b) => a.readyAt - b.readyAt || a.pull - b.pull)
}

/**
 * Whether a branch takes the merges of several pull requests in one push. "Require a pull request" keeps them apart
 * (rocq-prover/rocq#8183), and so does every rule that nobody knows. Required checks are looked for on what becomes the tip,
 * as bors-ng's batches show, where only the last commit has them. Where that is not so, or a rule could not be read, GitHub
 * refuses the push, which changes nothing, and a shorter train is tried.
 */
export function mayShareAPush(
  { method, needsGitHubsTree }: Pick<LandingPlan, 'method'> & Partial<LandingPlan>,
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

/** Why these permits are no train, in words; undefined: each stands exactly on the one before it. */
export function whyNoTrain(permits: readonly MergePermit[]): string | undefined {
  const landings = permits.map(({ landing }) => landing)
  const [first] = landings
  if (first === undefined) return 'there is no permit'
  if (new Set(landings.map(({ pull }) => pull)).size !== landings.length)
    return 'a pull request is in it twice'
  for (const [index, { repository, baseRef, base }] of landings.entries()) {
    if (repository.owner !== first.repository.owner || repository.name !== first.repository.name)
      return 'the permits are for several repositories'
    if (baseRef !== first.baseRef) return 'the permits are for several branches'
    const before = landings[index - 1]
    if (before !== undefined && base !== before.commit) return 'a permit does not stand on the one before it'
  }
  return undefined
}

/** Most pull requests of one push: what a crash leaves to be read, and what one bad push has to be told apart. */
export const longestTrain = 32

/** How long the next train may be: half of one that was refused as a whole, so that a bad member is found in few pushes; twice one that went well. */
export function nextLength(length: number, end: 'landed' | 'refused'): number {
  return end === 'landed' ? Math.min(longestTrain, length * 2) : Math.max(1, Math.floor(length / 2))
}
