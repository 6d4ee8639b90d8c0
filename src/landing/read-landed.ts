// What became of a landing, by reading alone: whether its pull request is on the branch, as which commit, and whether that
// is what was validated (T38, T39). Never does anything twice; never does anything at all.
import type { CommitSha } from '../change/ids.ts'
import type { MergeMethod } from '../gate/branch-rules.ts'
import type { Repository } from '../ports/repository.ts'
import type { Intent } from '../ports/landings.ts'
import { crashPoint } from './crash-point.ts'
import { judgedGroupOf } from './judged-groups.ts'
import type { SettleOptions } from './landing-options.ts'

export type Landed =
  /** It is on the branch, as it was validated. */
  | { readonly kind: 'landed'; readonly commit: CommitSha }
  /** Something of it is on the branch that was not validated. `onto`: it is the real merge of the validated head onto this commit. */
  | {
      readonly kind: 'mismatch'
      readonly commit: CommitSha
      readonly differs: string
      readonly onto?: CommitSha | undefined
    }
  /** It is not on the branch. `isOpen`: its pull request can still be merged with the head that was validated. */
  | { readonly kind: 'absent'; readonly isOpen: boolean }

/** `isFetched`: the branch is here as it is. */
export async function readLanded(intent: Intent, options: SettleOptions, isFetched = false): Promise<Landed> {
  const { repository } = options
  const method = intent.method ?? { kind: 'push', checksFirst: false, signed: false }
  // What GitHub says of the pull request comes first: what it names is then there to be fetched.
  const outcome = method.kind === 'push' ? undefined : await options.merging.outcomeOf(intent.pull)
  if (!isFetched) await repository.fetch(intent.baseRef)
  crashPoint('fetched-for-audit')
  const tip = await repository.tip(intent.baseRef)
  const commit = method.kind === 'push' ? intent.commit : outcome?.merged
  if (tip === undefined || commit === undefined || !(await isOn(repository, tip, commit)))
    return { kind: 'absent', isOpen: outcome?.isOpen === true && outcome.head === intent.head }
  const differs = await differenceOf(intent, commit, options)
  if (differs === undefined) return { kind: 'landed', commit }
  const onto = method.kind === 'push' ? undefined : await mergedOnto(intent, commit, repository)
  return { kind: 'mismatch', commit, differs, onto }
}

/** A commit that is not here cannot be on a branch that was just fetched. */
async function isOn(repository: Repository, tip: CommitSha, commit: CommitSha): Promise<boolean> {
  return repository.contains(tip, commit).catch(() => false)
}

/** What a landed commit has else than was validated, in words; undefined when it is as it should be. */
async function differenceOf(
  intent: Intent,
  commit: CommitSha,
  options: SettleOptions,
): Promise<string | undefined> {
  const { repository } = options
  const { method } = intent
  if (method?.kind === 'queue') {
    const group = await judgedGroupOf(intent.repository, commit, options)
    return group === undefined ? `no group of the merge queue with ${commit} was validated` : undefined
  }
  const tree = await repository.treeOf(commit)
  if (tree !== intent.tree) return `${commit} has the tree ${tree}, and ${intent.tree} was validated`
  const isExpected = await isOnBase(
    repository,
    intent,
    commit,
    method?.kind === 'github-merge' ? method.method : 'merge',
  )
  return isExpected ? undefined : `${commit} was not made on ${intent.base}, on which it was validated`
}

/** The commit onto which GitHub merged the validated head as it would have been merged here; undefined where it did not. */
export async function mergedOnto(
  intent: Pick<Intent, 'base' | 'head' | 'method'>,
  commit: CommitSha,
  repository: Repository,
): Promise<CommitSha | undefined> {
  const { head, method } = intent
  const [first, second, ...others] = await repository.parentsOf(commit)
  if (first === undefined || others.length > 0 || (second !== undefined && second !== head)) return undefined
  const isOne = second !== undefined || (method?.kind === 'github-merge' && method.method !== 'rebase')
  const onto = isOne ? first : await belowRebased(intent, commit, repository)
  if (onto === undefined || (await repository.contains(onto, head))) return undefined
  const merged = await repository.merge(onto, head, 'Merge\n')
  return merged.kind === 'clean' && merged.tree === (await repository.treeOf(commit)) ? onto : undefined
}

/**
 * What a rebase, or a squash by the queue, was made on. A rebase keeps messages: a parent with one of the head's is part of
 * the rebase, and judging the rest on it would leave out what it changes.
 */
async function belowRebased(
  { base, head, method }: Pick<Intent, 'base' | 'head' | 'method'>,
  commit: CommitSha,
  repository: Repository,
): Promise<CommitSha | undefined> {
  const { isWhole, commits } = await repository.carried(base, head)
  if (!isWhole) return undefined
  const messages: string[] = []
  for (const { id } of commits)
    // GitHub leaves merge commits out.
    if ((await repository.parentsOf(id)).length === 1) messages.push((await repository.messageOf(id)).trim())
  let at = commit
  for (let steps = 1; steps <= messages.length; steps++) {
    const [parent, ...others] = await repository.parentsOf(at)
    if (parent === undefined || others.length > 0) return undefined
    at = parent
    const isBelow = !messages.includes((await repository.messageOf(parent)).trim())
    if (isBelow)
      return steps === messages.length || (steps === 1 && method?.kind === 'queue') ? at : undefined
  }
  return undefined
}

/** GitHub rebases at most this many commits. */
const mostRebased = 100

/** Whether a commit's parents are those that the method gives it on the validated base. */
async function isOnBase(
  repository: Repository,
  { base, head }: Intent,
  commit: CommitSha,
  method: MergeMethod,
): Promise<boolean> {
  const parents = await repository.parentsOf(commit)
  switch (method) {
    case 'merge':
      return parents.length === 2 && parents[0] === base && parents[1] === head
    case 'squash':
      return parents.length === 1 && parents[0] === base
    case 'rebase': {
      let chain = parents
      for (let steps = 0; steps < mostRebased; steps++) {
        const [parent] = chain
        if (parent === undefined || chain.length !== 1) return false
        if (parent === base) return true
        chain = await repository.parentsOf(parent)
      }
      return false
    }
  }
}
