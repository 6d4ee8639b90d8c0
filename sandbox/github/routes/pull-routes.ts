// REST routes of pull requests, their reviews and requested reviewers.
import { updateBranch } from '../branch-rules/update-branch.ts'
import { mergePull } from '../branch-rules/merge-pull.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { addReview, createPull, dismissReview, editPull, requestReviews, withdrawReviews } from '../pulls.ts'
import type { ReviewEvent } from '../pulls.ts'
import { addReviewComments, lineNow, placeDrafts, removeReviewComment } from '../review-comments.ts'
import type { DraftComment } from '../review-comments.ts'
import { computeMergeability } from '../git/pushes.ts'
import {
  Refusal,
  created,
  idParam,
  invalid,
  noContent,
  notFound,
  ok,
  page,
  repoRoute,
  text,
} from '../http/route.ts'
import type { RepoCall, Route } from '../http/route.ts'
import { accountView, teamView } from '../views/account-view.ts'
import { apiUrl } from '../views/repository-view.ts'
import { commitView, readCommits, readFiles } from '../views/commit-view.ts'
import { pullSummary, pullView, reviewCommentView, reviewView } from '../views/pull-view.ts'
import { accountByLogin, mayPush, roleOf } from '../world.ts'
import type { Account, Pull, Repo, Review, ReviewComment, Team, World } from '../world.ts'

const read = { pull_requests: 'read' } as const
const write = { pull_requests: 'write' } as const
// What GitHub's lists end at, whatever the paging.
const listedFiles = 3000
const listedCommits = 250

function pullOf(call: RepoCall): Pull {
  const pull = call.repo.pulls.get(idParam(call, 'pull_number'))
  if (pull === undefined) throw notFound()
  return pull
}

export function pullRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('GET /pulls', read, (call) =>
      page(
        call,
        listed(call).map((it) => pullSummary(world, it)),
      ),
    ),
    repoRoute('POST /pulls', write, async (call) => {
      const { repo, body } = call
      const head = text(call, 'head', 'PullRequest')
      const title = text(call, 'title', 'PullRequest')
      const [owner = '', branch] = head.includes(':') ? head.split(':') : [repo.owner.login, head]
      const network = [...world.repos].filter((it) => it === repo || it.parent === repo)
      const headRepo = network.find((it) => !it.deleted && it.owner === accountByLogin(world, owner))
      if (headRepo === undefined || branch === undefined) throw invalid('PullRequest', 'head')
      const request = { author: actorOf(call.caller), headRepo, headRef: branch, title }
      const {
        base: baseRef,
        body: words = null,
        draft = false,
        maintainer_can_modify: maintainerCanModify = true,
      } = body as { base: string; body?: string; draft?: boolean; maintainer_can_modify?: boolean }
      const more = { baseRef, body: words, draft, maintainerCanModify }
      const pull = await state.inLine(repo, () => createPull(state, repo, { ...request, ...more }))
      return created(await pullView(world, pull))
    }),
    repoRoute('GET /pulls/{pull_number}', read, async (call) => {
      const pull = pullOf(call)
      const reply = ok(await pullView(world, pull))
      // Asking is what makes GitHub compute it; this answer still says null.
      if (pull.state === 'open' && pull.mergeable === undefined) state.later(computeMergeability(state, pull))
      return reply
    }),
    repoRoute('PATCH /pulls/{pull_number}', write, async (call) => {
      const pull = pullOf(call)
      const { maintainer_can_modify: modifiable } = call.body
      if (typeof modifiable === 'boolean' && pull.headRepo !== pull.repo)
        pull.maintainerCanModify = modifiable
      await editPull(state, pull, call.body, actorOf(call.caller))
      return ok(await pullView(world, pull))
    }),
    repoRoute('GET /pulls/{pull_number}/commits', read, async (call) => {
      const { repo, baseSha, headSha } = pullOf(call)
      const commits = await readCommits(repo.path, '--reverse', `${baseSha}..${headSha}`)
      return page(
        call,
        commits.slice(0, listedCommits).map((it) => commitView(world, repo, it)),
      )
    }),
    repoRoute('GET /pulls/{pull_number}/files', read, async (call) => {
      const { repo, baseSha, headSha } = pullOf(call)
      return page(call, (await readFiles(world, repo, baseSha, headSha)).slice(0, listedFiles))
    }),
    repoRoute('GET /pulls/{pull_number}/merge', read, (call) => {
      if (pullOf(call).merged === null) throw notFound()
      return noContent()
    }),
    mergeRoute(state),
    repoRoute('PUT /pulls/{pull_number}/update-branch', write, async (call) => {
      const pull = pullOf(call)
      await updateBranch(state, pull, call.caller, call.body['expected_head_sha'] as string | undefined)
      const url = `${apiUrl(world, call.repo)}/pulls/${pull.number}`
      return { status: 202, body: { message: 'Updating pull request branch.', url } }
    }),
    ...reviewerRoutes(state),
    ...reviewRoutes(state),
  ]
}

