// Which pull requests a person removed from the merge queue, read from the timeline in case a webhook is lost. A
// removal blocks that head until an authorized person asks for the merge again.
import { z } from 'zod'
import type { Comment } from '../change/snapshot.ts'
import type { CommandRecord } from '../gate/commands.ts'
import type { Landing } from '../gate/merge-permit.ts'
import { isByPerson, type QueueRemoval } from '../gate/queue-removal.ts'
import { defineState, type State } from '../ports/state.ts'
import type { SettleOptions } from './landing-options.ts'

const held = z.object({ id: z.string(), head: z.string(), at: z.string(), by: z.string() })
/** By pull request. store/prune.ts removes those of merged ones. */
const removals = defineState<z.infer<typeof held>>('merge queue removal', {
  version: 1,
  read: (stored) => held.safeParse(stored).data,
})

type About = Pick<Landing, 'repository' | 'pull' | 'head'>

/** Records a person's new removal for this head and returns it. */
export async function readRemoval(
  { repository, pull, head }: About,
  { merging, store }: Pick<SettleOptions, 'merging' | 'store'>,
): Promise<{ readonly removal: QueueRemoval | undefined; readonly isNew: boolean }> {
  const removal = await merging.queueRemoval(pull)
  if (removal === undefined || !isByPerson(removal)) return { removal, isNew: false }
  const { id, at, by } = removal
  const isNew = (await store.readState(removals, repository, String(pull)))?.id !== id
  if (isNew) await store.writeState(removals, repository, new Map([[String(pull), { id, head, at, by }]]))
  return { removal, isNew }
}

/** Who removed this head from the queue, unless a later /merge asks for it again. */
export async function removedBy(
  { repository, pull, head, comments }: About & { readonly comments: readonly Comment[] },
  commands: readonly CommandRecord[],
  store: Pick<State, 'readState'>,
): Promise<string | undefined> {
  const removal = await store.readState(removals, repository, String(pull))
  if (removal === undefined || removal.head !== head) return undefined
  // GitHub's times are in seconds, so the order within one second is unknown.
  const later = new Set(comments.filter(({ createdAt }) => createdAt > removal.at).map(({ id }) => id))
  const isAsked = commands.some(
    ({ command, outcome, comment, head: of }) =>
      command === 'merge' && outcome === 'done' && of === head && later.has(comment),
  )
  return isAsked ? undefined : removal.by
}
