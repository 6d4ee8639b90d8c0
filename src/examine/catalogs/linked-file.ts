// Resolves a symbolic link of a tree as the system does on a checkout, part by part and through links to directories.
// Stays within the tree.
import type { BlobSha, TreeSha } from '../../change/ids.ts'
import { isGitError } from '../../git/git-error.ts'
import { decodePath } from '../../git/path-text.ts'
import type { ReadTree } from '../../ports/repository.ts'

export interface LinkedFile {
  /** Undefined for a directory, a missing file or a place outside the tree. */
  readonly file?: BlobSha
  readonly leadsOut: boolean
  /** In Go's words. */
  readonly error?: LinkError
}

export type LinkError =
  'no such file or directory' | 'not a directory' | 'is a directory' | 'too many levels of symbolic links'

export interface PathEnd {
  /** The path without any link; undefined outside the tree and for a cycle. */
  readonly path?: string
  readonly file?: BlobSha
  readonly links: readonly string[]
  /** Absent for a file. */
  readonly error?: LinkError
}

const linkMode = '120000'
/** Linux follows as many. */
const mostLinks = 40
/** The limit of Linux for paths in bytes. */
const longestTarget = 4095
/**
 * Limit of path parts for one link. Real links have a dozen; forty links of the longest kind have a hundred thousand.
 */
const mostParts = 400

export async function linkedFile(
  repository: ReadTree,
  tree: TreeSha,
  root: string,
  path: string,
  link: BlobSha,
): Promise<LinkedFile> {
  const above = path.split('/').slice(0, -1)
  const end = await follow(repository, tree, {
    at: above,
    links: [path],
    left: await targetOf(repository, link),
  })
  const isInside = (place: string) => root === '' || place === root || place.startsWith(`${root}/`)
  const leadsOut =
    end.path === undefined && end.error !== tooMany ? true : ![...end.links, end.path ?? root].every(isInside)
  return { leadsOut, ...(end.file && { file: end.file }), ...(end.error && { error: end.error }) }
}

/** Where a path ends when its links are followed. */
export async function pathEnd(repository: ReadTree, tree: TreeSha, path: string): Promise<PathEnd> {
  return follow(repository, tree, { at: [], links: [], left: path.split('/') })
}

const tooMany = 'too many levels of symbolic links'
const nothing = 'no such file or directory'

interface Way {
  readonly at: readonly string[]
  readonly links: readonly string[]
  /** The parts still to walk; undefined for a target outside this tree. */
  readonly left: readonly string[] | undefined
}

async function follow(repository: ReadTree, tree: TreeSha, way: Way): Promise<PathEnd> {
  const at = [...way.at]
  const links = [...way.links]
  if (way.left === undefined) return { links, error: nothing }
  let left = way.left
  for (let parts = 0; left.length > 0; parts++) {
    if (parts >= mostParts) return { links, error: tooMany }
    const [part = '', ...rest] = left
    left = rest
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (at.length === 0) return { links, error: nothing }
      // `..` behind a missing directory fails on a real file system, so it is not simplified away.
      if ((await repository.list(tree, at.join('/'))).length === 0)
        return { links, path: at.join('/'), error: nothing }
      at.pop()
      continue
    }
    const here = [...at, part].join('/')
    const entry = await repository.entry(tree, here)
    if (entry?.mode === linkMode) {
      links.push(here)
      if (links.length > mostLinks) return { links, error: tooMany }
      const target = await targetOf(repository, entry.oid)
      if (target === undefined) return { links, error: nothing }
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
  return { path, links, error: isDirectory ? 'is a directory' : nothing }
}

/** Undefined for a link that leaves every checkout or cannot exist in one. */
async function targetOf(repository: ReadTree, link: BlobSha): Promise<readonly string[] | undefined> {
  try {
    const bytes = await repository.read(link, longestTarget)
    // The system ends the text at its first NUL.
    const end = bytes.indexOf(0)
    const target = decodePath(end < 0 ? bytes : bytes.subarray(0, end))
    return target === '' || target.startsWith('/') ? undefined : target.split('/')
  } catch (error) {
    if (isGitError(error, 'too-large')) return undefined
    throw error
  }
}
