// Keeps our one comment on a pull request, even if another process took over while this one was paused.
import type { PullNumber } from '../../pull-request/ids.ts'
import type { ForgeAction, BotComment, ForgeActionResult, ObservedBotComment } from '../../ports/forge.ts'
import { findBotComment, findBotComments, dropCachedComments, type CommentReader } from './read-comments.ts'

/**
 * Milliseconds. A shorter pause can't lead to a takeover, which takes twelve seconds (server/serve.ts). After a longer
 * one, the comment is read again to avoid a duplicate.
 */
const maxCommentReadAgeMs = 5000

type PutCommentAction = Extract<ForgeAction, { kind: 'put-comment' }>

/** Rejects with Octokit's errors. */
export async function putComment(
  reader: CommentReader,
  { pull, body, present }: PutCommentAction,
): Promise<ForgeActionResult> {
  const known =
    present !== undefined && !isCommentReadStale(present, reader)
      ? present
      : await readObservedBotComment(reader, pull)
  const { comment } = known
  if (known.duplicates !== undefined) await deleteComments(reader, known.duplicates)
  if (comment?.body === body) return { updatedAt: comment.updatedAt }
  if (comment !== undefined) {
    const edited = await editComment(reader, comment, body)
    if (edited !== undefined) return edited
    // It was deleted since the read.
    dropCachedComments(reader, pull)
  }
  const made = await createComment(reader, pull, body)
  // This process may have been paused, so check for a duplicate.
  return isCommentReadStale(known, reader)
    ? deleteDuplicateComments(reader, pull, made)
    : { updatedAt: made.updatedAt }
}

const isCommentReadStale = ({ readAt }: ObservedBotComment, reader: CommentReader): boolean =>
  getMonotonicNow(reader) - readAt > maxCommentReadAgeMs

const getMonotonicNow = ({ monotonic }: CommentReader): number => monotonic?.() ?? performance.now()

async function readObservedBotComment(reader: CommentReader, pull: PullNumber): Promise<ObservedBotComment> {
  const readAt = getMonotonicNow(reader)
  const comment = await findBotComment(reader, pull)
  return { readAt, ...(comment && { comment }) }
}

/** Undefined: it no longer exists. */
async function editComment(
  { octokit, repository }: CommentReader,
  { id }: BotComment,
  body: string,
): Promise<ForgeActionResult | undefined> {
  const target = { owner: repository.owner, repo: repository.name }
  try {
    const { data } = await octokit.rest.issues.updateComment({ ...target, comment_id: id, body })
    return { updatedAt: data.updated_at }
  } catch (error) {
    if ((error as { status?: unknown }).status !== 404) throw error
    return undefined
  }
}

async function createComment(
  { octokit, repository }: CommentReader,
  pull: PullNumber,
  body: string,
): Promise<BotComment> {
  const target = { owner: repository.owner, repo: repository.name }
  const { data } = await octokit.rest.issues.createComment({ ...target, issue_number: pull, body })
  return { id: data.id, body, updatedAt: data.updated_at }
}

/** The first writer took over, so its report is newer than what was read before the pause. */
async function deleteDuplicateComments(
  reader: CommentReader,
  pull: PullNumber,
  made: BotComment,
): Promise<ForgeActionResult> {
  const [first, ...later] = await findBotComments(reader, pull)
  if (first === undefined || later.length === 0) return { updatedAt: made.updatedAt }
  await deleteComments(
    reader,
    later.map(({ id }) => id),
  )
  dropCachedComments(reader, pull)
  return first.body === made.body ? { updatedAt: first.updatedAt } : {}
}

async function deleteComments(
  { octokit, repository }: CommentReader,
  comments: readonly number[],
): Promise<void> {
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
