// The packages that a change touches, as a server would return them. Reads their files again in full because a
// catalog's facts omit the manifests.
import { buildServedCatalog, parseServedFile, type ServedFile } from '@catalog-bot/fbc/api/served-catalog'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'
import type { CatalogChange, PullRequestChange } from '../pull-request/change.ts'
import { toRepositoryPath } from '../pull-request/compare-blobs.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import type { ServedPackageResponses } from '../checks/check.ts'
import { hasBundleObjectProperties, simulateCatalogServerResponse } from '../checks/install/served-bundles.ts'
import type { TreeReader } from '../ports/repository.ts'

interface OpmQueryOptions {
  readonly opm: string
  /** Milliseconds that are left for opm in this evaluation, and bytes that may be written for it. */
  readonly left: { milliseconds: number; bytes: number }
}

/** Limits over all catalogs. Beyond them nothing more is served, and the check reports it. */
const totalServedPackageLimits = { packages: 60, bytes: 64 * 1024 * 1024 }

/** Milliseconds for opm in one evaluation. opm reads whole catalogs and builds a cache for each. */
const opmTimeoutMs = 15_000

/** By catalog root, then by package. Rejects with a GitError. */
export async function readServedPackages(
  { catalogs }: Pick<PullRequestChange, 'catalogs'>,
  treeReader: TreeReader,
  tree: TreeSha,
  opm?: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, ServedPackageResponses>>> {
  const served = new Map<string, Map<string, ServedPackageResponses>>()
  const remaining = { ...totalServedPackageLimits }
  const forOpm = { milliseconds: opmTimeoutMs, bytes: totalServedPackageLimits.bytes }
  for (const change of catalogs) {
    const ofCatalog = new Map<string, ServedPackageResponses>()
    const files = new Map<string, ServedFile>()
    for (const { name } of change.packages) {
      const one =
        change.result && remaining.packages > 0
          ? await readServedPackage(change, name, { look: treeReader, tree, left: remaining, files })
          : undefined
      if (one) ofCatalog.set(name, one)
    }
    if (opm !== undefined && ofCatalog.size > 0) {
      const theirs = await queryOpmForChangedPackages(
        change,
        [...ofCatalog.keys()],
        { look: treeReader, tree },
        { opm, left: forOpm },
      )
      for (const [index, [name, one]] of [...ofCatalog].entries())
        ofCatalog.set(name, { ...one, responses: [...one.responses, ...theirs.slice(index, index + 1)] })
    }
    served.set(change.root, ofCatalog)
  }
  return served
}

interface ServedPackageReadContext {
  readonly look: TreeReader
  readonly tree: TreeSha
  readonly left: { packages: number; bytes: number }
  /** Files read so far, by path: one file may hold several packages. */
  readonly files: Map<string, ServedFile>
}

async function readServedPackage(
  { root, result }: CatalogChange,
  packageName: string,
  { look, tree, left, files: known }: ServedPackageReadContext,
): Promise<ServedPackageResponses | undefined> {
  const paths = result ? getPackageFilePaths(result, packageName) : new Set<string>()
  if (!result || paths.size === 0) return undefined
  const files = []
  for (const path of paths) {
    const file = known.get(path) ?? (await readFile(path))
    if (file === undefined) return undefined
    known.set(path, file)
    files.push({ path, file })
  }
  left.packages -= 1
  const read = buildServedCatalog(files)
  const objects = new Map<string, readonly string[]>()
  for (const blob of result.bundles.filter((bundle) => bundle.package === packageName)) {
    if (blob.image !== '' || !hasBundleObjectProperties(blob) || !read.ok) continue
    const channel = result.channels.find(
      ({ package: its, entries }) => its === packageName && entries.some(({ name }) => name === blob.name),
    )
    const key = channel && { package: packageName, channel: channel.name, name: blob.name }
    const bundle = key && read.value.bundle(key)
    if (bundle) objects.set(blob.name, bundle.object)
  }
  return { responses: [simulateCatalogServerResponse(read, packageName)], objects }

  async function readFile(path: string): Promise<ServedFile | undefined> {
    const entry = await look.entry(tree, toRepositoryPath(root, path))
    // Links are not followed.
    if (entry?.mode.startsWith('100') !== true) return undefined
    const bytes = await look.read(entry.oid)
    left.bytes -= bytes.length
    return left.bytes < 0 ? undefined : parseServedFile(bytes)
  }
}

function getPackageFilePaths(
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

/** One answer for each package, in the given order. Rejects with a GitError. */
async function queryOpmForChangedPackages(
  { root, result }: CatalogChange,
  packageNames: readonly string[],
  { look, tree }: { readonly look: TreeReader; readonly tree: TreeSha },
  { opm, left }: OpmQueryOptions,
): Promise<readonly CatalogServerResponse[]> {
  const unknown = (reason: string): readonly CatalogServerResponse[] =>
    packageNames.map(() => ({ server: 'opm', kind: 'unknown', reason }))
  if (left.milliseconds <= 0) return unknown('this evaluation ran out of time to run opm')
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-opm-'))
  try {
    for (const { path } of result?.files ?? []) {
      const entry = await look.entry(tree, toRepositoryPath(root, path))
      if (entry?.mode.startsWith('100') !== true) return unknown(`${path} is a link`)
      const bytes = await look.read(entry.oid)
      left.bytes -= bytes.length
      if (left.bytes < 0) return unknown('the catalog is too large to pass to opm')
      const parts = path.split('/')
      if (parts.some((part) => part === '' || part === '.' || part === '..'))
        return unknown(`${path} points outside the catalog`)
      await mkdir(dirname(join(scratch, path)), { recursive: true })
      await writeFile(join(scratch, path), bytes)
    }
    // Loaded lazily, because few installations configure opm, and loading gRPC takes a third of an evaluation's start time.
    const { queryOpmServer: askOpm } = await import('@catalog-bot/fbc-server/opm-server')
    const started = performance.now()
    const results = await askOpm(opm, scratch, packageNames, left.milliseconds)
    left.milliseconds -= performance.now() - started
    return results
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
