// The calls to GitHub that merge a pull request, or prepare it. No other file contains such a call (scripts/layers.ts).
// Each call that can move a base branch takes a permit, and no GitHub client repeats any of these calls
// (github-app.ts).
import { z } from 'zod'
import { toCommitSha, toPullNumber, type PullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { isMergePermit, type ValidatedMerge, type MergePermit } from '../../policy/merge-permit.ts'
import { formatTemporaryBranchName } from '../../policy/merge-strategy.ts'
import type {
  MergeApiResponse,
  MergeApi,
  MergeQueueEntry,
  MergeRejectionMessage,
} from '../../ports/merge-api.ts'
import { callGitHub, catchNotFound, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'

/** GitHub's messages for a race that it lost itself: the same call may succeed after everything is read again. */
const baseBranchModifiedErrorPattern = /^(?:head|base) branch was modified\b/i
const alreadyQueuedErrorPattern = /^Pull request is already (?:queued|in (?:the|a) (?:merge )?queue)\b/i

export class GitHubMergeApi implements MergeApi {
  readonly #octokit: Octokit
  readonly #repository: RepositoryName
  readonly #target
  readonly #named

  constructor(octokit: Octokit, repository: RepositoryName) {
    this.#octokit = octokit
    this.#repository = repository
    this.#target = { owner: repository.owner, repo: repository.name }
    this.#named = `${repository.owner}/${repository.name}`
  }

  readonly merge: MergeApi['merge'] = async (permit, method, { title, body }) => {
    const { pull, head } = this.#toPlannedMerge(permit)
    const text = method === 'rebase' ? {} : { commit_title: title, commit_message: body }
    return callMergeApiOnce(`merge pull request ${pull} in ${this.#named}`, async () => {
      const { data } = await this.#octokit.rest.pulls.merge({
        ...this.#target,
        pull_number: pull,
        sha: head,
        merge_method: method,
        ...text,
      })
      confirmedMergeSchema.parse(data)
    })
  }

  readonly enqueue: MergeApi['enqueue'] = async (permit) => {
    const { pull, head } = this.#toPlannedMerge(permit)
    const node = await this.#pullNode(pull)
    if (node === null) return { kind: 'race', why: 'the pull request does not exist' }
    const answer = await callMergeApiOnce(
      `add pull request ${pull} in ${this.#named} to the merge queue`,
      async () => {
        await this.#octokit.graphql(enqueuePullMutation, { id: node.id, head })
      },
    )
    const isThere =
      answer.kind === 'refused' &&
      getMergeRejectionMessages(answer.rejection).every((sentence) =>
        alreadyQueuedErrorPattern.test(sentence),
      )
    return isThere ? { kind: 'done' } : answer
  }

  readonly dequeue: MergeApi['dequeue'] = async (pull) => {
    const node = await this.#pullNode(pull)
    if (node === null || node.mergeQueueEntry === null) return
    await this.#callGitHub(`remove pull request ${pull} from the merge queue`, () =>
      this.#octokit.graphql(dequeuePullMutation, { id: node.id }),
    )
  }

  readonly createSignedCommit: MergeApi['createSignedCommit'] = async (permit, message) => {
    const { base, head, tree } = this.#toPlannedMerge(permit)
    return this.#callGitHub('create a signed commit', async () => {
      // Sets neither author nor committer, because GitHub signs only commits that leave both to GitHub.
      const { data } = await this.#octokit.rest.git.createCommit({
        ...this.#target,
        message,
        tree,
        parents: [base, head],
      })
      const { verified, reason } = data.verification
      return { commit: toCommitSha(data.sha), ...(verified !== true && { unverified: reason }) }
    })
  }

  readonly moveStagingBranch: MergeApi['moveStagingBranch'] = async (permit, commit) => {
    const ref = `heads/${formatTemporaryBranchName(this.#toPlannedMerge(permit))}`
    await this.#callGitHub('move a temporary branch', () =>
      this.#octokit.rest.git.updateRef({ ...this.#target, ref, sha: commit, force: true }),
    )
  }

  readonly listBranchesWithPrefix: MergeApi['listBranchesWithPrefix'] = (prefix) =>
    this.#callGitHub('list branches', async () => {
      // This API has no pagination.
      const { data } = await this.#octokit.rest.git.listMatchingRefs({
        ...this.#target,
        ref: `heads/${prefix}`,
      })
      return data.map(({ ref, object }) => ({
        name: ref.slice('refs/heads/'.length),
        tip: toCommitSha(object.sha),
      }))
    })

  readonly readMergeState: MergeApi['readMergeState'] = async (pull) => {
    const answer = await callGitHub(`read pull request ${pull} in ${this.#named}`, () =>
      catchNotFound(this.#octokit.rest.pulls.get({ ...this.#target, pull_number: pull })),
    )
    if (answer === undefined) return undefined
    const { head, state, merged, merge_commit_sha, merged_by, auto_merge } = answer.data
    return {
      head: toCommitSha(head.sha),
      isOpen: state === 'open',
      ...(merged && merge_commit_sha !== null && { merged: toCommitSha(merge_commit_sha) }),
      ...(merged_by && { mergedBy: merged_by.login }),
      ...(auto_merge && { autoMergeBy: auto_merge.enabled_by.login }),
    }
  }

  readonly readQueueRemoval: MergeApi['readQueueRemoval'] = (pull) =>
    this.#callGitHub(`find out why pull request ${pull} left the merge queue`, async () => {
      const answer = mergeQueueRemovalSchema.parse(
        await this.#octokit.graphql(mergeQueueRemovalQuery, { ...this.#target, pull }),
      )
      const [event] = answer.repository.pullRequest?.timelineItems.nodes ?? []
      if (event === undefined) return undefined
      const { id, createdAt: at, actor } = event
      const reason = event.reason ?? ''
      // A deleted account belonged to a person; Apps and GitHub itself are bots.
      const by = actor === null ? (/^manual$/i.test(reason) ? 'ghost' : undefined) : actor.login
      return { id, at, reason, ...(by !== undefined && actor?.__typename !== 'Bot' && { by }) }
    })

  readonly readMergeQueue: MergeApi['readMergeQueue'] = (branch) =>
    this.#callGitHub('read the merge queue', async () => {
      const all: MergeQueueEntry[] = []
      for (let after: string | null = null; ;) {
        const response: unknown = await this.#octokit.graphql(mergeQueueQuery, {
          ...this.#target,
          branch,
          after,
        })
        const { mergeQueue } = mergeQueueSchema.parse(response).repository
        if (mergeQueue === null) return []
        for (const { pullRequest, headCommit, baseCommit } of mergeQueue.entries.nodes)
          all.push({
            pull: toPullNumber(pullRequest.number),
            head: toCommitSha(pullRequest.headRefOid),
            ...(headCommit !== null &&
              baseCommit !== null && {
                group: { head: toCommitSha(headCommit.oid), base: toCommitSha(baseCommit.oid) },
              }),
          })
        if (!mergeQueue.entries.pageInfo.hasNextPage) return all
        after = mergeQueue.entries.pageInfo.endCursor
      }
    })

  /** The planned merge of a permit for this repository. Throws a TypeError for everything else. */
  #toPlannedMerge(permit: MergePermit): ValidatedMerge {
    if (!isMergePermit(permit)) throw new TypeError('merging requires a merge permit')
    const { owner, name } = permit.merge.repository
    if (owner !== this.#repository.owner || name !== this.#repository.name)
      throw new TypeError('the permit is for another repository')
    return permit.merge
  }

  #callGitHub<T>(doing: string, send: () => Promise<T>): Promise<T> {
    return callGitHub(`${doing} of ${this.#named}`, send)
  }

  #pullNode(pull: PullNumber) {
    return this.#callGitHub(`read pull request ${pull}`, async () => {
      const answer = mergeQueueEntrySchema.parse(
        await this.#octokit.graphql(mergeQueueEntryQuery, { ...this.#target, pull }),
      )
      return answer.repository.pullRequest
    })
  }
}

