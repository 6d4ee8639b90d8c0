// Others' commit statuses and conversations, for which GitHub may wait.
import { z } from 'zod'
import type { CommitSha, PullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'

const statusSchema = z.object({ id: z.number(), context: z.string(), state: z.string() })
const combinedStatusSchema = z.object({ statuses: z.array(statusSchema) })

/** The newest status of each context, at most a thousand. Rejects with Octokit's errors. */
export async function readStatuses(
  octokit: Octokit,
  target: {
    readonly owner: string
    readonly repo: string
    readonly ref: CommitSha
    readonly per_page: number
  },
): Promise<readonly string[]> {
  const states: string[] = []
  try {
    for (let page = 1; page <= 10; page++) {
      const answer = await octokit.rest.repos.getCombinedStatusForRef({ ...target, page })
      const { statuses } = combinedStatusSchema.parse(answer.data)
      states.push(...statuses.map(({ id, context, state }) => `status ${id} ${context} ${state}`))
      if (statuses.length < target.per_page) break
    }
  } catch (error) {
    // The installation hasn't accepted the permission yet. The timed retry remains.
    if (toForgeError(error, 'read commit statuses').code !== 'forbidden') throw error
  }
  return states
}

const threadsSchema = z.object({ nodes: z.array(z.object({ id: z.string(), isResolved: z.boolean() })) })
const openThreadsSchema = z.object({
  repository: z.object({ pullRequest: z.object({ first: threadsSchema, last: threadsSchema }) }),
})
const openThreadsQuery = `query OpenThreads($owner: String!, $name: String!, $pull: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $pull) {
    first: reviewThreads(first: 100) { nodes { id isResolved } }
    last: reviewThreads(last: 100) { nodes { id isResolved } }
  } }
}`

/** See Forge.countOpenThreads. Rejects when GitHub's limit is reached. */
export async function countOpenThreads(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  pull: PullNumber,
): Promise<number | undefined> {
  const answer = await octokit
    .graphql<unknown>(openThreadsQuery, { owner, name, pull })
    .catch((error: unknown) => {
      const failure = toForgeError(error, 'read review conversations')
      if (failure.code === 'rate-limited') throw failure
    })
  const { first, last } = openThreadsSchema.safeParse(answer).data?.repository.pullRequest ?? {}
  if (first === undefined || last === undefined) return undefined
  return new Set([...first.nodes, ...last.nodes].flatMap(({ id, isResolved }) => (isResolved ? [] : [id])))
    .size
}
