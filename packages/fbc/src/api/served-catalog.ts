// A valid catalog as opm serves it. Keeps blobs as bytes and reads a bundle only when a query needs it.
import {
  type Catalog,
  type ParsedCatalogFile,
  assembleCatalog,
  getPackageBlobs,
  emptyPackageBlobs,
} from '../facts/catalog.ts'
import { sortByBytes, quoteLikeGo, comparePathsInWalkOrder } from '../go/text.ts'
import { splitDocuments } from '../load/split-documents.ts'
import { validateAsOpm } from '../model/validate-catalog.ts'
import { buildApiBundle } from './api-bundle.ts'
import type { ApiBundle, GroupVersionKind } from './api-types.ts'
import {
  formatPackageIndexError,
  parseApiBundleFields,
  type ApiBundleFields,
  UnservableCatalogError,
  formatJsonAsStoredByOpm,
} from './bundle-content.ts'
import {
  buildPackageIndex,
  type PackageIndex,
  findCustomBlobProblem,
  addPackageIndexBlob,
  type PackageIndexBlobs,
} from './package-index.ts'
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import type { BlobMeta } from '../load/meta.ts'
import type { CatalogReadResult } from '../write/writable-catalog.ts'

/** One served catalog file: its facts, and every blob as a JSON line in opm's format. Reads small, common data immediately and other data when a query needs it (served-catalog.ts). */
export interface ServedBlob {
  readonly schema: string
  /** The blob's `package` field; olm.package blobs have none. */
  readonly package: string
  readonly name: string
  /** One line of UTF-8 JSON, including the line feed. */
  readonly line: Uint8Array
}

export interface ServedCatalogFile extends PackageIndexBlobs {
  readonly facts: ParsedCatalogFile
  readonly blobs: readonly ServedBlob[]
  readonly bundles: readonly ServedBundle[]
  /** The reason why opm accepts the file but cannot serve it. */
  readonly problem?: string
}

interface ServedBundle {
  readonly package: string
  readonly name: string
  readonly blob: ServedBlob
  readonly providedApis: readonly GroupVersionKind[]
}

const utf8Encoder = new TextEncoder()

const createEmptyServedCatalogFile = () => ({
  blobs: [] as ServedBlob[],
  bundles: [] as ServedBundle[],
  packages: [],
  channels: [],
  deprecations: [],
})

type MutableServedCatalogFile = Pick<ServedCatalogFile, keyof PackageIndexBlobs> & {
  readonly blobs: ServedBlob[]
  readonly bundles: ServedBundle[]
}

export interface ServedCatalog {
  readonly index: PackageIndex
  /** In opm's walk order. */
  readonly blobs: readonly ServedBlob[]
  /** Undefined if the channel has no such entry. */
  bundle(key: ServedBundleKey): ApiBundle | undefined
  /** Does not read the bundle's blob. */
  providedApis(packageName: string, bundle: string): readonly GroupVersionKind[]
}

export interface ServedBundleKey {
  readonly package: string
  readonly channel: string
  readonly name: string
}

/** The error is opm's. */
export type ServedCatalogResult = CatalogReadResult<ServedCatalog>

/** `files` can be in any order; paths are relative to the catalog's directory. */
export function buildServedCatalog(
  files: Iterable<{ readonly path: string; readonly file: ServedCatalogFile }>,
): ServedCatalogResult {
  const walked = [...files].sort((a, b) => comparePathsInWalkOrder(a.path, b.path))
  const catalog = assembleCatalog(walked.map(({ path, file }) => ({ path, facts: file.facts })))
  const read = walked.map(({ file }) => file)
  const error = findUnservableCatalogReason(catalog, read)
  return error === undefined ? { ok: true, value: new LazyServedCatalog(read) } : { ok: false, error }
}

/** Checks each package separately, as opm does. */
function findUnservableCatalogReason(
  catalog: Catalog,
  files: readonly ServedCatalogFile[],
): string | undefined {
  const [loadError] = catalog.loadErrors
  if (loadError) return loadError.message
  for (const [name, ofPackage] of splitCatalogByPackage(catalog)) {
    const { message } = validateAsOpm(ofPackage)
    if (message !== undefined) return formatPackageIndexError(name, message)
  }
  return files.find(({ problem }) => problem !== undefined)?.problem
}

