// Records the merge queue groups judged good, to check what the queue lands.
import type { CommitSha, TreeSha } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { defineState } from '../ports/state.ts'
import type { SettleOptions } from './landing-options.ts'

/** A good group: its commit's tree was validated on this base, with these pull requests' heads. */
export interface JudgedGroup {
  readonly head: CommitSha
  readonly tree: TreeSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly pulls: readonly { readonly pull: number; readonly head: CommitSha }[]
}

const latest = 'latest'
/** The queue builds no more groups on top of one another. */
const mostRemembered = 100

const goodGroups = defineState<readonly JudgedGroup[]>('good group', {
  version: 1,
  read: (stored) => (Array.isArray(stored) ? (stored as readonly JudgedGroup[]) : undefined),
})

type Places = Pick<SettleOptions, 'repository' | 'store'>

/** Call this before GitHub learns that the group is good, so nothing lands without a record. */
export async function recordJudgedGroup(
  name: RepositoryName,
  group: JudgedGroup,
  { store }: Pick<SettleOptions, 'store'>,
): Promise<void> {
  const known = (await readGroups(name, store)).filter(({ head }) => head !== group.head)
  await store.writeState(goodGroups, name, new Map([[latest, [group, ...known].slice(0, mostRemembered)]]))
}

export async function judgedGroup(
  name: RepositoryName,
  head: CommitSha,
  { store }: Pick<SettleOptions, 'store'>,
): Promise<JudgedGroup | undefined> {
  return (await readGroups(name, store)).find((group) => group.head === head)
}

/**
 * The good group that put a commit on its branch: the commit's own, or a landed one above it, whose whole tree was
 * validated.
 */
export async function judgedGroupOf(
  name: RepositoryName,
  commit: CommitSha,
  { repository, store }: Places,
): Promise<JudgedGroup | undefined> {
  for (const group of await readGroups(name, store)) {
    if (group.head === commit) return group
    const tip = await repository.tip(group.baseRef)
    const within = async (outer: CommitSha, inner: CommitSha) =>
      repository.contains(outer, inner).catch(() => false)
    if (
      tip !== undefined &&
      (await within(tip, group.head)) &&
      (await within(group.head, commit)) &&
      !(await within(group.base, commit))
    )
      return group
  }
  return undefined
}

async function readGroups(
  name: RepositoryName,
  store: SettleOptions['store'],
): Promise<readonly JudgedGroup[]> {
  return (await store.readState(goodGroups, name, latest)) ?? []
}
