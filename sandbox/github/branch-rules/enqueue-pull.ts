// Whether a pull request may enter the merge queue: all its branch wants of it, but for what the queue itself sees to.
import type { Caller } from '../http/caller.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal } from '../http/route.ts'
import type { Pull } from '../world.ts'
import { layersOf } from './layers.ts'
import { judgeUpdate } from './judge-update.ts'
import { mergeCommit } from './merge-commits.ts'
import { enqueue, entryOf, methodOfQueue, queueParameters } from './merge-queue.ts'
import type { QueueEntry } from '../world.ts'
import { messageOf } from './verdict-texts.ts'

export interface EnqueueRequest {
  readonly expectedHeadOid?: string | null
  readonly jump?: boolean | null
}

/** Puts a pull request into the queue, or throws what GitHub says instead. */
export async function enqueuePull(
  state: GitHubState,
  pull: Pull,
  by: Caller,
  { expectedHeadOid, jump }: EnqueueRequest,
): Promise<QueueEntry> {
  const { repo, baseRef } = pull
  const { world } = state
  const refuse = (words: string): Refusal => new Refusal(422, words)
  return await state.inLine(repo, async () => {
    const settings = queueParameters(repo, baseRef)
    if (settings === undefined) throw refuse('Pull request The base branch does not require a merge queue')
    if (expectedHeadOid && expectedHeadOid !== pull.headSha)
      throw refuse('Head branch was modified. Review and try the merge again.')
    if (pull.state !== 'open') throw refuse('Pull request is not open')
    if (pull.draft) throw refuse('Pull request is still a draft')
    if (entryOf(pull) !== undefined) throw refuse('Pull request is already in the queue')
    const method = methodOfQueue(settings)
    const old = repo.known.get(`refs/heads/${baseRef}`) ?? pull.baseSha
    const made = await mergeCommit({ world, path: repo.path, by: actorOf(by) }, pull, old, method)
    if (typeof made === 'string') throw refuse('Pull request is not in a mergeable state')
    const merge = { pull, method, queued: true }
    const ref = `refs/heads/${baseRef}`
    const update = { world, repo, path: repo.path, ref, old, now: made.sha, by, merge }
    const verdict = await judgeUpdate(update)
    if (verdict.refused.length > 0) throw refuse(`Pull request ${messageOf(verdict)}`)
    const isBypass = layersOf(update).some(({ bypass }) => bypass !== 'no')
    return await enqueue(state, pull, actorOf(by), { jump: jump === true, isBypass })
  })
}
