// The mutations that land something: into the queue and out of it, a merge, refs by compare-and-swap, a commit of files.
import { demand } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { enableAutoMerge } from '../branch-rules/auto-merge.ts'
import { enqueuePull } from '../branch-rules/enqueue-pull.ts'
import { judgeUpdate } from '../branch-rules/judge-update.ts'
import { mergePull } from '../branch-rules/merge-pull.ts'
import { advanceQueues, dequeue, entryOf } from '../branch-rules/merge-queue.ts'
import { enforce } from '../branch-rules/verdict-texts.ts'
import { commitFiles, deleteRef, isAncestor, resolveCommit, setRef } from '../git/git-store.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { endAutoMerge, followRefs } from '../git/pushes.ts'
import { Refusal } from '../http/route.ts'
import { authorOf, signCommit } from '../signing.ts'
import { idOfNode } from '../views/account-view.ts'
import { allPulls, repoByName } from '../world.ts'
import type { MergeMethod, Permissions, Pull, Repo } from '../world.ts'
import type { Fields } from './answer-query.ts'
import { createCheckRun } from './check-fields.ts'
import { commitFields, entryFields, pullFields, refFields } from './repository-fields.ts'

const writesContents: Permissions = { contents: 'write' }

export function mutationFields(state: GitHubState, by: Caller): Fields {
  const { world } = state
  const allow = (repo: Repo, ...needs: Permissions[]): void => {
    for (const need of needs) demand(world, by, repo, need)
  }
  const pullAt = (node: unknown): Pull => {
    const id = idOfNode('PullRequest', node)
    const pull = [...allPulls(world)].find((it) => String(it.id) === id)
    if (pull === undefined)
      throw new Refusal(404, `Could not resolve to a node with the global id of '${String(node)}'`)
    return pull
  }
  const mutation =
    (run: (input: Fields) => Promise<Fields>) =>
    async ({ input }: Fields): Promise<Fields> => ({
      clientMutationId: (input as Fields)['clientMutationId'] ?? null,
      ...(await run(input as Fields)),
    })
  return {
    createCheckRun: mutation((input) => createCheckRun(state, by, input)),
    minimizeComment: mutation(async ({ subjectId }) => {
      const id = idOfNode('PullRequestReviewComment', subjectId)
      for (const pull of allPulls(world)) {
        const comment = pull.reviewComments.find((it) => String(it.id) === id)
        if (comment === undefined) continue
        allow(pull.repo, { pull_requests: 'write' })
        comment.isMinimized = true
        return {}
      }
      throw new Refusal(404, `Could not resolve to a node with the global id of '${String(subjectId)}'`)
    }),
    enqueuePullRequest: mutation(async ({ pullRequestId, expectedHeadOid, jump }) => {
      const pull = pullAt(pullRequestId)
      allow(pull.repo, { pull_requests: 'write' }, writesContents)
      const request = { expectedHeadOid: expectedHeadOid as string, jump: jump === true }
      return { mergeQueueEntry: entryFields(state, await enqueuePull(state, pull, by, request)) }
    }),
    dequeuePullRequest: mutation(async ({ id }) => {
      const pull = pullAt(id)
      allow(pull.repo, { pull_requests: 'write' }, writesContents)
      return await state.inLine(pull.repo, async () => {
        const entry = entryOf(pull)
        if (entry === undefined) throw new Refusal(422, 'Pull request is not in the queue')
        const mergeQueueEntry = entryFields(state, entry)
        await dequeue(state, entry, 'MANUAL', actorOf(by))
        await advanceQueues(state, pull.repo)
        return { mergeQueueEntry }
      })
    }),
    mergePullRequest: mutation(async (input) => {
      const pull = pullAt(input['pullRequestId'])
      allow(pull.repo, writesContents)
      const method = typeof input['mergeMethod'] === 'string' ? input['mergeMethod'] : 'MERGE'
      const text = (value: unknown, field: string): Record<string, string> =>
        typeof value === 'string' ? { [field]: value } : {}
      await mergePull(state, pull, by, {
        ...text(input['expectedHeadOid'], 'sha'),
        ...text(input['commitHeadline'], 'commit_title'),
        ...text(input['commitBody'], 'commit_message'),
        merge_method: method.toLowerCase() as MergeMethod,
      })
      return { pullRequest: pullFields(state, pull) }
    }),
    enablePullRequestAutoMerge: mutation(async ({ pullRequestId, mergeMethod }) => {
      const pull = pullAt(pullRequestId)
      allow(pull.repo, { pull_requests: 'write' }, writesContents)
      const method = (typeof mergeMethod === 'string' ? mergeMethod : 'MERGE').toLowerCase() as MergeMethod
      await enableAutoMerge(state, pull, actorOf(by), method)
      return { pullRequest: pullFields(state, pull) }
    }),
    disablePullRequestAutoMerge: mutation(async ({ pullRequestId }) => {
      const pull = pullAt(pullRequestId)
      allow(pull.repo, { pull_requests: 'write' }, writesContents)
      await endAutoMerge(state, pull, actorOf(by), 'auto-merge was disabled')
      return { pullRequest: pullFields(state, pull) }
    }),
    updateRefs: mutation(async ({ repositoryId, refUpdates }) => {
      const id = idOfNode('Repository', repositoryId)
      const repo = [...world.repos].find((it) => String(it.id) === id && !it.deleted)
      if (repo === undefined) throw new Refusal(404, 'Could not resolve to a Repository')
      allow(repo, writesContents)
      await updateRefs(state, repo, by, refUpdates as readonly WantedRef[])
      return {}
    }),
    createCommitOnBranch: mutation(async (input) => {
      const wanted = input as unknown as WantedCommit
      const [owner = '', name = ''] = (wanted.branch.repositoryNameWithOwner ?? '').split('/')
      const repo = repoByName(world, owner, name)
      if (repo === undefined) throw new Refusal(404, 'Could not resolve to a Repository')
      allow(repo, writesContents)
      const branch = (wanted.branch.branchName ?? '').replace(/^refs\/heads\//, '')
      const sha = await commitOnBranch(state, repo, by, branch, wanted)
      return { commit: commitFields(sha), ref: refFields(by, state, repo, branch) }
    }),
  }
}

interface WantedRef {
  readonly name: string
  readonly afterOid: string
  readonly beforeOid?: string | null
  readonly force?: boolean
}

const absent = '0'.repeat(40)

/** All of them or none: each is judged before the first is moved. */
async function updateRefs(
  state: GitHubState,
  repo: Repo,
  by: Caller,
  wanted: readonly WantedRef[],
): Promise<void> {
  const { world } = state
  const { path } = repo
  await state.inLine(repo, async () => {
    const moves = wanted.map(({ name: ref, afterOid, beforeOid, force }) => {
      const old = repo.known.get(ref)
      if (beforeOid && beforeOid !== (old ?? absent))
        throw new Refusal(
          422,
          `Reference was updated: ${ref} is at ${old ?? absent} but expected ${beforeOid}`,
        )
      return { ref, old, now: afterOid === absent ? undefined : afterOid, force: force === true }
    })
    for (const { ref, old, now, force } of moves) {
      if (now !== undefined && (await resolveCommit(path, now)) === undefined)
        throw new Refusal(422, 'Object does not exist')
      if (!force && old !== undefined && now !== undefined && !(await isAncestor(path, old, now)))
        throw new Refusal(422, 'Update is not a fast forward')
      enforce(await judgeUpdate({ world, repo, path, ref, old, now, by }), 422)
    }
    for (const { ref, old, now } of moves)
      if (now === undefined) await deleteRef(path, ref)
      else await setRef(path, ref, now, old ?? '')
    await followRefs(state, repo, actorOf(by))
  })
}

interface WantedCommit {
  readonly branch: { readonly repositoryNameWithOwner?: string; readonly branchName?: string }
  readonly expectedHeadOid: string
  readonly message: { readonly headline: string; readonly body?: string }
  readonly fileChanges?: {
    readonly additions?: readonly { readonly path: string; readonly contents: string }[]
    readonly deletions?: readonly { readonly path: string }[]
  }
}

/** One signed commit with one parent. */
async function commitOnBranch(
  state: GitHubState,
  repo: Repo,
  by: Caller,
  branch: string,
  { expectedHeadOid, message, fileChanges = {} }: WantedCommit,
): Promise<string> {
  const { world } = state
  const { path } = repo
  const ref = `refs/heads/${branch}`
  return await state.inLine(repo, async () => {
    const old = repo.known.get(ref)
    if (old !== expectedHeadOid)
      throw new Refusal(
        422,
        `Expected branch to point to "${String(old)}" but it did not. Pull and try again.`,
      )
    const { additions = [], deletions = [] } = fileChanges
    const files = Object.fromEntries([
      ...additions.map((it) => [it.path, Buffer.from(it.contents, 'base64')] as const),
      ...deletions.map((it) => [it.path, null] as const),
    ])
    const text = [message.headline, message.body ?? ''].filter((it) => it !== '').join('\n\n')
    const made = await commitFiles(path, old, files, text, authorOf(world, actorOf(by)))
    const now = await signCommit(world, path, made)
    enforce(await judgeUpdate({ world, repo, path, ref, old, now, by }), 422)
    await setRef(path, ref, now, old)
    await followRefs(state, repo, actorOf(by))
    return now
  })
}
