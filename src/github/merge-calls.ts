// The calls to GitHub that merge a pull request, or lead there. No other file has one (scripts/floors.ts), each that can
// move a base branch takes a permit, and no GitHub client repeats any of them (github-app.ts).
import { z } from 'zod'
import { commitSha, pullNumber, type PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { isMergePermit, type Landing, type MergePermit } from '../gate/merge-permit.ts'
import { temporaryBranch } from '../gate/temporary-branch.ts'
import type { Answer, Merging, QueuedPull, RefusalWords } from '../ports/merging.ts'
import { toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'

/** GitHub's words for a race that it lost itself: the same call may succeed once everything was read anew. */
const race = /^(?:head|base) branch was modified\b/i
const isQueued = /^Pull request is already (?:queued|in (?:the|a) (?:merge )?queue)\b/i

export function openMerging(octokit: Octokit, repository: RepositoryName): Merging {
  const target = { owner: repository.owner, repo: repository.name }
  const named = `${repository.owner}/${repository.name}`

  /** The landing of a permit for this repository. Throws a TypeError for everything else. */
  function landingOf(permit: MergePermit): Landing {
    if (!isMergePermit(permit)) throw new TypeError('merging needs a merge permit')
    const { owner, name } = permit.landing.repository
    if (owner !== repository.owner || name !== repository.name)
      throw new TypeError('the permit is for another repository')
    return permit.landing
  }

  async function asking<T>(doing: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw toForgeError(error, `${doing} of ${named}`)
    }
  }

  const pullNode = (pull: PullNumber) =>
    asking(`read pull request ${pull}`, async () => {
      const answer = queueStanding.parse(await octokit.graphql(standingQuery, { ...target, pull }))
      return answer.repository.pullRequest
    })

  return {
    merge: async (permit, method, { title, body }) => {
      const { pull, head } = landingOf(permit)
      const text = method === 'rebase' ? {} : { commit_title: title, commit_message: body }
      return once(`merge pull request ${pull} of ${named}`, async () => {
        await octokit.rest.pulls.merge({
          ...target,
          pull_number: pull,
          sha: head,
          merge_method: method,
          ...text,
        })
      })
    },
    enqueue: async (permit) => {
      const { pull, head } = landingOf(permit)
      const node = await pullNode(pull)
      if (node === null) return { kind: 'race', why: 'the pull request does not exist' }
      const answer = await once(`put pull request ${pull} of ${named} into the merge queue`, async () => {
        await octokit.graphql(enqueueMutation, { id: node.id, head })
      })
      const isThere =
        answer.kind === 'refused' && sentencesOf(answer.words).every((sentence) => isQueued.test(sentence))
      return isThere ? { kind: 'done' } : answer
    },
    dequeue: async (pull) => {
      const node = await pullNode(pull)
      if (node === null || node.mergeQueueEntry === null) return
      await asking(`take pull request ${pull} out of the merge queue`, () =>
        octokit.graphql(dequeueMutation, { id: node.id }),
      )
    },
    sign: async (permit, message) => {
      const { base, head, tree } = landingOf(permit)
      return asking('make a signed commit', async () => {
        // Neither author nor committer: GitHub signs only what an App leaves to it.
        const { data } = await octokit.rest.git.createCommit({
          ...target,
          message,
          tree,
          parents: [base, head],
        })
        const { verified, reason } = data.verification
        return { commit: commitSha(data.sha), ...(verified !== true && { unverified: reason }) }
      })
    },
    moveStaged: async (permit, commit) => {
      const ref = `heads/${temporaryBranch(landingOf(permit))}`
      await asking('move a temporary branch', () =>
        octokit.rest.git.updateRef({ ...target, ref, sha: commit, force: true }),
      )
    },
    branchesBelow: (prefix) =>
      asking('list branches', async () => {
        // It has no pages: all of them come at once.
        const { data } = await octokit.rest.git.listMatchingRefs({ ...target, ref: `heads/${prefix}` })
        return data.map(({ ref, object }) => ({
          name: ref.slice('refs/heads/'.length),
          tip: commitSha(object.sha),
        }))
      }),
    outcomeOf: async (pull) => {
      try {
        const { data } = await octokit.rest.pulls.get({ ...target, pull_number: pull })
        return {
          head: commitSha(data.head.sha),
          isOpen: data.state === 'open',
          ...(data.merged && data.merge_commit_sha !== null && { merged: commitSha(data.merge_commit_sha) }),
          ...(data.merged_by && { mergedBy: data.merged_by.login }),
          ...(data.auto_merge && { autoMergeBy: data.auto_merge.enabled_by.login }),
        }
      } catch (error) {
        if (statusOf(error) === 404) return undefined
        throw toForgeError(error, `read pull request ${pull} of ${named}`)
      }
    },
    queueRemoval: (pull) =>
      asking(`read how pull request ${pull} left the merge queue`, async () => {
        const answer = removal.parse(await octokit.graphql(removalQuery, { ...target, pull }))
        const [event] = answer.repository.pullRequest?.timelineItems.nodes ?? []
        if (event === undefined) return undefined
        const { id, createdAt: at, actor } = event
        const reason = event.reason ?? ''
        // An account that is gone was a person's; Apps and GitHub itself are bots.
        const by = actor === null ? (/^manual$/i.test(reason) ? 'ghost' : undefined) : actor.login
        return { id, at, reason, ...(by !== undefined && actor?.__typename !== 'Bot' && { by }) }
      }),
    queueOf: (branch) =>
      asking('read the merge queue', async () => {
        const all: QueuedPull[] = []
        for (let after: string | null = null; ;) {
          const asked: unknown = await octokit.graphql(queueQuery, { ...target, branch, after })
          const { mergeQueue } = queue.parse(asked).repository
          if (mergeQueue === null) return []
          for (const { pullRequest, headCommit, baseCommit } of mergeQueue.entries.nodes)
            all.push({
              pull: pullNumber(pullRequest.number),
              head: commitSha(pullRequest.headRefOid),
              ...(headCommit !== null &&
                baseCommit !== null && {
                  group: { head: commitSha(headCommit.oid), base: commitSha(baseCommit.oid) },
                }),
            })
          if (!mergeQueue.entries.pageInfo.hasNextPage) return all
          after = mergeQueue.entries.pageInfo.endCursor
        }
      }),
  }
}

/**
 * Does something once. Rejects with a ForgeError when nobody knows whether it was done, and when GitHub was too busy or
 * did not know us; what it answers with a client error to is refused, in its words.
 */
async function once(doing: string, act: () => Promise<void>): Promise<Answer> {
  try {
    await act()
    return { kind: 'done' }
  } catch (error) {
    const words = wordsOf(error)
    if (words === undefined) throw toForgeError(error, doing)
    const isRace = sentencesOf(words).every((sentence) => race.test(sentence))
    if (isRace || (words.by === 'rest' && words.status === 409))
      return { kind: 'race', why: sentencesOf(words).join(' ') }
    return { kind: 'refused', words }
  }
}

function sentencesOf(words: RefusalWords): readonly string[] {
  return words.by === 'rest' ? [words.message] : words.errors.map(({ message }) => message)
}

function statusOf(error: unknown): number | undefined {
  const { status } = error as { status?: unknown }
  return typeof status === 'number' ? status : undefined
}

/** What GitHub said where it clearly refused: a client error of REST, or errors of GraphQL that each name a kind of fault. */
function wordsOf(error: unknown): RefusalWords | undefined {
  const { response, errors } = error as {
    readonly response?: { readonly data?: unknown }
    readonly errors?: unknown
  }
  const graphql = graphqlErrors.safeParse(errors).data
  if (graphql !== undefined) return { by: 'graphql', errors: graphql }
  const status = statusOf(error)
  const message = restError.safeParse(response?.data).data?.message
  const isClear = ['forbidden', 'not-found', 'rejected'].includes(toForgeError(error, '').code)
  return isClear && status !== undefined && message !== undefined
    ? { by: 'rest', status, message }
    : undefined
}

const restError = z.object({ message: z.string().min(1) })
// A rate limit is an error of its own type, and an error without a type may come from anywhere: neither is a refusal.
const graphqlErrors = z
  .array(z.object({ message: z.string(), type: z.string() }))
  .min(1)
  .refine((errors) => errors.every(({ type }) => !['RATE_LIMITED', 'INTERNAL'].includes(type)))

const oid = z.object({ oid: z.string() })

const standingQuery = `query QueueStanding($owner: String!, $repo: String!, $pull: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $pull) { id mergeQueueEntry { id } } }
}`
const queueStanding = z.object({
  repository: z.object({
    pullRequest: z
      .object({ id: z.string(), mergeQueueEntry: z.object({ id: z.string() }).nullable() })
      .nullable(),
  }),
})

const enqueueMutation = `mutation Enqueue($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) { mergeQueueEntry { id } }
}`
const dequeueMutation = `mutation Dequeue($id: ID!) {
  dequeuePullRequest(input: { id: $id }) { mergeQueueEntry { id } }
}`

const queueQuery = `query MergeQueue($owner: String!, $repo: String!, $branch: String!, $after: String) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) {
      entries(first: 100, after: $after) {
        nodes { headCommit { oid } baseCommit { oid } pullRequest { number headRefOid } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`
const queue = z.object({
  repository: z.object({
    mergeQueue: z
      .object({
        entries: z.object({
          nodes: z.array(
            z.object({
              headCommit: oid.nullable(),
              baseCommit: oid.nullable(),
              pullRequest: z.object({ number: z.number(), headRefOid: z.string() }),
            }),
          ),
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        }),
      })
      .nullable(),
  }),
})

const removalQuery = `query QueueRemoval($owner: String!, $repo: String!, $pull: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $pull) {
    timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) {
      nodes { ... on RemovedFromMergeQueueEvent { id createdAt reason actor { __typename login } } }
    }
  } }
}`
const removed = z.object({
  id: z.string(),
  createdAt: z.string(),
  reason: z.string().nullable(),
  actor: z.object({ __typename: z.string(), login: z.string() }).nullable(),
})
const removal = z.object({
  repository: z.object({
    pullRequest: z.object({ timelineItems: z.object({ nodes: z.array(removed) }) }).nullable(),
  }),
})
