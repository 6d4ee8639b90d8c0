// Reads bundles and catalogs for the command line, from a local directory or from registries with the user's credentials.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import pLimit from 'p-limit'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { selectCatalogFilesInTree } from '@catalog-bot/fbc/load/select-files'
import { systemClock } from '../adapters/system-clock.ts'
import type { RegistryClient } from '../adapters/registry/registry-client.ts'
import {
  pullBundleOrCatalog,
  type PulledBundle,
  getCatalogDirectoryFromLabels,
} from '../adapters/registry/pull-bundle.ts'
import { listCatalogDirectoryFiles } from '../catalogs/catalog-directory.ts'
import { withProgress, type ReportProgress } from './output.ts'

interface CatalogInputFile {
  readonly path: string
  /** Throws if the file cannot be read. */
  readonly bytes: () => Uint8Array
}

/** Each bundle is unpacked in a separate process. */
const maxConcurrentImagePulls = 4

/** Passes a registry client to `use`, shows progress, and closes it. `insecure`: hosts without TLS. */
export async function withRegistryClient<Result>(
  insecure: readonly string[] | undefined,
  use: (registry: RegistryClient, report: ReportProgress) => Promise<Result>,
): Promise<Result> {
  // Loaded only if needed, because loading it takes longer than a simulated installation.
  const { HttpRegistryClient } = await import('../adapters/registry/open-registry.ts')
  const { readRegistryAccess } = await import('../adapters/registry/registry-access.ts')
  const registry = new HttpRegistryClient({
    clock: systemClock,
    ...(await readRegistryAccess(process.env, insecure)),
  })
  try {
    return await withProgress('Reading from registries', (report) => use(registry, report))
  } finally {
    await registry.close()
  }
}

/** Resolves to the files of the bundle or catalog, or an error, for each reference. Never rejects. */
export async function pullBundleOrCatalogImages(
  registry: RegistryClient,
  references: Iterable<string>,
  report: ReportProgress,
): Promise<ReadonlyMap<string, PulledBundle | Error>> {
  const pulled = new Map<string, PulledBundle | Error>()
  const distinct = new Set(references)
  await pLimit(maxConcurrentImagePulls).map(distinct, async (reference, index) => {
    try {
      report(`Pulling image ${index + 1} of ${distinct.size}: ${reference}`)
      pulled.set(reference, await pullBundleOrCatalog(registry, reference))
    } catch (error) {
      pulled.set(reference, error instanceof Error ? error : new Error(String(error)))
    }
  })
  return pulled
}

/** The files of a bundle directory, by their path in it, with `/` separators on every platform. */
export function readBundleDirectory(directory: string): BundleFiles {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(directory, path).split(sep).join('/'), readFileSync(path)]),
  )
}

/** opm rejects references without a host, which Docker would resolve to its own registry. */
const imageReferenceWithHostPattern = /^(?:localhost|[a-z0-9[][^/]*[.:][^/]*)\//i

/** Throws if a name that is not an existing path is not an image reference either. Usually, it is a misspelled path. */
export function requireImageReferenceSyntax(name: string): void {
  if (!imageReferenceWithHostPattern.test(name))
    throw new Error(
      `${quoteLikeGo(name)} is neither an existing file or directory nor an image reference (HOST/REPOSITORY:TAG)`,
    )
}

/** Reads a directory like opm. Anything else is an image, which is unpacked in a separate process. */
export async function readCatalogFiles(
  name: string,
  insecure: readonly string[] | undefined,
): Promise<readonly CatalogInputFile[]> {
  if (statSync(name, { throwIfNoEntry: false })) return readCatalogDirectoryFiles(name)
  requireImageReferenceSyntax(name)
  const files = await withRegistryClient(insecure, async (registry) =>
    selectFilesOfCatalogImage(name, await pullBundleOrCatalog(registry, name)),
  )
  return [...files].map(([path, bytes]) => ({ path, bytes: () => bytes }))
}

/** The files that opm reads, by their path in the catalog. Throws if the image is not a catalog. */
export function selectFilesOfCatalogImage(
  name: string,
  { files, labels }: PulledBundle,
): ReadonlyMap<string, Uint8Array> {
  const directory = getCatalogDirectoryFromLabels(labels)
  if (directory === undefined)
    throw new Error(`${name} is not a catalog image: it has no label with the location of the catalog`)
  const below = new Map([...files].map(([path, bytes]) => [path.slice(directory.length + 1), bytes]))
  const selection = selectCatalogFilesInTree(below)
  if (selection.loadError) throw new Error(selection.loadError.message)
  return new Map(selection.files.map((path) => [path, below.get(path) ?? new Uint8Array()]))
}

function readCatalogDirectoryFiles(dir: string): readonly CatalogInputFile[] {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') throw new Error(directory.message)
  return directory.files.map((file) => ({
    path: file.path,
    bytes: () => {
      const bytes = file.read()
      if ('error' in bytes) throw new Error(bytes.error)
      return bytes
    },
  }))
}
