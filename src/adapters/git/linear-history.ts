// The commits of a head in a straight line on its base, without starting merge-base and rev-list. Other histories are
// left to git.
import type { CommitSha } from '../../pull-request/ids.ts'
import { readCommit } from './commits.ts'
import { isGitError } from './git-error.ts'
import type { GitObjectReader } from './object-reader.ts'

/** Each read is a round trip to git. */
const maxLinearHistoryCommits = 32

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