function listed({ repo, query }: RepoCall): Pull[] {
  const state = query.get('state') ?? 'open'
  const base = query.get('base')
  const head = query.get('head')
  const byUpdate = query.get('sort') === 'updated'
  const key = (it: Pull): string => (byUpdate ? it.updatedAt : it.createdAt)
  const found = [...repo.pulls.values()]
    .filter((it) => state === 'all' || it.state === state)
    .filter((it) => base === null || it.baseRef === base)
    .filter((it) => head === null || `${it.headOwner.login}:${it.headRef}` === head)
    .sort((one, other) => key(one).localeCompare(key(other)) || one.number - other.number)
  // Newest first, unless another sort was asked without a direction: then GitHub turns round.
  const ascending =
    query.get('direction') === 'asc' ||
    (query.get('direction') === null && (query.get('sort') ?? 'created') !== 'created')
  return ascending ? found : found.reverse()
}

function mergeRoute(state: GitHubState): Route {
  return repoRoute('PUT /pulls/{pull_number}/merge', { contents: 'write' }, async (call) => {
    const pull = pullOf(call)
    if (call.caller.kind === 'user' && !mayPush(state.world, pull.repo, actorOf(call.caller)))
      throw notFound()
    const sha = await mergePull(state, pull, call.caller, call.body)
    return ok({ sha, merged: true, message: 'Pull Request successfully merged' })
  })
}

function reviewerRoutes(state: GitHubState): Route[] {
  const { world } = state
  const base = '/pulls/{pull_number}/requested_reviewers'
  const named = ({ body, repo }: RepoCall): [Account[], Team[]] => {
    const { reviewers = [], team_reviewers = [] } = body as {
      reviewers?: string[]
      team_reviewers?: string[]
    }
    return [
      reviewers.map((it) => collaborator(world, repo, it)),
      team_reviewers.map((it) => teamOf(world, repo, it)),
    ]
  }
  return [
    repoRoute(`GET ${base}`, read, (call) => {
      const { requestedUsers, requestedTeams } = pullOf(call)
      return ok({
        users: requestedUsers.filter((it) => !it.deleted).map((it) => accountView(world, it)),
        teams: requestedTeams.map((it) => teamView(world, it)),
      })
    }),
    repoRoute(`POST ${base}`, write, async (call) => {
      await requestReviews(state, pullOf(call), ...named(call), actorOf(call.caller))
      return created(pullSummary(world, pullOf(call)))
    }),
    repoRoute(`DELETE ${base}`, write, async (call) => {
      await withdrawReviews(state, pullOf(call), ...named(call), actorOf(call.caller))
      return ok(pullSummary(world, pullOf(call)))
    }),
  ]
}

const notCollaborator = (): Refusal =>
  new Refusal(
    422,
    'Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository.',
  )