/**
 * Performs an action once. Rejects with a ForgeError if the outcome is unknown, or if GitHub was too busy or did not
 * authenticate us. A client error is a rejection with GitHub's message.
 */
async function callMergeApiOnce(doing: string, act: () => Promise<void>): Promise<MergeApiResponse> {
  try {
    await act()
    return { kind: 'done' }
  } catch (error) {
    const rejection = parseMergeRejection(error)
    if (rejection === undefined) throw toForgeError(error, doing)
    const isRace = getMergeRejectionMessages(rejection).every((sentence) =>
      baseBranchModifiedErrorPattern.test(sentence),
    )
    if (isRace || (rejection.by === 'rest' && rejection.status === 409))
      return { kind: 'race', why: getMergeRejectionMessages(rejection).join(' ') }
    return { kind: 'refused', rejection }
  }
}

function getMergeRejectionMessages(rejection: MergeRejectionMessage): readonly string[] {
  return rejection.by === 'rest' ? [rejection.message] : rejection.errors.map(({ message }) => message)
}

/** GitHub's message for a clear rejection: a client error of REST, or GraphQL errors that all have a type. */
function parseMergeRejection(error: unknown): MergeRejectionMessage | undefined {
  const { status, response, errors } = error as {
    readonly status?: unknown
    readonly response?: { readonly data?: unknown }
    readonly errors?: unknown
  }
  const graphql = graphqlErrorsSchema.safeParse(errors).data
  if (graphql !== undefined) return { by: 'graphql', errors: graphql }
  const message = restErrorSchema.safeParse(response?.data).data?.message
  const isClear = ['forbidden', 'not-found', 'rejected'].includes(toForgeError(error, '').code)
  return isClear && typeof status === 'number' && message !== undefined
    ? { by: 'rest', status, message }
    : undefined
}

