// Finds pull requests that a person removed from the merge queue. Reads the timeline, because a webhook can be lost. A
// removal blocks that head until an authorized person requests the merge again.
import { z } from 'zod'
import type { PullComment } from '../pull-request/snapshot.ts'
import type { CommandRecord } from '../policy/command-records.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import { isQueueRemovalByPerson, type QueueRemoval } from '../policy/merge-strategy.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import type { MergeApi } from '../ports/merge-api.ts'

const queueRemovalSchema = z.object({ id: z.string(), head: z.string(), at: z.string(), by: z.string() })
/** Keyed by pull request. src/adapters/store/prune.ts removes the records of merged pull requests. */
const queueRemovalStateNamespace = defineStateNamespace<z.infer<typeof queueRemovalSchema>>(
  'merge queue removal',
  {
    version: 1,
    read: (stored) => queueRemovalSchema.safeParse(stored).data,
  },
)

type PullHead = Pick<ValidatedMerge, 'repository' | 'pull' | 'head'>

/** Records and returns a person's new removal of this head. */
export async function recordQueueRemoval(
  { repository, pull, head }: PullHead,
  { merging, store }: { readonly merging: Pick<MergeApi, 'readQueueRemoval'>; readonly store: StateStore },
): Promise<{ readonly removal: QueueRemoval | undefined; readonly isNew: boolean }> {
  const removal = await merging.readQueueRemoval(pull)
  if (removal === undefined || !isQueueRemovalByPerson(removal)) return { removal, isNew: false }
  const { id, at, by } = removal
  const isNew = (await store.readState(queueRemovalStateNamespace, repository, String(pull)))?.id !== id
  if (isNew)
    await store.writeState(
      queueRemovalStateNamespace,
      repository,
      new Map([[String(pull), { id, head, at, by }]]),
    )
  return { removal, isNew }
}

/** Who removed this head from the queue, unless a later /merge requests it again. */
export async function readMergeQueueRemovalUser(
  { repository, pull, head, comments }: PullHead & { readonly comments: readonly PullComment[] },
  commands: readonly CommandRecord[],
  store: Pick<StateStore, 'readState'>,
): Promise<string | undefined> {
  const removal = await store.readState(queueRemovalStateNamespace, repository, String(pull))
  if (removal === undefined || removal.head !== head) return undefined
  // GitHub's times are in seconds, so the order within one second is unknown.
  const later = new Set(comments.filter(({ createdAt }) => createdAt > removal.at).map(({ id }) => id))
  const isRequestedAgain = commands.some(
    ({ command, outcome, comment, head: of }) =>
      command === 'merge' && outcome === 'done' && of === head && later.has(comment),
  )
  return isRequestedAgain ? undefined : removal.by
}
