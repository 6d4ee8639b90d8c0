// Resolves a symbolic link like a checkout's operating system: by segment, through links, within the tree.
import type { PathChange, TreePathEntry } from '../pull-request/change.ts'
import type { BlobSha, TreeSha } from '../pull-request/ids.ts'
import { createPathListFilter } from '../pull-request/incremental-path-list.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import { decodePath } from '../adapters/git/parse-output.ts'
import type { TreeReader } from '../ports/repository.ts'

export interface ResolvedSymlink {
  /** Undefined for a directory, a missing file or a place outside the tree. */
  readonly file?: BlobSha
  readonly leadsOut: boolean
  /** In Go's words. */
  readonly error?: SymlinkError
}

export type SymlinkError =
  'no such file or directory' | 'not a directory' | 'is a directory' | 'too many levels of symbolic links'

export interface ResolvedTreePath {
  /** The path without any link; undefined outside the tree and for a cycle. */
  readonly path?: string
  readonly file?: BlobSha
  readonly links: readonly string[]
  /** Absent for a file. */
  readonly error?: SymlinkError
}

export const gitSymlinkMode = '120000'
/** Linux follows as many. */
const maxSymlinksFollowed = 40
/** The limit of Linux for paths in bytes. */
const maxLinkTargetBytes = 4095
/** Limit of path parts for one link. Real links have a dozen; forty of the longest have a hundred thousand. */
const maxPathSegmentsPerSymlink = 400

export async function resolveSymlinkedFile(
  repository: TreeReader,
  tree: TreeSha,
  root: string,
  path: string,
  link: BlobSha,
): Promise<ResolvedSymlink> {
  const above = path.split('/').slice(0, -1)
  const end = await walkPathInTree(repository, tree, {
    at: above,
    links: [path],
    left: await readSymlinkTarget(repository, link),
  })
  const isInside = (candidate: string) =>
    root === '' || candidate === root || candidate.startsWith(`${root}/`)
  const leadsOut =
    end.path === undefined && end.error !== tooManySymlinksError
      ? true
      : ![...end.links, end.path ?? root].every(isInside)
  return { leadsOut, ...(end.file && { file: end.file }), ...(end.error && { error: end.error }) }
}

/** Where a path ends when its links are followed. */
export async function resolveTreePath(
  repository: TreeReader,
  tree: TreeSha,
  path: string,
): Promise<ResolvedTreePath> {
  return walkPathInTree(repository, tree, { at: [], links: [], left: path.split('/') })
}

const tooManySymlinksError = 'too many levels of symbolic links'
const fileNotFoundError = 'no such file or directory'

interface TreeWalkPosition {
  readonly at: readonly string[]
  readonly links: readonly string[]
  /** The parts still to walk; undefined for a target outside this tree. */
  readonly left: readonly string[] | undefined
}

async function walkPathInTree(
  repository: TreeReader,
  tree: TreeSha,
  position: TreeWalkPosition,
): Promise<ResolvedTreePath> {
  const at = [...position.at]
  const links = [...position.links]
  if (position.left === undefined) return { links, error: fileNotFoundError }
  let left = position.left
  for (let parts = 0; left.length > 0; parts++) {
    if (parts >= maxPathSegmentsPerSymlink) return { links, error: tooManySymlinksError }
    const [part = '', ...rest] = left
    left = rest
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (at.length === 0) return { links, error: fileNotFoundError }
      // `..` behind a missing directory fails on a real file system, so it is not simplified away.
      if ((await repository.list(tree, at.join('/'))).length === 0)
        return { links, path: at.join('/'), error: fileNotFoundError }
      at.pop()
      continue
    }
    const here = [...at, part].join('/')
    const entry = await repository.entry(tree, here)
    if (entry?.mode === gitSymlinkMode) {
      links.push(here)
      if (links.length > maxSymlinksFollowed) return { links, error: tooManySymlinksError }
      const target = await readSymlinkTarget(repository, entry.oid)
      if (target === undefined) return { links, error: fileNotFoundError }
      left = [...target, ...left]
      continue
    }
    at.push(part)
    if (entry?.mode.startsWith('100') !== true) continue
    // A slash after a file requires a directory.
    return left.length === 0
      ? { path: here, file: entry.oid, links }
      : { path: here, links, error: 'not a directory' }
  }
  const path = at.join('/')
  const isDirectory = path === '' || (await repository.list(tree, path)).length > 0
  return { path, links, error: isDirectory ? 'is a directory' : fileNotFoundError }
}

/** Undefined for a link that leaves every checkout or cannot exist in one. */
async function readSymlinkTarget(
  repository: TreeReader,
  link: BlobSha,
): Promise<readonly string[] | undefined> {
  const bytes = await catchTooLarge(repository.read(link, maxLinkTargetBytes))
  if (bytes === undefined) return undefined
  // The system ends the text at its first NUL.
  const end = bytes.indexOf(0)
  const target = decodePath(end < 0 ? bytes : bytes.subarray(0, end))
  return target === '' || target.startsWith('/') ? undefined : target.split('/')
}

export const filterSymlinkEntries = createPathListFilter<TreePathEntry>(({ mode }) => mode === '120000')

export interface ChangedSymlinksInput {
  readonly base: TreeSha
  readonly entries: readonly TreePathEntry[]
  readonly result: TreeSha
  readonly differing: ReadonlySet<string>
}

/**
 * Finds files that change although their own entries don't: symbolic links on the base branch that lead to changed
 * files. New or edited links are ordinary differing paths, which the checks reject (T07). Sorted by path.
 */
export async function findChangedSymlinks(
  repository: TreeReader,
  { base, entries, result, differing }: ChangedSymlinksInput,
): Promise<readonly PathChange[]> {
  if (differing.size === 0) return []
  const changes: PathChange[] = []
  for (const { path, oid } of filterSymlinkEntries(entries)) {
    if (differing.has(path)) continue
    const before = await resolveSymlinkedFile(repository, base, '', path, oid)
    const after = await resolveSymlinkedFile(repository, result, '', path, oid)
    if (before.file === after.file) continue
    changes.push({
      path,
      ...(before.file && { before: { mode: '100644', oid: before.file } }),
      ...(after.file && { after: { mode: '100644', oid: after.file } }),
    })
  }
  return changes
}
