// The mutations that catalog-bot uses: check runs, minimized comments, and the merge queue.
import { requirePermissions } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { enqueuePull } from '../branch-rules/enqueue-pull.ts'
import {
  advanceMergeQueues,
  removeMergeQueueEntry,
  findMergeQueueEntry,
} from '../branch-rules/merge-queue.ts'
import { GitHubApiError, getActingAccount } from '../http/route.ts'
import { parseNodeId } from '../views/account-view.ts'
import { iterateAllPulls } from '../github-data.ts'
import type { AppPermissions, MockGitHubData, MockPull, MockRepository } from '../github-data.ts'
import type { GraphqlFieldValues } from './execute-query.ts'
import { createCheckRun } from './check-fields.ts'
import { toMergeQueueEntryFields } from './repository-fields.ts'

const contentsWritePermission: AppPermissions = { contents: 'write' }

export function createMutationFields(state: MockGitHubData, by: ApiCaller): GraphqlFieldValues {
  const requireAll = (repo: MockRepository, ...needs: AppPermissions[]): void => {
    for (const need of needs) requirePermissions(by, repo, need)
  }
  const requirePullByNodeId = (node: unknown): MockPull => {
    const id = parseNodeId('PullRequest', node)
    const pull = [...iterateAllPulls(state)].find((it) => String(it.id) === id)
    if (pull === undefined)
      throw new GitHubApiError(404, `Could not resolve to a node with the global id of '${String(node)}'`)
    return pull
  }
  const mutation =
    (run: (input: GraphqlFieldValues) => Promise<GraphqlFieldValues>) =>
    async ({ input }: GraphqlFieldValues): Promise<GraphqlFieldValues> => ({
      clientMutationId: (input as GraphqlFieldValues)['clientMutationId'] ?? null,
      ...(await run(input as GraphqlFieldValues)),
    })
  return {
    createCheckRun: mutation((input) => createCheckRun(state, by, input)),
    minimizeComment: mutation(async ({ subjectId }) => {
      const id = parseNodeId('PullRequestReviewComment', subjectId)
      for (const pull of iterateAllPulls(state)) {
        const comment = pull.reviewComments.find((it) => String(it.id) === id)
        if (comment === undefined) continue
        requireAll(pull.repo, { pull_requests: 'write' })
        comment.isMinimized = true
        return {}
      }
      throw new GitHubApiError(
        404,
        `Could not resolve to a node with the global id of '${String(subjectId)}'`,
      )
    }),
    enqueuePullRequest: mutation(async ({ pullRequestId, expectedHeadOid, jump }) => {
      const pull = requirePullByNodeId(pullRequestId)
      requireAll(pull.repo, { pull_requests: 'write' }, contentsWritePermission)
      const request = { expectedHeadOid: expectedHeadOid as string, jump: jump === true }
      return { mergeQueueEntry: toMergeQueueEntryFields(await enqueuePull(pull, by, request)) }
    }),
    dequeuePullRequest: mutation(async ({ id }) => {
      const pull = requirePullByNodeId(id)
      requireAll(pull.repo, { pull_requests: 'write' }, contentsWritePermission)
      return await state.runSerialized(pull.repo, async () => {
        const entry = findMergeQueueEntry(pull)
        if (entry === undefined) throw new GitHubApiError(422, 'Pull request is not in the queue')
        const mergeQueueEntry = toMergeQueueEntryFields(entry)
        await removeMergeQueueEntry(entry, 'MANUAL', getActingAccount(by))
        await advanceMergeQueues(pull.repo)
        return { mergeQueueEntry }
      })
    }),
  }
}
