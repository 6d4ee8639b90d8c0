// Whether a pull request may enter the merge queue: it must meet all requirements of its branch that the queue itself
// does not ensure.
import type { ApiCaller } from '../http/caller.ts'
import { GitHubApiError, getActingAccount } from '../http/route.ts'
import type { MockPull } from '../github-data.ts'
import { collectBranchRuleLayers } from './rule-layers.ts'
import { evaluateRefUpdate } from './evaluate-ref-update.ts'
import { createMergeCommit } from './merge-commits.ts'
import {
  addMergeQueueEntry,
  findMergeQueueEntry,
  parseQueueMergeMethod,
  findMergeQueueParameters,
} from './merge-queue.ts'
import type { MockMergeQueueEntry } from '../github-data.ts'
import { formatApiRejectionMessage } from './verdict-messages.ts'

export interface EnqueuePullRequestInput {
  readonly expectedHeadOid?: string | null
  readonly jump?: boolean | null
}

/** Adds a pull request to the queue, or throws GitHub's error. */
export async function enqueuePull(
  pull: MockPull,
  by: ApiCaller,
  { expectedHeadOid, jump }: EnqueuePullRequestInput,
): Promise<MockMergeQueueEntry> {
  const { repo, baseRef } = pull
  const { github } = pull.repo
  const reject = (message: string): GitHubApiError => new GitHubApiError(422, message)
  return await github.runSerialized(repo, async () => {
    const settings = findMergeQueueParameters(repo, baseRef)
    if (settings === undefined) throw reject('Pull request The base branch does not require a merge queue')
    if (expectedHeadOid && expectedHeadOid !== pull.headSha)
      throw reject('Head branch was modified. Review and try the merge again.')
    if (pull.state !== 'open') throw reject('Pull request is not open')
    if (pull.draft) throw reject('Pull request is still a draft')
    if (findMergeQueueEntry(pull) !== undefined) throw reject('Pull request is already in the queue')
    const method = parseQueueMergeMethod(settings)
    const old = repo.knownRefs.get(`refs/heads/${baseRef}`) ?? pull.baseSha
    const made = await createMergeCommit(getActingAccount(by), pull, old, method)
    if (typeof made === 'string') throw reject('Pull request is not in a mergeable state')
    const merge = { pull, method, queued: true }
    const ref = `refs/heads/${baseRef}`
    const update = { repo, path: repo.path, ref, old, now: made.sha, by, merge }
    const verdict = await evaluateRefUpdate(update)
    if (verdict.rejected.length > 0) throw reject(`Pull request ${formatApiRejectionMessage(verdict)}`)
    const isBypass = collectBranchRuleLayers(update).some(({ bypass }) => bypass !== 'no')
    return await addMergeQueueEntry(pull, getActingAccount(by), { jump: jump === true, isBypass })
  })
}
