// Reads the catalogs of the command `install` from a directory or an image, with the data that the install check needs: their
// facts, their bundles as a server returns them, and how their images start.
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { statSync } from 'node:fs'
import { type BundleBlob, type Catalog, assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import {
  buildServedCatalog,
  type ServedCatalogResult,
  parseServedCatalogFile,
} from '@catalog-bot/fbc/api/served-catalog'
import type { CatalogServerImageConfig, CatalogServerObservation } from '../checks/install/running-catalog.ts'
import { getPackageFilePaths, simulateCatalogServerResponse } from '../checks/install/served-bundles.ts'
import { createParsedCatalogFileCache } from '../catalogs/parsed-file-cache.ts'
import { readCatalogDirectory } from '../catalogs/catalog-directory.ts'
import { fetchMultiPlatformImage } from '../adapters/image/base-image.ts'
import { getCatalogDirectoryFromLabels, pullBundleOrCatalog } from '../adapters/registry/pull-bundle.ts'
import {
  requireImageReferenceSyntax,
  selectFilesOfCatalogImage,
  withRegistryClient,
} from './pulled-bundles.ts'

export interface LoadedCatalogToInstall {
  readonly catalog: Catalog
  /** The files that opm reads, by their path in the catalog. */
  readonly files: ReadonlyMap<string, () => Uint8Array>
  /** Absent for an image. */
  readonly directory?: string
  readonly images: readonly CatalogServerImageConfig[]
}

/** Long, because opm builds its cache of the catalog first. */
const opmServerTimeoutMs = 300_000

/** Rejects when the source isn't a catalog. */
export async function readCatalogToInstall(
  name: string,
  insecure: readonly string[] | undefined,
): Promise<LoadedCatalogToInstall> {
  if (statSync(name, { throwIfNoEntry: false })) return loadCatalogFromDirectory(name)
  requireImageReferenceSyntax(name)
  return withRegistryClient(insecure, async (registry) => {
    const files = selectFilesOfCatalogImage(name, await pullBundleOrCatalog(registry, name))
    const { images } = await fetchMultiPlatformImage(registry, name, 'not-a-catalog')
    return {
      ...parseFilesOfCatalogToInstall(files),
      images: images.map(({ config, labels, platform }) => ({
        reference: name,
        platform,
        directory: getCatalogDirectoryFromLabels(labels),
        ...parseImageEntrypointAndUser(config['config']),
      })),
    }
  })
}

function loadCatalogFromDirectory(directory: string): LoadedCatalogToInstall {
  const cache = createParsedCatalogFileCache()
  const read = readCatalogDirectory(directory, (bytes) => cache.factsOf(bytes))
  if (read.kind !== 'catalog') throw new Error(read.message)
  const files = new Map(read.paths.map((path) => [path, () => read.bytesOf(path) ?? new Uint8Array()]))
  return { catalog: read.catalog, files, directory, images: [] }
}

function parseFilesOfCatalogToInstall(
  all: ReadonlyMap<string, Uint8Array>,
): Pick<LoadedCatalogToInstall, 'catalog' | 'files'> {
  const files = new Map([...all].map(([path, bytes]) => [path, () => bytes]))
  const cache = createParsedCatalogFileCache()
  const catalog = assembleCatalog(
    [...files].map(([path, bytes]) => ({ path, facts: cache.factsOf(bytes()) })),
  )
  return { catalog, files }
}

/** Fails with opm's message if opm would not serve the catalog. */
export function parseAndServeFiles(
  files: Iterable<readonly [string, () => Uint8Array]>,
): ServedCatalogResult {
  return buildServedCatalog(
    [...files].map(([path, bytes]) => ({ path, file: parseServedCatalogFile(bytes()) })),
  )
}

const servedPackagesCache = new WeakMap<Catalog, Map<string, ServedCatalogResult>>()

/** Reads only the files of the package, because reading the whole catalog takes longer than the rest of the command. */
function servePackage({ catalog, files }: LoadedCatalogToInstall, name: string): ServedCatalogResult {
  const cached = servedPackagesCache.get(catalog) ?? new Map<string, ServedCatalogResult>()
  servedPackagesCache.set(catalog, cached)
  const paths = getPackageFilePaths(catalog, name)
  const served = cached.get(name) ?? parseAndServeFiles([...files].filter(([path]) => paths.has(path)))
  cached.set(name, served)
  return served
}

/** Ignores values that aren't strings, as other readers do. */
function parseImageEntrypointAndUser(
  config: unknown,
): Pick<CatalogServerImageConfig, 'entrypoint' | 'command' | 'user'> {
  const fields = (typeof config === 'object' && config !== null ? config : {}) as Readonly<
    Record<string, unknown>
  >
  const stringsIn = (value: unknown) =>
    Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  return {
    entrypoint: stringsIn(fields['Entrypoint']),
    command: stringsIn(fields['Cmd']),
    user: typeof fields['User'] === 'string' ? fields['User'] : '',
  }
}

/** The objects that the catalog's server returns for a bundle, as JSON. */
export function listServedBundleObjects(one: LoadedCatalogToInstall, blob: BundleBlob): readonly string[] {
  const { catalog } = one
  const channel = catalog.channels.find(
    ({ package: its, entries }) => its === blob.package && entries.some(({ name }) => name === blob.name),
  )
  if (!channel) return []
  const served = servePackage(one, blob.package)
  const key = { package: blob.package, channel: channel.name, name: blob.name }
  return (served.ok && served.value.bundle(key)?.object) || []
}

/**
 * Serves and queries the package, with the code of catalog-bot's server, and with opm if the environment specifies its
 * path. A catalog that opm rejects is not served, because the previous step reports the reason.
 */
export async function queryCatalogServers(
  one: LoadedCatalogToInstall,
  packageName: string,
  { isRejected, opm }: { readonly isRejected: boolean; readonly opm: string | undefined },
): Promise<CatalogServerObservation> {
  const served = isRejected ? undefined : servePackage(one, packageName)
  return {
    responses: [
      ...(served?.ok ? [simulateCatalogServerResponse(served, packageName)] : []),
      ...(await queryOpmCatalogServer(one, packageName, opm)),
    ],
    images: one.images,
  }
}

async function queryOpmCatalogServer(
  { directory, files }: LoadedCatalogToInstall,
  packageName: string,
  opm: string | undefined,
): Promise<readonly CatalogServerResponse[]> {
  if (opm === undefined || opm === '') return []
  const { queryOpmServer } = await import('@catalog-bot/fbc-server/opm-server')
  if (directory !== undefined) return queryOpmServer(opm, directory, [packageName], opmServerTimeoutMs)
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-install-'))
  try {
    for (const [path, bytes] of files) {
      if (path.split('/').includes('..')) throw new Error(`${path} is outside the image`)
      await mkdir(dirname(join(scratch, path)), { recursive: true })
      await writeFile(join(scratch, path), bytes())
    }
    return await queryOpmServer(opm, scratch, [packageName], opmServerTimeoutMs)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
