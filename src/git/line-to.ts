// The commits of a head that stands on its base in one straight line, as most heads do: what merge-base and rev-list say of
// them, without starting either. Of every other history git is asked.
import type { CommitSha } from '../change/ids.ts'
import { readCommit } from './commits.ts'
import { isGitError } from './git-error.ts'
import type { Objects } from './object-reader.ts'

/** Reading one costs a way to git and back. */
const mostCommits = 32

/**
 * From `head` down to, and without, `base`, newest first; none where they are the same. Each has the next as its only parent,
 * the last one `base`: so `base` is the best common ancestor, and these are all that the head has beyond it. Undefined where
 * no such line of a few commits leads there.
 */
export async function lineTo(
  objects: Objects,
  head: CommitSha,
  base: CommitSha,
): Promise<readonly CommitSha[] | undefined> {
  const line: CommitSha[] = []
  try {
    for (let at = head; at !== base;) {
      if (line.length === mostCommits) return undefined
      line.push(at)
      const { parents } = await readCommit(objects, at)
      const [parent, ...more] = parents
      if (parent === undefined || more.length > 0) return undefined
      at = parent
    }
  } catch (error) {
    // What is wrong with it is git's to say.
    if (isGitError(error)) return undefined
    throw error
  }
  return line
}
