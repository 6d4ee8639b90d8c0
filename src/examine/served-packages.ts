// The packages that a change touches, as a server would return them. Reads their files again in full because a
// catalog's facts omit the manifests.
import { servedCatalog } from '../catalog/api/served-catalog.ts'
import { readServedFile, type ServedFile } from '../catalog/api/served-file.ts'
import type { Catalog } from '../catalog/facts/catalog.ts'
import type { CatalogChange, Change } from '../change/change.ts'
import { repositoryPath } from '../change/blob-text.ts'
import type { TreeSha } from '../change/ids.ts'
import type { ServedPackage } from '../checks/check.ts'
import { askServed } from '../checks/install/ask-served.ts'
import { hasInlineObjects } from '../checks/install/inline-bundle.ts'
import { askOpmOf } from './ask-opm-of-change.ts'
import type { ReadTree } from '../ports/repository.ts'

/** Limits over all catalogs. Beyond them nothing more is served, and the check reports it. */
const most = { packages: 60, bytes: 64 * 1024 * 1024 }

/** Milliseconds for opm in one look. opm reads whole catalogs and builds a cache for each. */
const opmTime = 15_000

/** By catalog root, then by package. Rejects with a GitError. */
export async function servedPackages(
  { catalogs }: Pick<Change, 'catalogs'>,
  look: ReadTree,
  tree: TreeSha,
  opm?: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, ServedPackage>>> {
  const served = new Map<string, Map<string, ServedPackage>>()
  const left = { ...most }
  const forOpm = { milliseconds: opmTime, bytes: most.bytes }
  for (const change of catalogs) {
    const ofCatalog = new Map<string, ServedPackage>()
    const files = new Map<string, ServedFile>()
    for (const { name } of change.packages) {
      const one =
        change.result && left.packages > 0
          ? await serve(change, name, { look, tree, left, files })
          : undefined
      if (one) ofCatalog.set(name, one)
    }
    if (opm !== undefined && ofCatalog.size > 0) {
      const theirs = await askOpmOf(change, [...ofCatalog.keys()], { look, tree }, { opm, left: forOpm })
      for (const [index, [name, one]] of [...ofCatalog].entries())
        ofCatalog.set(name, { ...one, asked: [...one.asked, ...theirs.slice(index, index + 1)] })
    }
    served.set(change.root, ofCatalog)
  }
  return served
}

interface Place {
  readonly look: ReadTree
  readonly tree: TreeSha
  readonly left: { packages: number; bytes: number }
  /** Files read so far, by path: one file may hold several packages. */
  readonly files: Map<string, ServedFile>
}

async function serve(
  { root, result }: CatalogChange,
  packageName: string,
  { look, tree, left, files: known }: Place,
): Promise<ServedPackage | undefined> {
  const paths = result ? filesOf(result, packageName) : new Set<string>()
  if (!result || paths.size === 0) return undefined
  const files = []
  for (const path of paths) {
    const file = known.get(path) ?? (await readFile(path))
    if (file === undefined) return undefined
    known.set(path, file)
    files.push({ path, file })
  }
  left.packages -= 1
  const read = servedCatalog(files)
  const objects = new Map<string, readonly string[]>()
  for (const blob of result.bundles.filter((bundle) => bundle.package === packageName)) {
    if (blob.image !== '' || !hasInlineObjects(blob) || !read.ok) continue
    const channel = result.channels.find(
      ({ package: its, entries }) => its === packageName && entries.some(({ name }) => name === blob.name),
    )
    const key = channel && { package: packageName, channel: channel.name, name: blob.name }
    const bundle = key && read.value.bundle(key)
    if (bundle) objects.set(blob.name, bundle.object)
  }
  return { asked: [askServed(read, packageName)], objects }

  async function readFile(path: string): Promise<ServedFile | undefined> {
    const entry = await look.entry(tree, repositoryPath(root, path))
    // Links are not followed.
    if (entry?.mode.startsWith('100') !== true) return undefined
    const bytes = await look.read(entry.oid)
    left.bytes -= bytes.length
    return left.bytes < 0 ? undefined : readServedFile(bytes)
  }
}

function filesOf(
  { packages, channels, bundles, deprecations, others }: Catalog,
  name: string,
): ReadonlySet<string> {
  return new Set([
    ...packages.filter((blob) => blob.name === name).map(({ place }) => place.file),
    ...[channels, bundles, deprecations, others].flatMap((blobs) =>
      blobs.filter((blob) => blob.package === name).map(({ place }) => place.file),
    ),
  ])
}
