// Finds bundle directories that are new on a branch or whose release configuration changed, by comparing two tips, and
// the commits that brought them.
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import { parseBundlePath } from '../pull-request/layout/bundle-directory.ts'
import { hasManifestFile } from '../catalogs/read-bundle-files.ts'
import type { GitRepository } from '../ports/repository.ts'

export interface MergedBundle {
  /** Below `operators/`. */
  readonly directory: string
  readonly version: string
  /** The newest commit of the branch that touched it. */
  readonly commit: CommitSha
}

/** A larger push fills a repository, where a pull request for each bundle would be noise. */
const maxMergedBundles = 50
/** Each costs a comparison of two trees. */
const maxComparedCommits = 300

type BundleGitRepository = Pick<
  GitRepository,
  'treeOf' | 'parentsOf' | 'contains' | 'firstParents' | 'diff' | 'list'
>

/** Sorted by directory. `too-many`: more than `maxMergedBundles`. Rejects with a GitError. */
export async function findMergedBundles(
  from: CommitSha,
  tip: CommitSha,
  repository: BundleGitRepository,
): Promise<readonly MergedBundle[] | 'too-many'> {
  // After a forced push the old tip may be unknown: treat everything as old.
  const before = await repository.treeOf(from).catch(() => undefined)
  if (before === undefined) return []
  const found = await findChangedBundles(before, await repository.treeOf(tip), repository)
  if (found.size === 0) return []
  if (found.size > maxMergedBundles) return 'too-many'
  const isAhead = await repository.contains(tip, from).catch(() => false)
  const commits = isAhead ? (await repository.firstParents(tip, from)).slice(0, maxComparedCommits) : []
  const open = new Map(found)
  const merged: MergedBundle[] = []
  for (const commit of commits) {
    if (open.size === 0) break
    const [parent] = await repository.parentsOf(commit)
    if (parent === undefined) break
    const paths = await repository.diff(await repository.treeOf(parent), await repository.treeOf(commit))
    for (const [root, bundle] of open)
      if (paths.some(({ path }) => path.startsWith(`${root}/`))) {
        merged.push({ ...bundle, commit })
        open.delete(root)
      }
  }
  for (const bundle of open.values()) merged.push({ ...bundle, commit: tip })
  return merged.sort((a, b) => (toBundleDirectoryKey(a) < toBundleDirectoryKey(b) ? -1 : 1))
}

type BundleDirectoryId = Pick<MergedBundle, 'directory' | 'version'>

const releaseConfigPathPattern = /^operators\/([^/]+)\/([^/]+)\/release-config\.ya?ml$/

/** By root, such as `operators/foo/1.2.3`. */
async function findChangedBundles(
  before: TreeSha,
  after: TreeSha,
  repository: BundleGitRepository,
): Promise<ReadonlyMap<string, BundleDirectoryId>> {
  const touched = new Map<string, BundleDirectoryId & { isConfigured: boolean }>()
  for (const { path, after: now } of await repository.diff(before, after)) {
    if (now === undefined) continue
    const [, directory, version] = releaseConfigPathPattern.exec(path) ?? []
    const location =
      directory !== undefined && version !== undefined ? { directory, version } : parseBundlePath(path)
    if (location === undefined) continue
    const root = `operators/${location.directory}/${location.version}`
    const isConfigured = directory !== undefined || touched.get(root)?.isConfigured === true
    touched.set(root, { directory: location.directory, version: location.version, isConfigured })
  }
  const found = new Map<string, BundleDirectoryId>()
  for (const [root, { directory, version, isConfigured }] of touched) {
    const isThere = async (tree: TreeSha) => hasManifestFile(await repository.list(tree, root), root)
    if ((await isThere(after)) && (isConfigured || !(await isThere(before))))
      found.set(root, { directory, version })
    // Stop early instead of reading every directory of a mass import.
    if (found.size > maxMergedBundles) break
  }
  return found
}

function toBundleDirectoryKey({ directory, version }: BundleDirectoryId): string {
  return `${directory}/${version}`
}
