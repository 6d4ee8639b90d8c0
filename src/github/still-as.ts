// Checks by one request that many pull requests match their snapshots, for a train just before its push. Cases it can't
// compare are left out and must be read one by one.
import { z } from 'zod'
import type { PullNumber } from '../change/ids.ts'
import type { Person, RepositoryName, Snapshot } from '../change/snapshot.ts'
import type { Octokit } from './github-app.ts'
import { opening } from './read-comments.ts'
import {
  accountText,
  isWhole,
  personShown,
  saysTheSame,
  shownPull,
  shownPullFragment,
  type ShownPull,
} from './shown-pull.ts'

const pullsPerQuery = 20

const answered = z.object({ repository: z.record(z.string(), z.unknown()) })

/** See Forge.stillAs. Never rejects: without an answer, the set is empty. */
export async function stillAs(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  snapshots: readonly Snapshot[],
): Promise<ReadonlySet<PullNumber>> {
  const same = new Set<PullNumber>()
  for (let start = 0; start < snapshots.length; start += pullsPerQuery) {
    const part = snapshots.slice(start, start + pullsPerQuery)
    const wanted = part
      .map(({ pull }) => `p${pull}: pullRequest(number: ${pull}) { ...ShownPull }`)
      .join('\n')
    const query = `query StillAs($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    ${wanted}
  }
}
${shownPullFragment}`
    // An answer with errors is rejected as a whole.
    const answer = answered.safeParse(
      await octokit.graphql<unknown>(query, { owner, name }).catch(() => undefined),
    ).data
    for (const snapshot of part) {
      const now = shownPull.safeParse(answer?.repository[`p${snapshot.pull}`]).data
      if (now !== undefined && isSame(snapshot, now)) same.add(snapshot.pull)
    }
  }
  return same
}

function isSame(then: Snapshot, now: ShownPull): boolean {
  if (!isWhole(now)) return false
  if (then.excess !== undefined || then.stacked) return false
  return saysTheSame(then, now) && JSON.stringify(saidThen(then)) === JSON.stringify(saidNow(now))
}

/** What people said, in one shape for both, without our own comment. */
function saidThen({ reviews, comments }: Snapshot) {
  return {
    reviews: reviews
      .map(({ id: number, state, commit, submittedAt, author }) =>
        [number, state, commit, submittedAt, personOf(author)].join(' '),
      )
      .toSorted(),
    comments: comments
      .filter(({ author }) => author?.kind === 'user')
      .map(({ id: number, createdAt, updatedAt, body, author }) =>
        [number, createdAt, updatedAt, personOf(author), body].join(' '),
      )
      .toSorted(),
  }
}

function saidNow(now: ShownPull): ReturnType<typeof saidThen> {
  return {
    reviews: now.reviews.nodes
      .map(({ fullDatabaseId, state, commit, submittedAt, author }) =>
        [
          fullDatabaseId,
          state.toLowerCase().replaceAll('_', '-'),
          commit?.oid ?? null,
          submittedAt ?? '',
          accountOf(author),
        ].join(' '),
      )
      .toSorted(),
    comments: now.comments.nodes
      .filter(({ author }) => author?.__typename === 'User')
      .map(({ fullDatabaseId, createdAt, updatedAt, body, author }) =>
        [fullDatabaseId, createdAt, updatedAt, accountOf(author), opening(body)].join(' '),
      )
      .toSorted(),
  }
}

const personOf = (person: Person | null): string => (person === null ? 'nobody' : accountText(person))

/** An unknown author never counts as the same. */
function accountOf(one: Parameters<typeof personShown>[0]): string {
  const person = personShown(one)
  return one === null ? 'nobody' : person === undefined ? 'unknown' : personOf(person)
}
