// Records the merge queue groups that passed, to verify what the queue merges.
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import { defineStateNamespace } from '../ports/state.ts'
import type { RecoverOptions } from './merge-options.ts'

/** A group that passed: the tree of its commit was validated on this base, with these heads of pull requests. */
export interface ValidatedQueueGroup {
  readonly head: CommitSha
  readonly tree: TreeSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly pulls: readonly { readonly pull: number; readonly head: CommitSha }[]
}

const latestGroupStateKey = 'latest'
/** The queue does not build more groups on top of one another. */
const maxRecordedQueueGroups = 100

const validatedGroupsStateNamespace = defineStateNamespace<readonly ValidatedQueueGroup[]>('good group', {
  version: 1,
  read: (stored) => (Array.isArray(stored) ? (stored as readonly ValidatedQueueGroup[]) : undefined),
})

type QueueGroupContext = Pick<RecoverOptions, 'repository' | 'store'>

/** Call this before GitHub learns that the group passed, so that nothing is merged without a record. */
export async function recordValidatedGroup(
  name: RepositoryName,
  group: ValidatedQueueGroup,
  { store }: Pick<RecoverOptions, 'store'>,
): Promise<void> {
  const known = (await readValidatedGroups(name, store)).filter(({ head }) => head !== group.head)
  await store.writeState(
    validatedGroupsStateNamespace,
    name,
    new Map([[latestGroupStateKey, [group, ...known].slice(0, maxRecordedQueueGroups)]]),
  )
}

export async function readValidatedGroup(
  name: RepositoryName,
  head: CommitSha,
  { store }: Pick<RecoverOptions, 'store'>,
): Promise<ValidatedQueueGroup | undefined> {
  return (await readValidatedGroups(name, store)).find((group) => group.head === head)
}

/**
 * The validated group that brought a commit to its branch: the commit's group, or a later merged group whose whole tree
 * was validated.
 */
export async function readQueueGroupByMergedCommit(
  name: RepositoryName,
  commit: CommitSha,
  { repository, store }: QueueGroupContext,
): Promise<ValidatedQueueGroup | undefined> {
  for (const group of await readValidatedGroups(name, store)) {
    if (group.head === commit) return group
    const tip = await repository.tip(group.baseRef)
    const isContained = async (outer: CommitSha, inner: CommitSha) =>
      repository.contains(outer, inner).catch(() => false)
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

async function readValidatedGroups(
  name: RepositoryName,
  store: RecoverOptions['store'],
): Promise<readonly ValidatedQueueGroup[]> {
  return (await store.readState(validatedGroupsStateNamespace, name, latestGroupStateKey)) ?? []
}
