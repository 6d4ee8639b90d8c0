// The mutations that merge or push: enqueue and dequeue, merge, ref updates with compare-and-swap, and a commit of
// files.
import { requirePermissions } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { enableAutoMerge } from '../branch-rules/auto-merge.ts'
import { enqueuePull } from '../branch-rules/enqueue-pull.ts'
import { evaluateRefUpdate } from '../branch-rules/evaluate-ref-update.ts'
import { mergePull } from '../branch-rules/merge-pull.ts'
import {
  advanceMergeQueues,
  removeMergeQueueEntry,
  findMergeQueueEntry,
} from '../branch-rules/merge-queue.ts'
import { throwIfRefUpdateRejected } from '../branch-rules/verdict-messages.ts'
import { commitFiles, deleteRef, isAncestor, resolveCommit, setRef } from '../git/git-store.ts'
import { getActingAccount } from '../github-state.ts'
import type { MockGitHubState } from '../github-state.ts'
import { cancelAutoMerge, processRefChanges } from '../git/ref-changes.ts'
import { GitHubApiError } from '../http/route.ts'
import { toCommitAuthorIdentity, signCommit } from '../signing.ts'
import { parseNodeId } from '../views/account-view.ts'
import { iterateAllPulls, findRepositoryByName } from '../github-data.ts'
import type { MergeMethod, AppPermissions, MockPull, MockRepository } from '../github-data.ts'
import type { GraphqlFieldValues } from './execute-query.ts'
import { createCheckRun } from './check-fields.ts'
import {
  toCommitFields,
  toMergeQueueEntryFields,
  toPullRequestFields,
  toRefFields,
} from './repository-fields.ts'

const contentsWritePermission: AppPermissions = { contents: 'write' }

export function createMutationFields(state: MockGitHubState, by: ApiCaller): GraphqlFieldValues {
  const { world } = state
  const requireAll = (repo: MockRepository, ...needs: AppPermissions[]): void => {
    for (const need of needs) requirePermissions(world, by, repo, need)
  }
  const requirePullByNodeId = (node: unknown): MockPull => {
    const id = parseNodeId('PullRequest', node)
    const pull = [...iterateAllPulls(world)].find((it) => String(it.id) === id)
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
      for (const pull of iterateAllPulls(world)) {
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
      return { mergeQueueEntry: toMergeQueueEntryFields(state, await enqueuePull(state, pull, by, request)) }
    }),
    dequeuePullRequest: mutation(async ({ id }) => {
      const pull = requirePullByNodeId(id)
      requireAll(pull.repo, { pull_requests: 'write' }, contentsWritePermission)
      return await state.runSerialized(pull.repo, async () => {
        const entry = findMergeQueueEntry(pull)
        if (entry === undefined) throw new GitHubApiError(422, 'Pull request is not in the queue')
        const mergeQueueEntry = toMergeQueueEntryFields(state, entry)
        await removeMergeQueueEntry(state, entry, 'MANUAL', getActingAccount(by))
        await advanceMergeQueues(state, pull.repo)
        return { mergeQueueEntry }
      })
    }),
    mergePullRequest: mutation(async (input) => {
      const pull = requirePullByNodeId(input['pullRequestId'])
      requireAll(pull.repo, contentsWritePermission)
      const method = typeof input['mergeMethod'] === 'string' ? input['mergeMethod'] : 'MERGE'
      const text = (value: unknown, field: string): Record<string, string> =>
        typeof value === 'string' ? { [field]: value } : {}
      await mergePull(state, pull, by, {
        ...text(input['expectedHeadOid'], 'sha'),
        ...text(input['commitHeadline'], 'commit_title'),
        ...text(input['commitBody'], 'commit_message'),
        merge_method: method.toLowerCase() as MergeMethod,
      })
      return { pullRequest: toPullRequestFields(state, pull) }
    }),
    enablePullRequestAutoMerge: mutation(async ({ pullRequestId, mergeMethod }) => {
      const pull = requirePullByNodeId(pullRequestId)
      requireAll(pull.repo, { pull_requests: 'write' }, contentsWritePermission)
      const method = (typeof mergeMethod === 'string' ? mergeMethod : 'MERGE').toLowerCase() as MergeMethod
      await enableAutoMerge(state, pull, getActingAccount(by), method)
      return { pullRequest: toPullRequestFields(state, pull) }
    }),
    disablePullRequestAutoMerge: mutation(async ({ pullRequestId }) => {
      const pull = requirePullByNodeId(pullRequestId)
      requireAll(pull.repo, { pull_requests: 'write' }, contentsWritePermission)
      await cancelAutoMerge(state, pull, getActingAccount(by), 'auto-merge was disabled')
      return { pullRequest: toPullRequestFields(state, pull) }
    }),
    updateRefs: mutation(async ({ repositoryId, refUpdates }) => {
      const id = parseNodeId('Repository', repositoryId)
      const repo = [...world.repos].find((it) => String(it.id) === id && !it.deleted)
      if (repo === undefined) throw new GitHubApiError(404, 'Could not resolve to a Repository')
      requireAll(repo, contentsWritePermission)
      await updateRefs(state, repo, by, refUpdates as readonly RefUpdateInput[])
      return {}
    }),
    createCommitOnBranch: mutation(async (input) => {
      const wanted = input as unknown as CommitOnBranchInput
      const [owner = '', name = ''] = (wanted.branch.repositoryNameWithOwner ?? '').split('/')
      const repo = findRepositoryByName(world, owner, name)
      if (repo === undefined) throw new GitHubApiError(404, 'Could not resolve to a Repository')
      requireAll(repo, contentsWritePermission)
      const branch = (wanted.branch.branchName ?? '').replace(/^refs\/heads\//, '')
      const sha = await createCommitOnBranch(state, repo, by, branch, wanted)
      return { commit: toCommitFields(sha), ref: toRefFields(by, state, repo, branch) }
    }),
  }
}