/** Reviews can be asked of people with a role of their own, not of anyone who can read a public repository. */
function collaborator(world: World, repo: Repo, login: string): Account {
  const account = accountByLogin(world, login)
  const role = account && roleOf(world, repo, account)
  if (account === undefined || role === undefined || (role === 'read' && !repo.roles.has(account.id)))
    throw notCollaborator()
  return account
}

function teamOf(world: World, repo: Repo, slug: string): Team {
  const team = world.teams.find((it) => it.organization === repo.owner && it.slug === slug)
  if (team === undefined || !repo.teamRoles.has(team.id)) throw notCollaborator()
  return team
}

function reviewCommentRoutes(state: GitHubState): Route[] {
  const { world } = state
  const commentOf = (call: RepoCall): [Pull, ReviewComment] => {
    const id = idParam(call, 'comment_id')
    for (const pull of call.repo.pulls.values()) {
      const found = pull.reviewComments.find((it) => it.id === id)
      if (found !== undefined) return [pull, found]
    }
    throw notFound()
  }
  const view = async (pull: Pull, comment: ReviewComment) =>
    reviewCommentView(world, pull, comment, await lineNow(pull, comment))
  return [
    repoRoute('GET /pulls/{pull_number}/comments', read, async (call) => {
      const pull = pullOf(call)
      return page(call, await Promise.all(pull.reviewComments.map((it) => view(pull, it))))
    }),
    repoRoute('PATCH /pulls/comments/{comment_id}', write, async (call) => {
      const [pull, comment] = commentOf(call)
      comment.body = text(call, 'body', 'PullRequestReviewComment')
      comment.updatedAt = world.timestamp()
      return ok(await view(pull, comment))
    }),
    repoRoute('DELETE /pulls/comments/{comment_id}', write, (call) => {
      removeReviewComment(...commentOf(call))
      return noContent()
    }),
  ]
}

function reviewRoutes(state: GitHubState): Route[] {
  const { world } = state
  const reviewOf = (call: RepoCall): Review => {
    const id = idParam(call, 'review_id')
    const found = pullOf(call).reviews.find((it) => it.id === id)
    if (found === undefined) throw notFound()
    return found
  }
  return [
    repoRoute('GET /pulls/{pull_number}/reviews', read, (call) =>
      // A pending review is seen by its author alone.
      page(
        call,
        pullOf(call)
          .reviews.filter((it) => it.state !== 'PENDING' || it.author === actorOf(call.caller))
          .map((it) => reviewView(world, pullOf(call), it)),
      ),
    ),
    repoRoute('POST /pulls/{pull_number}/reviews', write, async (call) => {
      const {
        event,
        body = '',
        commit_id,
        comments = [],
      } = call.body as {
        event?: ReviewEvent
        body?: string
        commit_id?: string
        comments?: readonly DraftComment[]
      }
      // Comments on lines stand for words of its own.
      if ((event === 'REQUEST_CHANGES' || event === 'COMMENT') && body === '' && comments.length === 0)
        throw new Refusal(422, 'Unprocessable Entity', ['Body can not be blank'])
      const pull = pullOf(call)
      const hunks = await placeDrafts(pull, commit_id ?? pull.headSha, comments)
      const review = addReview(state, pull, actorOf(call.caller), event, body, commit_id)
      addReviewComments(state, pull, review, comments, hunks)
      return ok(reviewView(world, pull, review))
    }),
    ...reviewCommentRoutes(state),
    repoRoute('GET /pulls/{pull_number}/reviews/{review_id}', read, (call) =>
      ok(reviewView(world, pullOf(call), reviewOf(call))),
    ),
    repoRoute('PUT /pulls/{pull_number}/reviews/{review_id}/dismissals', write, (call) => {
      text(call, 'message', 'PullRequestReview')
      dismissReview(state, pullOf(call), reviewOf(call), actorOf(call.caller))
      return ok(reviewView(world, pullOf(call), reviewOf(call)))
    }),
  ]
}
