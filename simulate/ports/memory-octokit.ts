// Answers the requests that src/github/ sends when it reads pull requests, from memory and in GitHub's format. The
// reading code is the real one. Every request, and every page of a list, is a separate call.
import type { CommitSha, PullNumber } from '../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../src/pull-request/snapshot.ts'
import type { Octokit } from '../../src/adapters/github/github-app.ts'
import { appId, mainBranch, SimulatedGitHub, type SimulatedPull } from '../world/simulated-github.ts'

export interface InMemoryOctokitHooks {
  /** Runs `act` atomically when its turn comes. */
  readonly ask: <T>(label: string, act: () => T) => Promise<T>
  /** How many steps reads lag behind, as they can on a GitHub replica. */
  readonly lag: () => number
  /** The step as of which the answer to a request holds. */
  readonly onAnswer: (label: string, step: number) => void
}

interface RestRequestParameters {
  readonly pull_number?: PullNumber
  readonly issue_number?: PullNumber
  readonly ref?: string
  readonly since?: string
  readonly page?: number
  readonly per_page?: number
}

interface GraphqlVariables {
  readonly pull?: PullNumber
  /** The full name of a ref. */
  readonly base?: string
}

class NotFoundError extends Error {
  readonly status = 404
}

export function createInMemoryOctokit(
  server: SimulatedGitHub,
  { ask, lag, onAnswer }: InMemoryOctokitHooks,
): Octokit {
  /** One request, answered by one GitHub server. */
  const respond = <T>(label: string, answer: (step: number) => T) =>
    ask(label, () => {
      const step = server.step - lag()
      const data = answer(step)
      onAnswer(label, step)
      return { data }
    })
  function shownAt(pull: PullNumber | undefined, step: number): SimulatedPull {
    const shown = pull && SimulatedGitHub.at(server.pulls.get(pull) ?? [], step)
    if (shown === undefined) throw new NotFoundError(`there is no #${pull}`)
    return shown
  }
  function tipAt(branch: string, step: number): CommitSha {
    const tip = SimulatedGitHub.at(server.branches.get(branch) ?? [], step)
    if (tip === undefined) throw new NotFoundError(`there is no branch ${branch}`)
    return tip
  }

  const rest = {
    pulls: {
      get: ({ pull_number: pull }: RestRequestParameters) =>
        respond(`read #${pull}`, (step) => toPullView(server, shownAt(pull, step))),
      listReviews: ({ pull_number: pull, ...which }: RestRequestParameters) =>
        respond(`read the reviews of #${pull}`, (step) =>
          getResultsPage(shownAt(pull, step).reviews.map(toReviewView), which),
        ),
    },
    issues: {
      listComments: ({ issue_number: pull, since = '', ...which }: RestRequestParameters) =>
        respond(`read the comments of #${pull}`, (step) =>
          getResultsPage(
            shownAt(pull, step)
              .comments.map((comment) => toCommentView(server, comment))
              .filter(({ updated_at: at }) => at >= since.replace(/\.\d+Z$/, 'Z')),
            which,
          ),
        ),
    },
    git: {
      getRef: ({ ref = '' }: RestRequestParameters) =>
        respond(`read the tip of ${ref}`, (step) => ({
          object: { sha: tipAt(ref.replace(/^heads\//, ''), step) },
        })),
    },
  }

  async function paginate<T>(
    list: (which: RestRequestParameters) => Promise<{ readonly data: readonly T[] }>,
    about: RestRequestParameters,
    map: (answer: { readonly data: readonly T[] }, done: () => void) => readonly T[] = ({ data }) => data,
  ): Promise<readonly T[]> {
    const all: T[] = []
    let isOver = false
    for (let page = 1; !isOver; page++) {
      const answer = await list({ ...about, page })
      all.push(...map(answer, () => (isOver = true)))
      if (answer.data.length < (about.per_page ?? 30)) return all
    }
    return all
  }

  /**
   * Answers two queries: for all the data that the evaluation of one pull request needs, and for changes in many
   * pull requests.
   */
  async function graphql(query: string, { pull, base }: GraphqlVariables = {}): Promise<unknown> {
    if (pull !== undefined && base !== undefined) {
      const { data } = await respond(`read all of #${pull} at once`, (step) => ({
        defaultBranchRef: { name: mainBranch },
        ref: { target: { oid: tipAt(base.replace(/^refs\/heads\//, ''), step) } },
        // Check runs and comments by catalog-bot are read separately.
        object: { checkSuites: null },
        pullRequest: toGraphqlPullView(server, shownAt(pull, step)),
      }))
      return { repository: data }
    }
    const wanted = [...query.matchAll(/pullRequest\(number: (\d+)\)/g)].map(([, number]) => Number(number))
    const { data } = await respond(
      `check whether ${wanted.map((each) => `#${each}`).join(', ')} changed`,
      (step) =>
        Object.fromEntries(
          wanted.map((each) => [`p${each}`, toGraphqlPullView(server, shownAt(each as PullNumber, step))]),
        ),
    )
    return { repository: data }
  }

  // Requests that are missing here do not occur: the parts of src/github/ that run here only read.
  return { rest, paginate, graphql } as unknown as Octokit
}

function getResultsPage<T>(
  all: readonly T[],
  { page = 1, per_page: size = 30 }: RestRequestParameters,
): readonly T[] {
  return all.slice((page - 1) * size, page * size)
}

const toAccountView = ({ id, login, kind }: GitHubAccount) => ({
  id,
  login,
  type: kind === 'bot' ? 'Bot' : 'User',
})
/** GitHub's name for the state of a review, as REST and GraphQL spell it. */
const toApiReviewState = (state: string) => state.toUpperCase().replaceAll('-', '_')

function toPullView(server: SimulatedGitHub, shown: SimulatedPull): object {
  const { owner, name } = server.name
  return {
    number: shown.number,
    state: shown.state === 'open' ? 'open' : 'closed',
    merged: shown.state === 'merged',
    draft: shown.draft,
    title: shown.title,
    created_at: server.seconds(shown.createdAt),
    updated_at: server.seconds(shown.updatedAt),
    user: toAccountView(shown.author),
    head: { sha: shown.head, repo: { name, owner: { login: owner } } },
    base: { ref: shown.baseRef, sha: shown.shownBase },
    labels: shown.labels.map((label) => ({ name: label })),
    comments: shown.comments.length,
    changed_files: 1,
    additions: 10,
    deletions: 0,
    ...(shown.stacked && { stack: { id: 1 } }),
  }
}

function toReviewView({ id, author, state, commit, submittedAt }: SimulatedPull['reviews'][number]) {
  return {
    id,
    user: author && toAccountView(author),
    state: toApiReviewState(state),
    commit_id: commit,
    submitted_at: submittedAt,
  }
}

function toCommentView(
  server: SimulatedGitHub,
  { id, author, body, createdAt, updatedAt }: SimulatedPull['comments'][number],
) {
  return {
    id,
    node_id: `comment ${id}`,
    user: toAccountView(author),
    body,
    created_at: server.seconds(createdAt),
    updated_at: server.seconds(updatedAt),
    performed_via_github_app: author.id === server.bot.id ? { id: appId } : null,
  }
}

/** The first page of each list. */
function toGraphqlPullView(server: SimulatedGitHub, shown: SimulatedPull): object {
  const { owner, name } = server.name
  const page = 30
  const toActorView = ({ id, login, kind }: GitHubAccount) => ({
    __typename: kind === 'bot' ? 'Bot' : 'User',
    login: login.replace(/\[bot\]$/, ''),
    databaseId: id,
  })
  const toConnectionView = <T>(all: readonly T[], view: (one: T) => object) => ({
    totalCount: all.length,
    nodes: all.slice(0, page).map(view),
  })
  return {
    number: shown.number,
    title: shown.title,
    state: shown.state.toUpperCase(),
    isDraft: shown.draft,
    updatedAt: server.seconds(shown.updatedAt),
    headRefOid: shown.head,
    baseRefName: shown.baseRef,
    baseRefOid: shown.shownBase,
    author: toActorView(shown.author),
    headRepository: { name, owner: { login: owner } },
    labels: toConnectionView(shown.labels, (label) => ({ name: label })),
    reviews: toConnectionView(shown.reviews, ({ id, author, state, commit, submittedAt }) => ({
      fullDatabaseId: String(id),
      state: toApiReviewState(state),
      submittedAt,
      commit: commit && { oid: commit },
      author: author && toActorView(author),
    })),
    comments: toConnectionView(shown.comments, ({ id, author, body, createdAt, updatedAt }) => ({
      id: `comment ${id}`,
      fullDatabaseId: String(id),
      createdAt: server.seconds(createdAt),
      updatedAt: server.seconds(updatedAt),
      body,
      author: toActorView(author),
    })),
  }
}
