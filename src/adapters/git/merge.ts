// Merges a head into a base without a working tree and creates the merge commit to push. Changes no ref.
//
// Renames are not followed. If the base moved a file, following the rename would apply a pull request's change to a file
// that the pull request does not mention (T14), which reviewers would not expect. What git calls
// a renamed file is then changed on one side and deleted on the other. That is a conflict, so the author rebases.
// Git before 2.50 cannot disable exact renames, so every merge is compared with the plain three-way
// rule afterwards, path by path. Attributes in the tree have no effect in a bare mirror.
import { createHash } from 'node:crypto'
import { mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { toCommitSha, type CommitSha, type TreeSha } from '../../pull-request/ids.ts'
import type { GitMergeResult } from '../../ports/repository.ts'
import { GitError } from './git-error.ts'
import type { GitRunner } from './run-git.ts'
import type { GitObjectReader } from './object-reader.ts'
import { parseMergeTreeOutput } from './parse-output.ts'
import { readCommit, findMergeBases } from './commits.ts'
import type { TreeListingCache } from './listings.ts'
import type { PathChange, TreeEntry } from '../../pull-request/change.ts'

type TreeDiffFunction = (before: TreeSha, after: TreeSha) => Promise<readonly PathChange[]>

interface ThreeWayMergeTrees {
  /** Trees of the merge bases: several after criss-cross merges. */
  readonly ancestors: readonly TreeSha[]
  readonly base: TreeSha
  readonly head: TreeSha
  readonly result: TreeSha
}

type OptionalTreeEntry = TreeEntry | undefined

/** The required result for a path: exactly this entry, some file merged from both sides, or a conflict. */
type ExpectedMergeResult =
  { readonly kind: 'exactly'; readonly entry: OptionalTreeEntry } | { readonly kind: 'merged' | 'conflict' }

interface MergeCommitContent {
  readonly tree: TreeSha
  readonly parents: readonly CommitSha[]
  /** `Name <address> seconds +0000`, of author and committer. */
  readonly by: string
  readonly message: string
}

let tempFileCounter = 0

export interface CommitIdentity {
  readonly name: string
  readonly email: string
}

/** Throws GitError `refused` when git would have to change a signature to write it. */
export function requireValidCommitIdentity(signature: CommitIdentity): CommitIdentity {
  for (const part of [signature.name, signature.email])
    if (
      !/^[^\s<>\u0000-\u001f](?:[^<>\u0000-\u001f]*[^\s<>\u0000-\u001f])?$/.test(part) ||
      /^[.,:;"']|[.,:;"']$/.test(part)
    )
      throw new GitError('refused', `not a valid name or email address for a commit: ${JSON.stringify(part)}`)
  return signature
}

export interface GitMergeContext {
  readonly git: GitRunner
  readonly objects: GitObjectReader
  readonly diff: TreeDiffFunction
  readonly isWellWritten: TreeListingCache['isWellWritten']
  readonly directory: string
  readonly signature: CommitIdentity
}

/** See GitRepository.merge. Rejects with GitError `missing` when one of the commits is not here. */
export async function mergeCommits(
  tools: GitMergeContext,
  base: CommitSha,
  head: CommitSha,
  message: string,
): Promise<GitMergeResult> {
  if (message.includes('\0') || !message.isWellFormed())
    throw new GitError('refused', 'a commit message must not contain NUL or invalid characters')
  const { git, objects, diff, directory, signature } = tools
  const [ours, theirs] = await Promise.all([readCommit(objects, base), readCommit(objects, head)])
  const bases = await findMergeBases(tools, base, head)
  if (bases.includes(head)) return { kind: 'nothing' }
  if (bases.length === 0) return { kind: 'conflict', paths: [], reason: 'unrelated-histories' }

  const date = computeMergeCommitDate(ours.time, theirs.time)
  const by = `${signature.name} <${signature.email}> ${date} +0000`
  const write = (tree: TreeSha) => writeCommit(directory, { tree, parents: [base, head], by, message })
  // Only the head changed since then: git would take its tree, if git would write it that way.
  if (bases[0] === base && (await tools.isWellWritten(ours.tree, theirs.tree)))
    return { kind: 'clean', commit: await write(theirs.tree), tree: theirs.tree }

  const merged = await git(
    ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options', base, head],
    { answers: [0, 1] },
  )
  const { tree, conflicted } = parseMergeTreeOutput(merged.stdout)
  if (merged.code === 1) return { kind: 'conflict', paths: conflicted, reason: 'content' }
  const ancestors = await Promise.all(bases.map(async (id) => (await readCommit(objects, id)).tree))
  const astray = await findUnexpectedlyMergedPaths(diff, {
    ancestors,
    base: ours.tree,
    head: theirs.tree,
    result: tree,
  })
  if (astray.length > 0) return { kind: 'conflict', paths: astray, reason: 'rename' }
  return { kind: 'clean', commit: await write(tree), tree }
}

const maxHeadDateAfterBaseSeconds = 366 * 24 * 3600

/**
 * Derived from the parents, so that equal merges are equal commits. The later date counts, but a head's date at most a
 * year after the base's.
 */
export function computeMergeCommitDate(base: number, head: number): number {
  return Math.max(base, Math.min(head, base + maxHeadDateAfterBaseSeconds))
}

/** Writes it below `directory`, a bare repository. If the object already exists, only returns its id. */
export async function writeCommit(directory: string, commit: MergeCommitContent): Promise<CommitSha> {
  const { tree, parents, by, message } = commit
  const headers = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${by}`,
    `committer ${by}`,
  ]
  const body = Buffer.from(`${headers.join('\n')}\n\n${message}`)
  const object = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body])
  const id = createHash(tree.length === 64 ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex')
  await writeLooseGitObject(directory, id, object)
  return toCommitSha(id)
}

async function writeLooseGitObject(directory: string, id: string, object: Buffer): Promise<void> {
  const folder = join(directory, 'objects', id.slice(0, 2))
  const path = join(folder, id.slice(2))
  const now = new Date()
  try {
    // Cleanup keeps recent objects, so an object that is written again must count as recent.
    await utimes(path, now, now)
    return
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isAbsent) throw toGitError(error)
  }
  const temporary = join(folder, `tmp_obj_${process.pid}_${++tempFileCounter}`)
  try {
    // Creates only this folder, so that a deleted repository is not recreated here.
    await mkdir(folder).catch(async (error: unknown) => {
      if (!(await isDirectory(folder))) throw error
    })
    await writeFile(temporary, deflateSync(object), { mode: 0o444, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw toGitError(error)
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

function toGitError(cause: unknown): GitError {
  return new GitError('failed', 'a commit could not be written', { cause })
}

/** The paths at which the result differs from the plain merge, sorted. */
async function findUnexpectedlyMergedPaths(
  diff: TreeDiffFunction,
  merged: ThreeWayMergeTrees,
): Promise<readonly string[]> {
  // Only differences from the base are listed, so a path that is missing here is the same everywhere.
  const [result, head, ...ancestors] = await Promise.all(
    [merged.result, merged.head, ...merged.ancestors].map(
      async (tree) => new Map((await diff(merged.base, tree)).map((change) => [change.path, change])),
    ),
  )
  if (!result || !head) return []
  const paths = new Set([result, head, ...ancestors].flatMap((changes) => [...changes.keys()]))
  return [...paths]
    .filter((path) => {
      const base = [result, head, ...ancestors].find((changes) => changes.has(path))?.get(path)?.before
      const at = (changes: ReadonlyMap<string, PathChange>) => {
        const change = changes.get(path)
        return change ? change.after : base
      }
      const rules = ancestors.map((ancestor) => computeExpectedMergeResult(at(ancestor), base, at(head)))
      return !matchesExpectedMergeResults(at(result), rules)
    })
    .sort()
}

export function computeExpectedMergeResult(
  ancestor: OptionalTreeEntry,
  base: OptionalTreeEntry,
  head: OptionalTreeEntry,
): ExpectedMergeResult {
  if (isSameTreeEntry(head, ancestor) || isSameTreeEntry(head, base)) return { kind: 'exactly', entry: base }
  if (isSameTreeEntry(base, ancestor)) return { kind: 'exactly', entry: head }
  return base && head ? { kind: 'merged' } : { kind: 'conflict' }
}

/**
 * With one merge base, its rule applies. If several disagree, git first merges them into one, and the result may be
 * from either side or both. Like every result, it is authorized by its content.
 */
function matchesExpectedMergeResults(
  result: OptionalTreeEntry,
  rules: readonly ExpectedMergeResult[],
): boolean {
  const [first, ...others] = rules
  if (!first || others.some((rule) => !isSameExpectedMergeResult(rule, first))) return true
  switch (first.kind) {
    case 'exactly':
      return isSameTreeEntry(result, first.entry)
    case 'merged':
      return result !== undefined
    case 'conflict':
      return false
  }
}

function isSameExpectedMergeResult(a: ExpectedMergeResult, b: ExpectedMergeResult): boolean {
  return a.kind === 'exactly' && b.kind === 'exactly' ? isSameTreeEntry(a.entry, b.entry) : a.kind === b.kind
}

function isSameTreeEntry(a: OptionalTreeEntry, b: OptionalTreeEntry): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode
}
