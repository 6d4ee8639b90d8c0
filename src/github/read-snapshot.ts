// One read of all that is needed to decide on a pull request, such that its parts agree: the pull request is read
// before and after the lists, and a change in between makes the read be repeated (T45).
import { commitSha, pullNumber, userId, type PullNumber } from '../change/ids.ts'
import type { Comment, Person, RepositoryName, Review, Snapshot } from '../change/snapshot.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'

const attempts = 3

export async function readSnapshot(
  octokit: Octokit,
  repository: RepositoryName,
  pull: PullNumber,
): Promise<Snapshot | null> {
  const doing = `read pull request ${repository.owner}/${repository.name}#${pull}`
  const target = { owner: repository.owner, repo: repository.name }
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await readPull(octokit, target, pull)
      if (before === null) return null
      const [reviews, comments, base] = await Promise.all([
        octokit.paginate(octokit.rest.pulls.listReviews, { ...target, pull_number: pull, per_page: 100 }),
        octokit.paginate(octokit.rest.issues.listComments, { ...target, issue_number: pull, per_page: 100 }),
        octokit.rest.git.getRef({ ...target, ref: `heads/${before.base.ref}` }),
      ])
      const after = await readPull(octokit, target, pull)
      if (after === null) return null
      const agrees =
        before.head.sha === after.head.sha &&
        before.base.ref === after.base.ref &&
        before.state === after.state &&
        before.updated_at === after.updated_at
      if (!agrees) continue
      return {
        repository,
        pull: pullNumber(after.number),
        state: after.merged ? 'merged' : after.state === 'open' ? 'open' : 'closed',
        draft: after.draft === true,
        title: after.title,
        author: toPerson(after.user),
        head: commitSha(after.head.sha),
        baseRef: after.base.ref,
        base: commitSha(base.data.object.sha),
        shownBase: commitSha(after.base.sha),
        headRepository:
          after.head.repo === null
            ? null
            : { owner: after.head.repo.owner.login, name: after.head.repo.name },
        labels: after.labels.map((label) => label.name),
        reviews: reviews.map(toReview),
        comments: comments.map(toComment),
        stacked: 'stack' in after && after.stack !== null && after.stack !== undefined,
      }
    }
  } catch (error) {
    throw toForgeError(error, doing)
  }
  throw new ForgeError('inconsistent', `${doing}: it kept changing while it was read`)
}

async function readPull(octokit: Octokit, target: { owner: string; repo: string }, pull: PullNumber) {
  try {
    return (await octokit.rest.pulls.get({ ...target, pull_number: pull })).data
  } catch (error) {
    const failure = toForgeError(error, 'read the pull request')
    if (failure.code === 'not-found') return null
    throw failure
  }
}

interface Account {
  readonly id: number
  readonly login: string
  readonly type?: string
}

/** Null accounts ("ghost") stay null: nobody has their rights. */
export function toPerson(account: Account | null | undefined): Person | null {
  if (account === null || account === undefined) return null
  return { id: userId(account.id), login: account.login, kind: account.type === 'Bot' ? 'bot' : 'user' }
}

function toReview(review: {
  id: number
  user: Account | null
  state: string
  commit_id?: string | null
  submitted_at?: string
}): Review {
  const states: Readonly<Record<string, Review['state']>> = {
    APPROVED: 'approved',
    CHANGES_REQUESTED: 'changes-requested',
    DISMISSED: 'dismissed',
  }
  return {
    id: review.id,
    author: toPerson(review.user),
    state: states[review.state] ?? 'commented',
    commit:
      typeof review.commit_id === 'string' && review.commit_id !== '' ? commitSha(review.commit_id) : null,
    submittedAt: review.submitted_at ?? '',
  }
}

function toComment(comment: {
  id: number
  node_id?: string
  user: Account | null
  body?: string
  created_at: string
  updated_at: string
}): Comment {
  return {
    id: comment.id,
    ...(comment.node_id !== undefined && { node: comment.node_id }),
    author: toPerson(comment.user),
    body: comment.body ?? '',
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
  }
}