const restErrorSchema = z.object({ message: z.string().min(1) })
// A rate limit is a separate error type, and an error without a type may come from anywhere. Neither is a rejection.
const graphqlErrorsSchema = z
  .array(z.object({ message: z.string(), type: z.string() }))
  .min(1)
  .refine((errors) => errors.every(({ type }) => !['RATE_LIMITED', 'INTERNAL'].includes(type)))

const confirmedMergeSchema = z.object({ merged: z.literal(true) })

const gitObjectOidSchema = z.object({ oid: z.string() })

const mergeQueueEntryQuery = `query QueueStanding($owner: String!, $repo: String!, $pull: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $pull) { id mergeQueueEntry { id } } }
}`
const mergeQueueEntrySchema = z.object({
  repository: z.object({
    pullRequest: z
      .object({ id: z.string(), mergeQueueEntry: z.object({ id: z.string() }).nullable() })
      .nullable(),
  }),
})

const enqueuePullMutation = `mutation Enqueue($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) { mergeQueueEntry { id } }
}`
const dequeuePullMutation = `mutation Dequeue($id: ID!) {
  dequeuePullRequest(input: { id: $id }) { mergeQueueEntry { id } }
}`

const mergeQueueQuery = `query MergeQueue($owner: String!, $repo: String!, $branch: String!, $after: String) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) {
      entries(first: 100, after: $after) {
        nodes { headCommit { oid } baseCommit { oid } pullRequest { number headRefOid } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`
const mergeQueueSchema = z.object({
  repository: z.object({
    mergeQueue: z
      .object({
        entries: z.object({
          nodes: z.array(
            z.object({
              headCommit: gitObjectOidSchema.nullable(),
              baseCommit: gitObjectOidSchema.nullable(),
              pullRequest: z.object({ number: z.number(), headRefOid: z.string() }),
            }),
          ),
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        }),
      })
      .nullable(),
  }),
})

const mergeQueueRemovalQuery = `query MergeQueueRemoval($owner: String!, $repo: String!, $pull: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $pull) {
    timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) {
      nodes { ... on RemovedFromMergeQueueEvent { id createdAt reason actor { __typename login } } }
    }
  } }
}`
const queueRemovalEventSchema = z.object({
  id: z.string(),
  createdAt: z.string(),
  reason: z.string().nullable(),
  actor: z.object({ __typename: z.string(), login: z.string() }).nullable(),
})
const mergeQueueRemovalSchema = z.object({
  repository: z.object({
    pullRequest: z
      .object({ timelineItems: z.object({ nodes: z.array(queueRemovalEventSchema) }) })
      .nullable(),
  }),
})
