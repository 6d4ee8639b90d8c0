// Reads a commit's tree, parents and time. Author and signature prove nothing and stay unread; only our own messages
// are read.
import { toCommitSha, toTreeSha, type CommitSha, type TreeSha } from '../../pull-request/ids.ts'
import { GitError } from './git-error.ts'
import type { GitObjectReader } from './object-reader.ts'

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