/** Splits the catalog by package name, including packages that no blob declares. */
function splitCatalogByPackage(catalog: Catalog): readonly (readonly [string, Catalog])[] {
  const groups = getPackageBlobs(catalog)
  return sortByBytes(groups.keys()).flatMap((name) => {
    const { packages, channels, bundles, deprecations } = groups.get(name) ?? emptyPackageBlobs
    // Blobs of other schemas alone do not make a package.
    const isPackage = packages.length + channels.length + bundles.length + deprecations.length > 0
    return isPackage ? [[name, { ...catalog, packages, channels, bundles, deprecations }]] : []
  })
}

class LazyServedCatalog implements ServedCatalog {
  readonly index: PackageIndex
  readonly blobs: readonly ServedBlob[]
  private readonly lines = new Map<string, Map<string, ServedBundle>>()

  constructor(files: readonly ServedCatalogFile[]) {
    this.blobs = files.flatMap(({ blobs }) => blobs)
    this.index = buildPackageIndex({
      packages: files.flatMap(({ packages }) => packages),
      channels: files.flatMap(({ channels }) => channels),
      deprecations: files.flatMap(({ deprecations }) => deprecations),
    })
    for (const line of files.flatMap(({ bundles }) => bundles)) {
      const ofPackage = this.lines.get(line.package) ?? new Map<string, ServedBundle>()
      this.lines.set(line.package, ofPackage.set(line.name, line))
    }
  }

  bundle({ package: packageName, channel, name }: ServedBundleKey): ApiBundle | undefined {
    const parent = this.index.get(packageName)
    const line = parent?.channels.get(channel)?.bundles.get(name)
    const content = line && this.read(packageName, name)
    return parent && content && buildApiBundle(content, parent, line)
  }

  providedApis(packageName: string, bundle: string): readonly GroupVersionKind[] {
    return this.lines.get(packageName)?.get(bundle)?.providedApis ?? []
  }

  private read(packageName: string, name: string): ApiBundleFields | undefined {
    const line = this.lines.get(packageName)?.get(name)?.blob.line
    const [document] = line ? splitDocuments(line) : []
    return document?.meta && parseApiBundleFields(document.meta.value)
  }
}

/** Never throws. For a file that opm can't load, only the facts are meaningful. */
export function parseServedCatalogFile(bytes: Uint8Array): ServedCatalogFile {
  const drafted = createEmptyServedCatalogFile()
  let problem: string | undefined
  // Works blob by blob, because the parsed file is several times larger than the file.
  const onMeta = (meta: BlobMeta) => {
    problem ??= addBlobToServedCatalogFile(meta, drafted)
  }
  const facts = parseCatalogFile(bytes, { forVerdict: true, onMeta })
  if (facts.loadError !== undefined) return { facts, ...createEmptyServedCatalogFile() }
  return { facts, ...drafted, ...(problem !== undefined && { problem }) }
}

function addBlobToServedCatalogFile(meta: BlobMeta, into: MutableServedCatalogFile): string | undefined {
  const { schema, name, package: of, value } = meta
  try {
    const blob = {
      schema,
      package: of,
      name,
      line: utf8Encoder.encode(`${formatJsonAsStoredByOpm(value)}\n`),
    }
    into.blobs.push(blob)
    if (addPackageIndexBlob(into, meta)) return undefined
    if (schema !== 'olm.bundle') return findCustomBlobProblem(blob)
    const { package: parent, name: its, objects, providedApis } = parseApiBundleFields(value)
    // Unlike the cache, the protocol can't contain bytes that aren't valid UTF-8.
    if (!objects.every((json) => json.isWellFormed()))
      throw new UnservableCatalogError(
        `store bundle ${quoteLikeGo(its)}: string field contains invalid UTF-8`,
      )
    into.bundles.push({ package: parent, name: its, blob, providedApis })
    return undefined
  } catch (error) {
    if (error instanceof UnservableCatalogError) return formatPackageIndexError(of, error.message)
    throw error
  }
}
