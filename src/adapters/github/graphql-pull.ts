// A pull request as GraphQL returns it, with one page of its labels, reviews and comments, and conversions between the names
// that REST and GraphQL use. Callers must read lists that are longer than a page, and kinds that the two interfaces show
// differently, through REST.
import { z } from 'zod'
import { toCommitSha, toUserId, type PullNumber } from '../../pull-request/ids.ts'
import type {
  PullComment,
  GitHubAccount,
  PullReview,
  PullSnapshot,
  RepositoryName,
} from '../../pull-request/snapshot.ts'
import { extractLinesSearchedForCommands } from './read-comments.ts'
import type { Octokit } from './github-app.ts'

const maxPullsPerQuery = 20

const pullsResponseSchema = z.object({ repository: z.record(z.string(), z.unknown()) })

const formatGitHubAccountOrNobody = (person: GitHubAccount | null): string =>
  person === null ? 'nobody' : formatGitHubAccount(person)

/** Of labels, reviews and comments each: more are read one by one. Twenty pull requests are within a query's usual cost. */
const graphqlPullPageSize = 30
export const maxNodesPerPullConnection = graphqlPullPageSize

const graphqlAccountSelection = '{ __typename login ... on User { databaseId } ... on Bot { databaseId } }'

/** Append this to a query that uses `...ShownPull`. */
export const graphqlPullFragment = `fragment ShownPull on PullRequest {
  number title state isDraft updatedAt headRefOid baseRefName baseRefOid
  author ${graphqlAccountSelection}
  headRepository { name owner { login } }
  labels(first: ${graphqlPullPageSize}) { totalCount nodes { name } }
  reviews(first: ${graphqlPullPageSize}) { totalCount nodes { fullDatabaseId state submittedAt commit { oid } author ${graphqlAccountSelection} } }
  comments(first: ${graphqlPullPageSize}) { totalCount nodes { id fullDatabaseId createdAt updatedAt body author ${graphqlAccountSelection} } }
}`

const accountSchema = z
  .object({ __typename: z.string(), login: z.string(), databaseId: z.number().nullish() })
  .nullable()
const graphqlIdSchema = z.union([z.string(), z.number()]).transform(String)
const createConnectionSchema = <Node extends z.ZodType>(node: Node) =>
  z.object({ totalCount: z.number(), nodes: z.array(node) })

export const graphqlPullSchema = z.object({
  number: z.number(),
  title: z.string(),
  state: z.string(),
  isDraft: z.boolean(),
  updatedAt: z.string(),
  headRefOid: z.string(),
  baseRefName: z.string(),
  baseRefOid: z.string(),
  author: accountSchema,
  headRepository: z.object({ name: z.string(), owner: z.object({ login: z.string() }) }).nullable(),
  labels: createConnectionSchema(z.object({ name: z.string() })),
  reviews: createConnectionSchema(
    z.object({
      fullDatabaseId: graphqlIdSchema,
      state: z.string(),
      submittedAt: z.string().nullable(),
      commit: z.object({ oid: z.string() }).nullable(),
      author: accountSchema,
    }),
  ),
  comments: createConnectionSchema(
    z.object({
      id: z.string(),
      fullDatabaseId: graphqlIdSchema,
      createdAt: z.string(),
      updatedAt: z.string(),
      body: z.string(),
      author: accountSchema,
    }),
  ),
})
export type GraphqlPull = z.infer<typeof graphqlPullSchema>

/** Whether all of its lists are here. */
const hasCompletePullConnections = ({ labels, reviews, comments }: GraphqlPull): boolean =>
  [labels, reviews, comments].every(({ totalCount, nodes }) => totalCount === nodes.length)

const toPullState = ({ state }: GraphqlPull): 'open' | 'merged' | 'closed' =>
  state === 'OPEN' ? 'open' : state === 'MERGED' ? 'merged' : 'closed'

/** Converts a review's state from REST. */
export const toReviewState = (state: string): PullReview['state'] =>
  reviewStateByGraphqlState[state.toUpperCase()] ?? 'commented'
const reviewStateByGraphqlState: Readonly<Record<string, PullReview['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  DISMISSED: 'dismissed',
}

/** An App's name has brackets behind it in REST and none here. Undefined: GraphQL does not identify the account. */
function toGitHubAccountFromGraphql(one: z.infer<typeof accountSchema>): GitHubAccount | undefined {
  const kind = one?.__typename === 'Bot' ? 'bot' : one?.__typename === 'User' ? 'user' : undefined
  if (one === null || kind === undefined || !Number.isSafeInteger(one.databaseId)) return undefined
  return {
    id: toUserId(Number(one.databaseId)),
    login: kind === 'bot' ? `${one.login}[bot]` : one.login,
    kind,
  }
}

/** The fields of a pull request that REST, GraphQL and a snapshot share. */
export type ComparablePullFields = Pick<
  PullSnapshot,
  | 'pull'
  | 'title'
  | 'state'
  | 'draft'
  | 'head'
  | 'baseRef'
  | 'shownBase'
  | 'author'
  | 'headRepository'
  | 'labels'
>

