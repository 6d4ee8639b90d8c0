// Where a symbolic link of a tree leads, as the system follows it on a checkout: part by part, through links to
// directories too. Looks only into the same tree.
import type { BlobSha, TreeSha } from '../../change/ids.ts'
import { isGitError } from '../../git/git-error.ts'
import { decodePath } from '../../git/path-text.ts'
import type { ReadTree } from '../../ports/repository.ts'

export interface LinkedFile {
  /** The file at the link's end; undefined where the tree has none: a directory, nothing, or a place outside of it. */
  readonly file?: BlobSha
  /** Whether the way leads through a place outside the catalog. */
  readonly leadsOut: boolean
  /** Why there is no file, in Go's words. */
  readonly error?: LinkError
}

export type LinkError =
  'no such file or directory' | 'not a directory' | 'is a directory' | 'too many levels of symbolic links'

/** Where a path ends when every link on its way is followed. */
export interface PathEnd {
  /** The path without any link; undefined for a place outside the tree and for a circle. */
  readonly path?: string
  /** The file there, if one is. */
  readonly file?: BlobSha
  /** Places of the links on the way. */
  readonly links: readonly string[]
  /** Absent for a file. A directory has one too. */
  readonly error?: LinkError
}

const linkMode = '120000'
/** As many links as Linux follows. */
const mostLinks = 40
/** Linux takes no longer path, and makes no such link on a checkout. */
const longestTarget = 4095
/** Parts of paths that are looked at for one link. A link of sense has a dozen; forty of the longest have a hundred thousand. */
const mostParts = 400

/** Follows the link at `path`, whose text is the blob `link`. */
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

/** Where a path of the tree ends, whose own parts may be links. */
export async function pathEnd(repository: ReadTree, tree: TreeSha, path: string): Promise<PathEnd> {
  return follow(repository, tree, { at: [], links: [], left: path.split('/') })
}

const tooMany = 'too many levels of symbolic links'
const nothing = 'no such file or directory'

interface Way {
  /** A directory without links above it. */
  readonly at: readonly string[]
  readonly links: readonly string[]
  /** What is still to be walked from there; undefined for a target that leads nowhere in this tree. */
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
      // Above what is not there is nothing, though a text without the two parts would lead on.
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
    // A slash behind a file demands a directory, whatever follows.
    return left.length === 0
      ? { path: here, file: entry.oid, links }
      : { path: here, links, error: 'not a directory' }
  }
  const path = at.join('/')
  const isDirectory = path === '' || (await repository.list(tree, path)).length > 0
  return { path, links, error: isDirectory ? 'is a directory' : nothing }
}

/** The parts of a link's text; undefined where it leads out of every checkout, or could not stand in one. */
async function targetOf(repository: ReadTree, link: BlobSha): Promise<readonly string[] | undefined> {
  try {
    const bytes = await repository.read(link, longestTarget)
    // The system takes the text up to its first NUL.
    const end = bytes.indexOf(0)
    const target = decodePath(end < 0 ? bytes : bytes.subarray(0, end))
    return target === '' || target.startsWith('/') ? undefined : target.split('/')
  } catch (error) {
    if (isGitError(error, 'too-large')) return undefined
    throw error
  }
}
