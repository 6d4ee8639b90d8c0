// Reads in one request what an evaluation needs besides the pull request itself: reviews and comments, the tip of its base,
// and our own reports. Returns everything or nothing: if a list is longer than a page, REST and GraphQL disagree, or a value
// is unknown, the caller reads list by list.
import { z } from 'zod'
import { toCommitSha, type CommitSha } from '../../pull-request/ids.ts'
import type { PullComment, RepositoryName, PullReview } from '../../pull-request/snapshot.ts'
import type { BotCheckRun, BotComment } from '../../ports/forge.ts'
import { commentMarker } from '../../report/comment.ts'
import type { Octokit } from './github-app.ts'
import {
  hasSamePullFields,
  graphqlPullSchema,
  graphqlPullFragment,
  toReviewsAndComments,
  type ComparablePullFields,
  type GraphqlPull,
} from './graphql-pull.ts'

/** A pull request as REST has just shown it. */
export interface RestPullFields extends ComparablePullFields {
  /** How many there are: a server that lags behind has fewer. */
  readonly comments: number
}

export interface PullDetails {
  readonly reviews: readonly PullReview[]
  readonly comments: readonly PullComment[]
  /** The tip of its base branch. */
  readonly base: CommitSha
  readonly defaultBranch: string | undefined
  /** Our check runs on the head. Absent: they are not all here. */
  readonly checks?: readonly BotCheckRun[]
  /** Our own reports, first to last. */
  readonly reports: readonly BotComment[]
}

/** A commit has one suite of check runs for each App. The suite of this App contains about ten names. */
const maxCheckSuites = 5
const maxCheckRunsPerSuite = 50

const pullDetailsQuery = `query PullAtOnce(
  $owner: String!, $name: String!, $pull: Int!, $base: String!, $head: GitObjectID!, $app: Int!
) {
  repository(owner: $owner, name: $name) {
    defaultBranchRef { name }
    ref(qualifiedName: $base) { target { oid } }
    object(oid: $head) { ... on Commit {
      checkSuites(first: ${maxCheckSuites}, filterBy: { appId: $app }) { totalCount nodes {
        checkRuns(first: ${maxCheckRunsPerSuite}, filterBy: { checkType: LATEST }) { totalCount nodes { name externalId status conclusion permalink } }
      } }
    } }
    pullRequest(number: $pull) { ...ShownPull }
  }
}
${graphqlPullFragment}`

const checkSuiteSchema = z.object({
  checkRuns: z
    .object({
      totalCount: z.number(),
      nodes: z.array(
        z.object({
          name: z.string(),
          externalId: z.string().nullable(),
          status: z.string(),
          conclusion: z.string().nullable(),
          permalink: z.string(),
        }),
      ),
    })
    .nullable(),
})
const pullDetailsSchema = z.object({
  repository: z.object({
    defaultBranchRef: z.object({ name: z.string() }).nullable(),
    ref: z.object({ target: z.object({ oid: z.string() }) }),
    object: z.object({
      checkSuites: z.object({ totalCount: z.number(), nodes: z.array(checkSuiteSchema) }).nullish(),
    }),
    pullRequest: graphqlPullSchema,
  }),
})
type PullDetailsResponse = z.infer<typeof pullDetailsSchema>['repository']

/** Never rejects; without an answer, the caller reads list by list. `login`: the account under which the App writes. */
export async function readPullDetails(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  before: RestPullFields,
  { appId, login }: { readonly appId: number; readonly login: () => Promise<string> },
): Promise<PullDetails | undefined> {
  const { comments, ...facts } = before
  const { pull, baseRef, head } = facts
  const variables = { owner, name, pull, base: `refs/heads/${baseRef}`, head, app: appId }
  // An answer with errors is rejected as a whole.
  const parsed = pullDetailsSchema.safeParse(
    await octokit.graphql<unknown>(pullDetailsQuery, variables).catch(() => undefined),
  ).data
  if (parsed === undefined) return undefined
  const { pullRequest, ref, defaultBranchRef } = parsed.repository
  // A change in between appears in only one of the two.
  if (!hasSamePullFields(facts, pullRequest) || pullRequest.comments.totalCount !== comments) return undefined
  const thread = toReviewsAndComments(pullRequest)
  if (thread === undefined) return undefined
  const checks = parseBotCheckRuns(parsed.repository)
  return {
    ...thread,
    base: toCommitSha(ref.target.oid),
    defaultBranch: defaultBranchRef?.name,
    ...(checks && { checks }),
    reports: await findBotReportComments(pullRequest, thread.comments, login),
  }
}

function parseBotCheckRuns({
  object: { checkSuites },
}: PullDetailsResponse): readonly BotCheckRun[] | undefined {
  if (!checkSuites || checkSuites.totalCount !== checkSuites.nodes.length) return undefined
  const all: BotCheckRun[] = []
  for (const { checkRuns } of checkSuites.nodes) {
    if (checkRuns === null || checkRuns.totalCount !== checkRuns.nodes.length) return undefined
    for (const { name, externalId, status, conclusion, permalink } of checkRuns.nodes)
      all.push({
        name,
        digest: externalId ?? '',
        isOver: status === 'COMPLETED',
        ...(conclusion !== null && { conclusion: conclusion.toLowerCase() }),
        url: permalink,
      })
  }
  return all
}

/** Identified by the App's account, whose name no one else can have. Anyone can write the marker (T56). */
async function findBotReportComments(
  { comments }: GraphqlPull,
  thread: readonly PullComment[],
  login: () => Promise<string>,
): Promise<readonly BotComment[]> {
  const marked = comments.nodes.flatMap(({ body, updatedAt }, at) => {
    const comment = thread[at]
    return comment?.author?.kind === 'bot' && body.startsWith(commentMarker)
      ? [{ by: comment.author.login, report: { id: comment.id, body, updatedAt } }]
      : []
  })
  if (marked.length === 0) return []
  const ours = (await login()).toLowerCase()
  return marked
    .flatMap(({ by, report }) => (by.toLowerCase() === ours ? [report] : []))
    .toSorted((a, b) => a.id - b.id)
}
