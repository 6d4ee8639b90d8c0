// One read of all that is needed to decide on a pull request, such that its parts agree: the pull request is read
// before and after the lists, and a change in between makes the read be repeated (T45).
import { commitSha, pullNumber, type PullNumber } from '../change/ids.ts'
import type { RepositoryName, Review, Snapshot } from '../change/snapshot.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Counted, PullSize } from '../ports/forge.ts'
import type { CommentMemory } from './comment-memory.ts'
import type { Octokit } from './github-app.ts'
import { toPerson, type Account } from './person.ts'
import { readComments } from './read-comments.ts'

export { toPerson } from './person.ts'

const attempts = 3

export interface ReadOptions {
  /** By which our own comment is known. */
  readonly appId?: number
  /** See CommentReader: what is remembered of comments is remembered for whoever looks for ours, too. */
  readonly login?: () => Promise<string>
  /** What was read of comments before. Absent: all are read. */
  readonly memory?: CommentMemory | undefined
  /** Nothing remembered counts: for a landing. */
  readonly anew?: boolean | undefined
  /** More comments, or reviews, are not read. */
  readonly most?: number | undefined
  /** Hears how large the pull request is before the rest is read, and is waited for. */
  readonly onCounted?: ((counted: Counted) => Promise<void>) | undefined
}

export async function readSnapshot(
  octokit: Octokit,
  repository: RepositoryName,
  pull: PullNumber,
  { appId = 0, login, memory, anew = false, most = Infinity, onCounted }: ReadOptions = {},
): Promise<Snapshot | null> {
  const doing = `read pull request ${repository.owner}/${repository.name}#${pull}`
  const target = { owner: repository.owner, repo: repository.name }
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await readPull(octokit, target, pull)
      if (before === null) return null
      // However long that takes: all that is read afterwards is held against `before`.
      if (attempt === 0) await onCounted?.({ author: toPerson(before.user), size: sizeOf(before) })
      const isTalkative = commentsOf(before) > most
      const [reviews, comments, base] = await Promise.all([
        readReviews(octokit, { ...target, pull_number: pull }, most),
        isTalkative
          ? []
          : readComments({ octokit, repository, appId, login, memory }, pull, before.comments, anew),
        octokit.rest.git.getRef({ ...target, ref: `heads/${before.base.ref}` }),
      ])
      const after = await readPull(octokit, target, pull)
      if (after === null) return null
      const agrees =
        before.head.sha === after.head.sha &&
        before.base.ref === after.base.ref &&
        before.state === after.state &&
        before.comments === after.comments &&
        before.updated_at === after.updated_at
      if (!agrees) continue
      const excess = excessOf(commentsOf(after), reviews.length, most)
      const snapshot: Snapshot = {
        repository,
        pull: pullNumber(after.number),
        state: after.merged ? 'merged' : after.state === 'open' ? 'open' : 'closed',
        draft: after.draft === true,
        title: after.title,
        openedAt: after.created_at,
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
        comments,
        ...(excess !== undefined && { excess }),
        stacked: 'stack' in after && after.stack !== null && after.stack !== undefined,
      }
      return snapshot
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

function sizeOf(pull: {
  changed_files: number
  additions: number
  deletions: number
  comments: number
}): PullSize | undefined {
  const { changed_files: files, additions, deletions, comments } = pull
  return [files, additions, deletions, comments].every(Number.isSafeInteger)
    ? { files, lines: additions + deletions, comments }
    : undefined
}

/** A pull request that a list shows has no such number. */
function commentsOf({ comments = 0 }: { comments?: number }): number {
  return comments
}

/** Up to one page more than `most`: there is no number that tells how many there are. */
async function readReviews(
  octokit: Octokit,
  target: { owner: string; repo: string; pull_number: PullNumber },
  most: number,
) {
  let read = 0
  return octokit.paginate(octokit.rest.pulls.listReviews, { ...target, per_page: 100 }, ({ data }, done) => {
    read += data.length
    if (read > most) done()
    return data
  })
}

function excessOf(comments: number, reviews: number, most: number): string | undefined {
  const [what, count] = comments > most ? ['comments', comments] : ['reviews', reviews]
  return count > most
    ? `it has ${comments > most ? '' : 'more than '}${(comments > most ? count : most).toLocaleString('en')} ${what}; at most ${most.toLocaleString('en')} are read`
    : undefined
}
