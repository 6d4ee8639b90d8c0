// Checks in one request that many pull requests match their snapshots, for a batch just before its push. Cases it can't
// compare are left out and must be read one by one.
import { z } from 'zod'
import type { PullNumber } from '../../pull-request/ids.ts'
import type { GitHubAccount, RepositoryName, PullSnapshot } from '../../pull-request/snapshot.ts'
import type { Octokit } from './github-app.ts'
import { extractCommandLines } from './read-comments.ts'
import {
  formatGitHubAccount,
  hasCompletePullLists,
  toGitHubAccountFromGraphql,
  hasSamePullFields,
  graphqlPullSchema,
  graphqlPullFragment,
  type GraphqlPull,
} from './graphql-pull.ts'

const maxPullsPerQuery = 20

const pullsResponseSchema = z.object({ repository: z.record(z.string(), z.unknown()) })

/** See Forge.stillAs. Never rejects: without an answer, the set is empty. */
export async function findUnchangedPulls(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  snapshots: readonly PullSnapshot[],
): Promise<ReadonlySet<PullNumber>> {
  const same = new Set<PullNumber>()
  for (let start = 0; start < snapshots.length; start += maxPullsPerQuery) {
    const part = snapshots.slice(start, start + maxPullsPerQuery)
    const wanted = part
      .map(({ pull }) => `p${pull}: pullRequest(number: ${pull}) { ...ShownPull }`)
      .join('\n')
    const query = `query StillAs($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    ${wanted}
  }
}
${graphqlPullFragment}`
    // An answer with errors is rejected as a whole.
    const answer = pullsResponseSchema.safeParse(
      await octokit.graphql<unknown>(query, { owner, name }).catch(() => undefined),
    ).data
    for (const snapshot of part) {
      const now = graphqlPullSchema.safeParse(answer?.repository[`p${snapshot.pull}`]).data
      if (now !== undefined && isPullUnchanged(snapshot, now)) same.add(snapshot.pull)
    }
  }
  return same
}

function isPullUnchanged(then: PullSnapshot, now: GraphqlPull): boolean {
  if (!hasCompletePullLists(now)) return false
  if (then.excess !== undefined || then.stacked) return false
  return (
    hasSamePullFields(then, now) &&
    JSON.stringify(getComparableSnapshotDiscussion(then)) ===
      JSON.stringify(getComparableGraphqlDiscussion(now))
  )
}

/** What people said, in one shape for both, without our own comment. */
function getComparableSnapshotDiscussion({ reviews, comments }: PullSnapshot) {
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

function getComparableGraphqlDiscussion(
  now: GraphqlPull,
): ReturnType<typeof getComparableSnapshotDiscussion> {
  return {
    reviews: now.reviews.nodes
      .map(({ fullDatabaseId, state, commit, submittedAt, author }) =>
        [
          fullDatabaseId,
          state.toLowerCase().replaceAll('_', '-'),
          commit?.oid ?? null,
          submittedAt ?? '',
          formatGraphqlAccount(author),
        ].join(' '),
      )
      .toSorted(),
    comments: now.comments.nodes
      .filter(({ author }) => author?.__typename === 'User')
      .map(({ fullDatabaseId, createdAt, updatedAt, body, author }) =>
        [fullDatabaseId, createdAt, updatedAt, formatGraphqlAccount(author), extractCommandLines(body)].join(
          ' ',
        ),
      )
      .toSorted(),
  }
}

const formatGitHubAccountOrNobody = (person: GitHubAccount | null): string =>
  person === null ? 'nobody' : formatGitHubAccount(person)

/** An unknown author never counts as the same. */
function formatGraphqlAccount(one: Parameters<typeof toGitHubAccountFromGraphql>[0]): string {
  const person = toGitHubAccountFromGraphql(one)
  return one === null ? 'nobody' : person === undefined ? 'unknown' : formatGitHubAccountOrNobody(person)
}
