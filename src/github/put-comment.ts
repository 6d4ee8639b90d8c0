// Keeps our one comment on a pull request, even if another process took over while this one was paused.
import type { PullNumber } from '../change/ids.ts'
import type { Action, OwnComment, Performed, PresentComment } from '../ports/forge.ts'
import { findOwnComment, findOwnComments, forgetComments, type CommentReader } from './read-comments.ts'

/**
 * Milliseconds. A shorter pause can't lead to a takeover, which takes twelve seconds (app/serve.ts). After a longer
 * one, the comment is read again to avoid a duplicate.
 */
const longestPause = 5000

type PutComment = Extract<Action, { kind: 'put-comment' }>

/** Rejects with Octokit's errors. */
export async function putComment(
  reader: CommentReader,
  { pull, body, present }: PutComment,
): Promise<Performed> {
  const known = present !== undefined && !isOld(present, reader) ? present : await readPresent(reader, pull)
  const { comment } = known
  if (known.doubled !== undefined) await removeAll(reader, known.doubled)
  if (comment?.body === body) return { updatedAt: comment.updatedAt }
  if (comment !== undefined) {
    const edited = await edit(reader, comment, body)
    if (edited !== undefined) return edited
    // It was deleted since the read.
    forgetComments(reader, pull)
  }
  const made = await create(reader, pull, body)
  // This process may have been paused, so check for a duplicate.
  return isOld(known, reader) ? keepFirst(reader, pull, made) : { updatedAt: made.updatedAt }
}

const isOld = ({ readAt }: PresentComment, reader: CommentReader): boolean =>
  nowOf(reader) - readAt > longestPause

const nowOf = ({ monotonic }: CommentReader): number => monotonic?.() ?? performance.now()

async function readPresent(reader: CommentReader, pull: PullNumber): Promise<PresentComment> {
  const readAt = nowOf(reader)
  const comment = await findOwnComment(reader, pull)
  return { readAt, ...(comment && { comment }) }
}

/** Undefined: it no longer exists. */
async function edit(
  { octokit, repository }: CommentReader,
  { id }: OwnComment,
  body: string,
): Promise<Performed | undefined> {
  const target = { owner: repository.owner, repo: repository.name }
  try {
    const { data } = await octokit.rest.issues.updateComment({ ...target, comment_id: id, body })
    return { updatedAt: data.updated_at }
  } catch (error) {
    if ((error as { status?: unknown }).status !== 404) throw error
    return undefined
  }
}

async function create(
  { octokit, repository }: CommentReader,
  pull: PullNumber,
  body: string,
): Promise<OwnComment> {
  const target = { owner: repository.owner, repo: repository.name }
  const { data } = await octokit.rest.issues.createComment({ ...target, issue_number: pull, body })
  return { id: data.id, body, updatedAt: data.updated_at }
}

/** The first writer took over, so its report is newer than what was read before the pause. */
async function keepFirst(reader: CommentReader, pull: PullNumber, made: OwnComment): Promise<Performed> {
  const [first, ...later] = await findOwnComments(reader, pull)
  if (first === undefined || later.length === 0) return { updatedAt: made.updatedAt }
  await removeAll(
    reader,
    later.map(({ id }) => id),
  )
  forgetComments(reader, pull)
  return first.body === made.body ? { updatedAt: first.updatedAt } : {}
}

async function removeAll({ octokit, repository }: CommentReader, comments: readonly number[]): Promise<void> {
  for (const comment_id of comments)
    try {
      await octokit.rest.issues.deleteComment({
        owner: repository.owner,
        repo: repository.name,
        comment_id,
      })
    } catch (error) {
      // Another process of ours was faster.
      if ((error as { status?: unknown }).status !== 404) throw error
    }
}