/** Whether GraphQL returns the same as before. A pull request with an unknown author never counts as the same. */
export function hasSamePullFields(known: ComparablePullFields, shown: GraphqlPull): boolean {
  const { headRepository: from } = shown
  const author = shown.author === null ? null : toGitHubAccountFromGraphql(shown.author)
  if (author === undefined) return false
  const facts: Record<keyof ComparablePullFields, unknown> = {
    pull: shown.number,
    title: shown.title,
    state: toPullState(shown),
    draft: shown.isDraft,
    head: shown.headRefOid,
    baseRef: shown.baseRefName,
    shownBase: shown.baseRefOid,
    author: author && formatGitHubAccount(author),
    headRepository: from && `${from.owner.login}/${from.name}`,
    labels: shown.labels.nodes.map(({ name }) => name).toSorted(),
  }
  const were: typeof facts = {
    ...known,
    shownBase: known.shownBase,
    author: known.author && formatGitHubAccount(known.author),
    headRepository: known.headRepository && `${known.headRepository.owner}/${known.headRepository.name}`,
    labels: known.labels.toSorted(),
  }
  return (Object.keys(facts) as (keyof ComparablePullFields)[]).every(
    (fact) => JSON.stringify(facts[fact]) === JSON.stringify(were[fact]),
  )
}

/** As text: an account whose login changed is not the same. */
const formatGitHubAccount = ({ kind, id: number, login }: GitHubAccount): string =>
  `${kind} ${number} ${login}`

/** Its reviews and comments; undefined if some of them, or some of their authors, are missing. */
export function toReviewsAndComments(
  shown: GraphqlPull,
): { readonly reviews: readonly PullReview[]; readonly comments: readonly PullComment[] } | undefined {
  if (!hasCompletePullConnections(shown)) return undefined
  const reviews: PullReview[] = []
  for (const { fullDatabaseId, state, submittedAt, commit, author: by } of shown.reviews.nodes) {
    const author = toGitHubAccountFromGraphql(by)
    if (author === undefined) return undefined
    reviews.push({
      id: Number(fullDatabaseId),
      author,
      state: toReviewState(state),
      commit: commit === null ? null : toCommitSha(commit.oid),
      submittedAt: submittedAt ?? '',
    })
  }
  const comments: PullComment[] = []
  for (const { id: node, fullDatabaseId, createdAt, updatedAt, body, author: by } of shown.comments.nodes) {
    const author = toGitHubAccountFromGraphql(by)
    if (author === undefined) return undefined
    const about = { id: Number(fullDatabaseId), node, author, createdAt, updatedAt }
    comments.push({ ...about, body: extractLinesSearchedForCommands(body) })
  }
  return { reviews, comments }
}

/**
 * Checks in one request that many pull requests match their snapshots. Cases it can't compare are left out and must be
 * read one by one. Never rejects: without an answer, the result is empty. See Forge.findUnchanged.
 */
export async function findUnchangedPulls(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  snapshots: readonly PullSnapshot[],
): Promise<ReadonlyMap<PullNumber, string>> {
  const same = new Map<PullNumber, string>()
  for (let start = 0; start < snapshots.length; start += maxPullsPerQuery) {
    const part = snapshots.slice(start, start + maxPullsPerQuery)
    const pullFields = part
      .map(({ pull }) => `p${pull}: pullRequest(number: ${pull}) { ...ShownPull }`)
      .join('\n')
    const query = `query StillAs($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    ${pullFields}
  }
}
${graphqlPullFragment}`
    // An answer with errors is rejected as a whole.
    const answer = pullsResponseSchema.safeParse(
      await octokit.graphql<unknown>(query, { owner, name }).catch(() => undefined),
    ).data
    for (const snapshot of part) {
      const now = graphqlPullSchema.safeParse(answer?.repository[`p${snapshot.pull}`]).data
      if (now !== undefined && isPullUnchanged(snapshot, now)) same.set(snapshot.pull, now.updatedAt)
    }
  }
  return same
}

function isPullUnchanged(then: PullSnapshot, now: GraphqlPull): boolean {
  if (then.excess !== undefined || then.stacked) return false
  const read = toReviewsAndComments(now)
  return (
    read !== undefined &&
    hasSamePullFields(then, now) &&
    JSON.stringify(normalizeReviewsAndComments(then)) === JSON.stringify(normalizeReviewsAndComments(read))
  )
}

/** The users' comments and reviews, in one format for both APIs, without the App's own comment. */
function normalizeReviewsAndComments({ reviews, comments }: Pick<PullSnapshot, 'reviews' | 'comments'>) {
  return {
    reviews: reviews
      .map(({ id: number, state, commit, submittedAt, author }) =>
        [number, state, commit, submittedAt, formatGitHubAccountOrNobody(author)].join(' '),
      )
      .toSorted(),
    comments: comments
      .filter(({ author }) => author?.kind === 'user')
      .map(({ id: number, createdAt, updatedAt, body, author }) =>
        [number, createdAt, updatedAt, formatGitHubAccountOrNobody(author), body].join(' '),
      )
      .toSorted(),
  }
}
