// Reads a commit's tree, parents and time. Author and signature prove nothing and stay unread; only our own messages
// are read.
import { toCommitSha, toTreeSha, type CommitSha, type TreeSha } from '../../pull-request/ids.ts'
import { GitError, isGitError } from './git-error.ts'
import type { GitObjectReader } from './object-reader.ts'
import type { LocalGit } from './run-git.ts'

/** Each read is a round trip to git. */
const maxLinearHistoryCommits = 32

export interface CommitMetadata {
  readonly tree: TreeSha
  readonly parents: readonly CommitSha[]
  /** Committer time, seconds since the epoch; 0 when unreadable. */
  readonly time: number
}

/** Ample: no sensible commit has a megabyte of headers and message. */
const maxCommitBytes = 4 * 1024 * 1024

/** Rejects with GitError `missing` when it isn't here or isn't a commit. */
export async function readCommitMessage(objects: GitObjectReader, id: CommitSha): Promise<string> {
  const { type, bytes } = await objects.read(id, maxCommitBytes)
  if (type !== 'commit') throw new GitError('missing', `object ${id} is a ${type}, not a commit`)
  const end = bytes.indexOf('\n\n')
  return end < 0 ? '' : bytes.toString('utf8', end + 2)
}

/** Rejects with GitError `missing` when it isn't here or isn't a commit. */
export async function readCommit(objects: GitObjectReader, id: CommitSha): Promise<CommitMetadata> {
  const { type, bytes } = await objects.read(id, maxCommitBytes)
  if (type !== 'commit') throw new GitError('missing', `object ${id} is a ${type}, not a commit`)
  const text = bytes.toString('latin1')
  const headers = text.slice(0, Math.max(text.indexOf('\n\n'), 0)).split('\n')
  const tree = /^tree ([0-9a-f]+)$/.exec(headers[0] ?? '')?.[1]
  if (tree === undefined) throw new GitError('corrupt', `commit ${id} has no tree`)
  const parents: CommitSha[] = []
  for (const line of headers.slice(1)) {
    const parent = /^parent ([0-9a-f]+)$/.exec(line)?.[1]
    if (parent === undefined) break
    parents.push(toCommitSha(parent))
  }
  const committer = headers.find((line) => line.startsWith('committer '))
  const time = Number(/> ?(\d{1,15}) [+-]\d+$/.exec(committer ?? '')?.[1] ?? 0)
  return { tree: toTreeSha(tree), parents, time }
}

/** The best common ancestors, sorted: none for unrelated commits, several after criss-cross merges. */
export async function findMergeBases(
  git: LocalGit,
  one: CommitSha,
  other: CommitSha,
): Promise<readonly CommitSha[]> {
  const { stdout } = await git(['merge-base', '--all', one, other], { answers: [0, 1] })
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()
    .map(toCommitSha)
}

/** Whether a commit is on the first-parent chain of `tip`. Commits that a merge brought in were never the tip. */
export async function isOnFirstParentChain(
  git: LocalGit,
  tip: CommitSha,
  commit: CommitSha,
): Promise<boolean> {
  if (tip === commit) return true
  const range = ['--first-parent', '--parents', tip, `^${commit}`]
  const { stdout } = await git(['rev-list', ...range])
  const [, parent] = stdout.toString('latin1').trimEnd().split('\n').at(-1)?.split(' ') ?? []
  return parent === commit
}

/** See GitRepository.firstParents. */
export async function listFirstParentChain(
  git: LocalGit,
  tip: CommitSha,
  since: CommitSha,
): Promise<readonly CommitSha[]> {
  const { stdout } = await git(['rev-list', '--first-parent', '--max-count=1000', tip, `^${since}`])
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map(toCommitSha)
}

/**
 * From `head` down to `base` exclusive, newest first. Each commit has the next as its only parent and the last has
 * `base`, so `base` is the best common ancestor. Undefined: no such short line.
 */
export async function readLinearHistory(
  objects: GitObjectReader,
  head: CommitSha,
  base: CommitSha,
): Promise<readonly CommitSha[] | undefined> {
  const line: CommitSha[] = []
  try {
    for (let at = head; at !== base;) {
      if (line.length === maxLinearHistoryCommits) return undefined
      line.push(at)
      const { parents } = await readCommit(objects, at)
      const [parent, ...more] = parents
      if (parent === undefined || more.length > 0) return undefined
      at = parent
    }
  } catch (error) {
    // Let git report the error.
    if (isGitError(error)) return undefined
    throw error
  }
  return line
}
