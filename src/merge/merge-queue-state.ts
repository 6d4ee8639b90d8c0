// Records which branches use GitHub's merge queue, and which of its groups passed, to verify what the queue merges.
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'
import { defineStateNamespace } from '../ports/state.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import type { MergeRecoveryOptions } from './merge-types.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import { catchMissing } from '../adapters/git/git-error.ts'

/** An empty queue is ignored after this time, until a webhook or merge mentions it. */
const mergeQueueBranchTtlSeconds = 24 * 3600

const mergeQueueBranchCache = defineCacheNamespace<readonly string[]>('merge queues', 1, (stored) =>
  Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : undefined,
)

/** A group that passed: the tree of its commit was validated on this base, with these heads of pull requests. */
export interface ValidatedMergeGroup {
  readonly head: CommitSha
  readonly tree: TreeSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly pulls: readonly { readonly pull: number; readonly head: CommitSha }[]
}

/** Of all branches, as earlier versions recorded them. */
const sharedMergeGroupStateKey = 'latest'
/** The queue does not build more groups on top of one another. */
const maxRecordedMergeGroups = 100

/** By branch, because the groups of two branches can pass at the same time. */
const validatedMergeGroupsStateNamespace = defineStateNamespace<readonly ValidatedMergeGroup[]>(
  'good group',
  1,
  (stored) => (Array.isArray(stored) ? (stored as readonly ValidatedMergeGroup[]) : undefined),
)

type MergeGroupStoreContext = Pick<MergeRecoveryOptions, 'repository' | 'store'>

/** Call this before GitHub learns that the group passed, so that nothing is merged without a record. */
export async function recordValidatedMergeGroup(
  name: RepositoryName,
  group: ValidatedMergeGroup,
  { store }: Pick<MergeRecoveryOptions, 'store'>,
): Promise<void> {
  const known = await readValidatedMergeGroups(name, group.baseRef, store)
  const groups = [group, ...known.filter(({ head }) => head !== group.head)].slice(0, maxRecordedMergeGroups)
  await store.writeState(validatedMergeGroupsStateNamespace, name, new Map([[group.baseRef, groups]]))
}

export async function readValidatedMergeGroup(
  name: RepositoryName,
  branch: string,
  head: CommitSha,
  { store }: Pick<MergeRecoveryOptions, 'store'>,
): Promise<ValidatedMergeGroup | undefined> {
  return (await readValidatedMergeGroups(name, branch, store)).find((group) => group.head === head)
}

/**
 * The validated group that brought a commit to its branch: the commit's group, or a later merged group, of which
 * the entire tree was validated.
 */
export async function readMergeGroupByMergedCommit(
  { repository: name, baseRef }: Pick<MergeIntent, 'repository' | 'baseRef'>,
  commit: CommitSha,
  { repository, store }: MergeGroupStoreContext,
): Promise<ValidatedMergeGroup | undefined> {
  for (const group of await readValidatedMergeGroups(name, baseRef, store)) {
    if (group.head === commit) return group
    const tip = await repository.tip(group.baseRef)
    const isContained = async (outer: CommitSha, inner: CommitSha) =>
      catchMissing(repository.contains(outer, inner), false)
    if (
      tip !== undefined &&
      (await isContained(tip, group.head)) &&
      (await isContained(group.head, commit)) &&
      !(await isContained(group.base, commit))
    )
      return group
  }
  return undefined
}

async function readValidatedMergeGroups(
  name: RepositoryName,
  branch: string,
  store: MergeRecoveryOptions['store'],
): Promise<readonly ValidatedMergeGroup[]> {
  const read = async (key: string) =>
    (await store.readState(validatedMergeGroupsStateNamespace, name, key)) ?? []
  const groups = [...(await read(branch)), ...(await read(sharedMergeGroupStateKey))]
  return groups.filter(({ baseRef }) => baseRef === branch)
}

/** Branches whose merge queue was used recently; the sweep checks their groups without a webhook. */
export async function recordMergeQueueBranchUse(
  name: RepositoryName,
  branch: string,
  isInUse: boolean,
  store: Cache,
): Promise<void> {
  if (!isInUse) return
  const known = await readMergeQueueBranches(name, store)
  await store.putCached(
    mergeQueueBranchCache,
    new Map([[toRepositoryKey(name), [...new Set([...known, branch])]]]),
    mergeQueueBranchTtlSeconds,
  )
}

export async function readMergeQueueBranches(name: RepositoryName, store: Cache): Promise<readonly string[]> {
  return (
    (await store.getCached(mergeQueueBranchCache, [toRepositoryKey(name)])).get(toRepositoryKey(name)) ?? []
  )
}
