// A pull request as GitHub's GraphQL shows it, with one page of its labels, reviews and comments; and what the two interfaces
// call by different names, in one form. What is longer than a page, or of a kind that they show differently, is for whoever
// reads it over REST.
import { z } from 'zod'
import { commitSha, userId } from '../change/ids.ts'
import type { Comment, Person, Review, Snapshot } from '../change/snapshot.ts'
import { opening } from './read-comments.ts'

/** Of labels, reviews and comments each: more are read one by one. Twenty pull requests are within a query's usual cost. */
const page = 30
export const mostAtOnce = page

const who = '{ __typename login ... on User { databaseId } ... on Bot { databaseId } }'

/** `...ShownPull` in a query that has this behind it. */
export const shownPullFragment = `fragment ShownPull on PullRequest {
  number title state isDraft headRefOid baseRefName baseRefOid
  author ${who}
  headRepository { name owner { login } }
  labels(first: ${page}) { totalCount nodes { name } }
  reviews(first: ${page}) { totalCount nodes { fullDatabaseId state submittedAt commit { oid } author ${who} } }
  comments(first: ${page}) { totalCount nodes { id fullDatabaseId createdAt updatedAt body author ${who} } }
}`

const account = z
  .object({ __typename: z.string(), login: z.string(), databaseId: z.number().nullish() })
  .nullable()
const id = z.union([z.string(), z.number()]).transform(String)
const listOf = <Node extends z.ZodType>(node: Node) =>
  z.object({ totalCount: z.number(), nodes: z.array(node) })

export const shownPull = z.object({
  number: z.number(),
  title: z.string(),
  state: z.string(),
  isDraft: z.boolean(),
  headRefOid: z.string(),
  baseRefName: z.string(),
  baseRefOid: z.string(),
  author: account,
  headRepository: z.object({ name: z.string(), owner: z.object({ login: z.string() }) }).nullable(),
  labels: listOf(z.object({ name: z.string() })),
  reviews: listOf(
    z.object({
      fullDatabaseId: id,
      state: z.string(),
      submittedAt: z.string().nullable(),
      commit: z.object({ oid: z.string() }).nullable(),
      author: account,
    }),
  ),
  comments: listOf(
    z.object({
      id: z.string(),
      fullDatabaseId: id,
      createdAt: z.string(),
      updatedAt: z.string(),
      body: z.string(),
      author: account,
    }),
  ),
})
export type ShownPull = z.infer<typeof shownPull>

/** Whether all of its lists are here. */
export const isWhole = ({ labels, reviews, comments }: ShownPull): boolean =>
  [labels, reviews, comments].every(({ totalCount, nodes }) => totalCount === nodes.length)

const stateOf = ({ state }: ShownPull): 'open' | 'merged' | 'closed' =>
  state === 'OPEN' ? 'open' : state === 'MERGED' ? 'merged' : 'closed'

/** A review's state as REST says it, in our words. */
export const reviewState = (state: string): Review['state'] =>
  reviewStates[state.toUpperCase()] ?? 'commented'
const reviewStates: Readonly<Record<string, Review['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  DISMISSED: 'dismissed',
}

/** An App's name has brackets behind it in REST and none here. Undefined: this interface does not say who it is. */
export function personShown(one: z.infer<typeof account>): Person | undefined {
  const kind = one?.__typename === 'Bot' ? 'bot' : one?.__typename === 'User' ? 'user' : undefined
  if (one === null || kind === undefined || !Number.isSafeInteger(one.databaseId)) return undefined
  return {
    id: userId(Number(one.databaseId)),
    login: kind === 'bot' ? `${one.login}[bot]` : one.login,
    kind,
  }
}

/** What REST, GraphQL and a snapshot say of a pull request itself. */
export type PullFacts = Pick<
  Snapshot,
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

/** Whether GraphQL says the same as was known. Where it does not say who the author is, nothing is the same. */
export function saysTheSame(known: PullFacts, shown: ShownPull): boolean {
  const { headRepository: from } = shown
  const author = shown.author === null ? null : personShown(shown.author)
  if (author === undefined) return false
  const facts: Record<keyof PullFacts, unknown> = {
    pull: shown.number,
    title: shown.title,
    state: stateOf(shown),
    draft: shown.isDraft,
    head: shown.headRefOid,
    baseRef: shown.baseRefName,
    shownBase: shown.baseRefOid,
    author: author && accountText(author),
    headRepository: from && `${from.owner.login}/${from.name}`,
    labels: shown.labels.nodes.map(({ name }) => name).toSorted(),
  }
  const were: typeof facts = {
    ...known,
    shownBase: known.shownBase,
    author: known.author && accountText(known.author),
    headRepository: known.headRepository && `${known.headRepository.owner}/${known.headRepository.name}`,
    labels: known.labels.toSorted(),
  }
  return (Object.keys(facts) as (keyof PullFacts)[]).every(
    (fact) => JSON.stringify(facts[fact]) === JSON.stringify(were[fact]),
  )
}

/** As text: an account whose login changed is not the same. */
export const accountText = ({ kind, id: number, login }: Person): string => `${kind} ${number} ${login}`

/** Its reviews and comments; undefined where not all of them are here, or not all of who wrote them is said. */
export function threadOf(
  shown: ShownPull,
): { readonly reviews: readonly Review[]; readonly comments: readonly Comment[] } | undefined {
  if (!isWhole(shown)) return undefined
  const reviews: Review[] = []
  for (const { fullDatabaseId, state, submittedAt, commit, author: by } of shown.reviews.nodes) {
    const author = personShown(by)
    if (author === undefined) return undefined
    reviews.push({
      id: Number(fullDatabaseId),
      author,
      state: reviewState(state),
      commit: commit === null ? null : commitSha(commit.oid),
      submittedAt: submittedAt ?? '',
    })
  }
  const comments: Comment[] = []
  for (const { id: node, fullDatabaseId, createdAt, updatedAt, body, author: by } of shown.comments.nodes) {
    const author = personShown(by)
    if (author === undefined) return undefined
    const about = { id: Number(fullDatabaseId), node, author, createdAt, updatedAt }
    comments.push({ ...about, body: opening(body) })
  }
  return { reviews, comments }
}
