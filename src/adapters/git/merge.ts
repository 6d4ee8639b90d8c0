// Merges a head into a base without a working tree and creates the merge commit to push. Changes no ref.
//
// Renames are not followed. If the base moved a file, following the rename would apply a pull request's change to a file
// that the pull request does not mention (T14), which reviewers would not expect. What git calls
// a renamed file is then changed on one side and deleted on the other. That is a conflict, so the author rebases.
// Git before 2.50 cannot disable exact renames, so every merge is compared with the plain three-way
// rule afterwards, path by path (check-three-way-merge.ts). Attributes in the tree have no effect in a bare mirror.
import { toCommitSha, type CommitSha, type TreeSha } from '../../pull-request/ids.ts'
import type { MergeResult } from '../../ports/repository.ts'
import { GitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { GitObjects } from './object-reader.ts'
import { parseMergeTree } from './parse-output.ts'
import { findUnexpectedPaths, type DiffTrees } from './check-three-way-merge.ts'
import { readCommit } from './commits.ts'
import { readLinearHistory } from './linear-history.ts'
import type { TreeListings } from './listings.ts'
import { writeCommit } from './write-commit.ts'

export interface CommitIdentity {
  readonly name: string
  readonly email: string
}

/** Throws GitError `refused` when git would have to change a signature to write it. */
export function requireValidIdentity(signature: CommitIdentity): CommitIdentity {
  for (const part of [signature.name, signature.email])
    if (
      !/^[^\s<>\u0000-\u001f](?:[^<>\u0000-\u001f]*[^\s<>\u0000-\u001f])?$/.test(part) ||
      /^[.,:;"']|[.,:;"']$/.test(part)
    )
      throw new GitError('refused', `not a valid name or email address for a commit: ${JSON.stringify(part)}`)
  return signature
}

export interface MergeTools {
  readonly git: LocalGit
  readonly objects: GitObjects
  readonly diff: DiffTrees
  readonly isWellWritten: TreeListings['isWellWritten']
  readonly directory: string
  readonly signature: CommitIdentity
}

/** See GitRepository.merge. Rejects with GitError `missing` when one of the commits is not here. */
export async function mergeCommits(
  tools: MergeTools,
  base: CommitSha,
  head: CommitSha,
  message: string,
): Promise<MergeResult> {
  if (message.includes('\0') || !message.isWellFormed())
    throw new GitError('refused', 'a commit message must not contain NUL or invalid characters')
  const { git, objects, diff, directory, signature } = tools
  const [ours, theirs] = await Promise.all([readCommit(objects, base), readCommit(objects, head)])
  const line = await readLinearHistory(objects, head, base)
  const bases = line === undefined ? await findMergeBases(git, base, head) : [base]
  if (bases.includes(head)) return { kind: 'nothing' }
  if (bases.length === 0) return { kind: 'conflict', paths: [], reason: 'unrelated-histories' }

  const date = computeMergeDate(ours.time, theirs.time)
  const by = `${signature.name} <${signature.email}> ${date} +0000`
  const write = (tree: TreeSha) => writeCommit(directory, { tree, parents: [base, head], by, message })
  // Only the head changed since then: git would take its tree, if git would write it that way.
  if (bases[0] === base && (await tools.isWellWritten(ours.tree, theirs.tree)))
    return { kind: 'clean', commit: await write(theirs.tree), tree: theirs.tree }

  const merged = await git(
    ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options', base, head],
    { answers: [0, 1] },
  )
  const { tree, conflicted } = parseMergeTree(merged.stdout)
  if (merged.code === 1) return { kind: 'conflict', paths: conflicted, reason: 'content' }
  const ancestors = await Promise.all(bases.map(async (id) => (await readCommit(objects, id)).tree))
  const astray = await findUnexpectedPaths(diff, {
    ancestors,
    base: ours.tree,
    head: theirs.tree,
    result: tree,
  })
  if (astray.length > 0) return { kind: 'conflict', paths: astray, reason: 'rename' }
  return { kind: 'clean', commit: await write(tree), tree }
}

/** Sorted: none for unrelated histories, several after criss-cross merges. */
async function findMergeBases(
  git: LocalGit,
  base: CommitSha,
  head: CommitSha,
): Promise<readonly CommitSha[]> {
  const { stdout } = await git(['merge-base', '--all', base, head], { answers: [0, 1] })
  return stdout.toString('latin1').split('\n').filter(Boolean).map(toCommitSha)
}

const yearSeconds = 366 * 24 * 3600

/**
 * Derived from the parents, so that equal merges are equal commits. The later date counts, but a head's date at most a
 * year after the base's.
 */
export function computeMergeDate(base: number, head: number): number {
  return Math.max(base, Math.min(head, base + yearSeconds))
}