interface RefUpdateInput {
  readonly name: string
  readonly afterOid: string
  readonly beforeOid?: string | null
  readonly force?: boolean
}

const zeroSha = '0'.repeat(40)

/** All updates or none: each is evaluated before the first ref moves. */
async function updateRefs(
  state: MockGitHubState,
  repo: MockRepository,
  by: ApiCaller,
  wanted: readonly RefUpdateInput[],
): Promise<void> {
  const { world } = state
  const { path } = repo
  await state.runSerialized(repo, async () => {
    const moves = wanted.map(({ name: ref, afterOid, beforeOid, force }) => {
      const old = repo.knownRefs.get(ref)
      if (beforeOid && beforeOid !== (old ?? zeroSha))
        throw new GitHubApiError(
          422,
          `Reference was updated: ${ref} is at ${old ?? zeroSha} but expected ${beforeOid}`,
        )
      return { ref, old, now: afterOid === zeroSha ? undefined : afterOid, force: force === true }
    })
    for (const { ref, old, now, force } of moves) {
      if (now !== undefined && (await resolveCommit(path, now)) === undefined)
        throw new GitHubApiError(422, 'Object does not exist')
      if (!force && old !== undefined && now !== undefined && !(await isAncestor(path, old, now)))
        throw new GitHubApiError(422, 'Update is not a fast forward')
      throwIfRefUpdateRejected(await evaluateRefUpdate({ world, repo, path, ref, old, now, by }), 422)
    }
    for (const { ref, old, now } of moves)
      if (now === undefined) await deleteRef(path, ref)
      else await setRef(path, ref, now, old ?? '')
    await processRefChanges(state, repo, getActingAccount(by))
  })
}

interface CommitOnBranchInput {
  readonly branch: { readonly repositoryNameWithOwner?: string; readonly branchName?: string }
  readonly expectedHeadOid: string
  readonly message: { readonly headline: string; readonly body?: string }
  readonly fileChanges?: {
    readonly additions?: readonly { readonly path: string; readonly contents: string }[]
    readonly deletions?: readonly { readonly path: string }[]
  }
}

/** One signed commit with one parent. */
async function createCommitOnBranch(
  state: MockGitHubState,
  repo: MockRepository,
  by: ApiCaller,
  branch: string,
  { expectedHeadOid, message, fileChanges = {} }: CommitOnBranchInput,
): Promise<string> {
  const { world } = state
  const { path } = repo
  const ref = `refs/heads/${branch}`
  return await state.runSerialized(repo, async () => {
    const old = repo.knownRefs.get(ref)
    if (old !== expectedHeadOid)
      throw new GitHubApiError(
        422,
        `Expected branch to point to "${String(old)}" but it did not. Pull and try again.`,
      )
    const { additions = [], deletions = [] } = fileChanges
    const files = Object.fromEntries([
      ...additions.map((it) => [it.path, Buffer.from(it.contents, 'base64')] as const),
      ...deletions.map((it) => [it.path, null] as const),
    ])
    const text = [message.headline, message.body ?? ''].filter((it) => it !== '').join('\n\n')
    const made = await commitFiles(
      path,
      old,
      files,
      text,
      toCommitAuthorIdentity(world, getActingAccount(by)),
    )
    const now = await signCommit(world, path, made)
    throwIfRefUpdateRejected(await evaluateRefUpdate({ world, repo, path, ref, old, now, by }), 422)
    await setRef(path, ref, now, old)
    await processRefChanges(state, repo, getActingAccount(by))
    return now
  })
}
