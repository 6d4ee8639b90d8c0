// Our one comment on a pull request: created or edited, and one at the end, also where this process stood still before it wrote
// and another one of ours took over its work meanwhile.
import type { PullNumber } from '../change/ids.ts'
import type { Action, OwnComment, Performed, PresentComment } from '../ports/forge.ts'
import { findOwnComment, findOwnComments, forgetComments, type CommentReader } from './read-comments.ts'

/**
 * Milliseconds. Whoever is silent for less is not taken for dead, so nobody else did its work since (app/serve.ts: it takes
 * twelve seconds). What was read longer ago is read again: a request, where otherwise people could see two comments.
 */
const longestPause = 5000

type PutComment = Extract<Action, { kind: 'put-comment' }>

/** Rejects with what Octokit rejects with. */
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
    // Somebody took it away since it was read.
    forgetComments(reader, pull)
  }
  const made = await create(reader, pull, body)
  // However long this process stood still, wherever it was: it knows by now.
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

/** Undefined where it is not there any more. */
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

/** Whoever wrote first is who took over: what it says is newer than what was read before the pause. */
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
