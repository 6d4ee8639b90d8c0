// Comments on lines of a pull request's diff. GitHub accepts them only on lines in the diff, and rejects a whole
// review if one comment is on another line.
import { runGitForText, findMergeBase } from './git/git-store.ts'
import { GitHubApiError } from './http/route.ts'
import type { MockAccount, MockPull, MockReview, MockReviewComment } from './github-data.ts'

export interface DraftReviewComment {
  readonly path: string
  readonly body: string
  readonly line?: number
  readonly side?: string
  readonly start_line?: number
  readonly start_side?: string
}

interface DiffHunk {
  readonly first: number
  readonly last: number
  readonly text: string
}

/** The positions of the drafts. Throws GitHub's error if one of them is not on a line in the diff. */
export async function readDraftCommentDiffHunks(
  pull: MockPull,
  sha: string,
  drafts: readonly DraftReviewComment[],
): Promise<readonly string[]> {
  const hunks: string[] = []
  for (const { path, line, side = 'RIGHT', start_line: start = line } of drafts) {
    const shown = await readDiffHunks(pull, sha, path)
    const hunk = shown.find(
      ({ first, last }) => line !== undefined && start !== undefined && start >= first && line <= last,
    )
    if (hunk === undefined || side !== 'RIGHT' || line === undefined || start === undefined || start > line)
      throw new GitHubApiError(422, 'Unprocessable Entity', ['Line could not be resolved'])
    hunks.push(hunk.text)
  }
  return hunks
}

export function addReviewComments(
  pull: MockPull,
  review: MockReview,
  drafts: readonly DraftReviewComment[],
  hunks: readonly string[],
): void {
  const { github } = pull.repo
  const at = github.timestamp()
  drafts.forEach(({ path, body, line = 0, start_line: startLine = null }, index) => {
    pull.reviewComments.push({
      ...{ id: github.nextId(), review: review.id, author: review.author, body, path, line, startLine },
      ...{ sha: review.sha, hunk: hunks[index] ?? '', replyTo: null, createdAt: at, updatedAt: at },
      isMinimized: false,
    })
  })
  pull.updatedAt = at
}

/** A user replies to a comment. */
export function replyToReviewComment(
  pull: MockPull,
  comment: MockReviewComment,
  author: MockAccount,
  body: string,
): void {
  const { github } = pull.repo
  const at = github.timestamp()
  const reply = { id: github.nextId(), author, body, replyTo: comment.id, createdAt: at, updatedAt: at }
  pull.reviewComments.push({ ...comment, ...reply, isMinimized: false })
}

/** A review without a body is deleted with its last comment. */
export function removeReviewComment(pull: MockPull, comment: MockReviewComment): void {
  pull.reviewComments = pull.reviewComments.filter((it) => it !== comment)
  if (!pull.reviewComments.some((it) => it.review === comment.review))
    pull.reviews = pull.reviews.filter((it) => it.id !== comment.review || it.body !== '')
}

/** The line in the head, or null if that line has changed. GitHub then marks the comment as outdated. */
export async function findCurrentCommentLine(
  pull: MockPull,
  { sha, path, line }: MockReviewComment,
): Promise<number | null> {
  if (sha === pull.headSha) return line
  const blob = (commit: string) =>
    runGitForText(pull.repo.path, 'rev-parse', `${commit}:${path}`).catch(() => '')
  return (await blob(sha)) === (await blob(pull.headSha)) ? line : null
}

/** The lines of the new file that the diff of a pull request shows, hunk by hunk. */
async function readDiffHunks(pull: MockPull, sha: string, path: string): Promise<readonly DiffHunk[]> {
  const mergeBaseSha = await findMergeBase(pull.repo.path, pull.baseSha, sha)
  if (mergeBaseSha === undefined) return []
  const diff = await runGitForText(
    pull.repo.path,
    'diff',
    '--unified=3',
    '--no-renames',
    mergeBaseSha,
    sha,
    '--',
    path,
  )
  return diff
    .split(/^(?=@@ )/m)
    .slice(1)
    .map((text) => {
      const [, first = '0', count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(text) ?? []
      return { first: Number(first), last: Number(first) + Number(count) - 1, text }
    })
}
