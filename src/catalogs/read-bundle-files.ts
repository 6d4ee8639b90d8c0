import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import type { TreePathEntry } from '../pull-request/change.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import type { TreeReader } from '../ports/repository.ts'
import { ChangeTooLargeError } from './evaluation-budget.ts'

/** Limit for all touched bundles. A megabyte takes about a tenth of a second; the largest public release has 3 MB. */
export const maxTouchedBundleBytes = 128 * 1024 * 1024
/** Per file. The API server's limit for an object is a hundredth of this. */
const maxBundleFileBytes = 16 * 1024 * 1024
/** Batched because each round trip to git costs more than a small file. */
const maxParallelBundleFileReads = 8
/** Excludes links and submodules, which the ownership check rejects. */
export function filterEntriesInBundleDirectory(
  entries: readonly TreePathEntry[],
  root: string,
): readonly TreePathEntry[] {
  return entries.filter(({ path, mode }) => path.startsWith(`${root}/`) && mode.startsWith('100'))
}

export const hasManifestsDirectory = (entries: readonly TreePathEntry[], root: string): boolean =>
  entries.some(({ path }) => path.startsWith(`${root}/manifests/`))

/**
 * Identifies a directory's content regardless of its location. Names may contain any character, including line breaks.
 */
export function computeDirectoryContentKey(entries: readonly TreePathEntry[], root: string): string {
  return JSON.stringify(entries.map(({ path, oid }) => [oid, path.slice(root.length + 1)]))
}

export async function readBundleFiles(
  repository: TreeReader,
  entries: readonly TreePathEntry[],
  root: string,
  budget: { left: number },
): Promise<BundleFiles> {
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at < entries.length; at += maxParallelBundleFileReads) {
    const read = await Promise.all(
      entries
        .slice(at, at + maxParallelBundleFileReads)
        .map(async ({ path, oid }) => [path, await readBundleFile(repository, oid, path)] as const),
    )
    for (const [path, bytes] of read) {
      budget.left -= bytes.length
      if (budget.left < 0)
        throw new ChangeTooLargeError(
          `the bundle directories are larger than ${Math.floor(maxTouchedBundleBytes / 1024 / 1024)} MB in total`,
        )
      files.set(path.slice(root.length + 1), bytes)
    }
  }
  return files
}

async function readBundleFile(
  repository: TreeReader,
  oid: TreePathEntry['oid'],
  path: string,
): Promise<Uint8Array> {
  try {
    return await repository.read(oid, maxBundleFileBytes)
  } catch (error) {
    if (isGitError(error, 'too-large'))
      throw new ChangeTooLargeError(`${path} is larger than ${maxBundleFileBytes / 1024 / 1024} MB`)
    throw error
  }
}
