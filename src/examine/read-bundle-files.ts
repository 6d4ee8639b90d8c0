// The files of bundle directories in a tree of git: which there are, what tells one directory's content from another's, and
// their bytes, within a budget.
import type { BundleFiles } from '../bundle/bundle-files.ts'
import type { ListedEntry } from '../change/path-change.ts'
import { isGitError } from '../git/git-error.ts'
import type { ReadTree } from '../ports/repository.ts'
import { TooLarge } from './looks/look-budget.ts'

/** Of all touched bundles together: judging a megabyte takes about a tenth of a second. The largest public release has 3 MB. */
export const mostTouchedBytes = 128 * 1024 * 1024
/** One file of a bundle; the API server takes no object beyond a hundredth of this. */
const largestFile = 16 * 1024 * 1024
/** Files that are asked for in one go: each way to git and back costs more than a small file. */
const readAtOnce = 8
/** Files of a bundle's directory; links and submodules are the ownership check's to refuse. */
export function bundleEntries(entries: readonly ListedEntry[], root: string): readonly ListedEntry[] {
  return entries.filter(({ path, mode }) => path.startsWith(`${root}/`) && mode.startsWith('100'))
}

export const hasManifest = (entries: readonly ListedEntry[], root: string): boolean =>
  entries.some(({ path }) => path.startsWith(`${root}/manifests/`))

/** What is in a directory, as text: the same wherever the directory lies. A name may hold anything, line ends too. */
export function contentKey(entries: readonly ListedEntry[], root: string): string {
  return JSON.stringify(entries.map(({ path, oid }) => [oid, path.slice(root.length + 1)]))
}

export async function readFiles(
  repository: ReadTree,
  entries: readonly ListedEntry[],
  root: string,
  budget: { left: number },
): Promise<BundleFiles> {
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at < entries.length; at += readAtOnce) {
    const read = await Promise.all(
      entries
        .slice(at, at + readAtOnce)
        .map(async ({ path, oid }) => [path, await readOne(repository, oid, path)] as const),
    )
    for (const [path, bytes] of read) {
      budget.left -= bytes.length
      if (budget.left < 0)
        throw new TooLarge(
          `its bundle directories have more than ${Math.floor(mostTouchedBytes / 1024 / 1024)} MB together`,
        )
      files.set(path.slice(root.length + 1), bytes)
    }
  }
  return files
}

async function readOne(repository: ReadTree, oid: ListedEntry['oid'], path: string): Promise<Uint8Array> {
  try {
    return await repository.read(oid, largestFile)
  } catch (error) {
    if (isGitError(error, 'too-large'))
      throw new TooLarge(`${path} has more than ${largestFile / 1024 / 1024} MB`)
    throw error
  }
}
