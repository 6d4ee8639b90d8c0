// Where a symbolic link of a tree leads, as opm follows it on a checkout. Looks only into the same tree.
import { posix } from 'node:path'
import type { BlobSha, TreeSha } from '../change/ids.ts'
import type { ReadTree } from '../ports/repository.ts'

export interface LinkedFile {
  /** The file at the link's end; undefined where the tree has none: a directory, nothing, or a place outside of it. */
  readonly file?: BlobSha
  /** Whether the way leads through a place outside the catalog. */
  readonly leadsOut: boolean
  /** Go's words for a link that leads in a circle. */
  readonly circles?: true
}

const linkMode = '120000'
/** As many as Linux follows. */
const mostSteps = 40
/** Linux takes no longer path. */
const longestTarget = 4096

/** Follows the link at `path`, whose text is the blob `link`. Links in the middle of a path are not followed: that is nothing. */
export async function linkedFile(
  repository: ReadTree,
  tree: TreeSha,
  root: string,
  path: string,
  link: BlobSha,
): Promise<LinkedFile> {
  let leadsOut = false
  let [at, oid] = [path, link]
  for (let step = 0; step < mostSteps; step++) {
    const target = new TextDecoder().decode((await repository.read(oid)).subarray(0, longestTarget))
    const next = posix.normalize(posix.join(posix.dirname(at), target))
    if (target.startsWith('/') || next === '..' || next.startsWith('../')) return { leadsOut: true }
    if (root !== '' && next !== root && !next.startsWith(`${root}/`)) leadsOut = true
    const found = await repository.entry(tree, next)
    if (found === undefined) return { leadsOut }
    if (found.mode !== linkMode)
      return found.mode.startsWith('100') ? { file: found.oid, leadsOut } : { leadsOut }
    at = next
    oid = found.oid
  }
  return { leadsOut, circles: true }
}
