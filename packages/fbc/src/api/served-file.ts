// One served catalog file: its facts, and every blob as a JSON line in opm's format. Reads small, common data
// immediately and other data when a query needs it (served-catalog.ts).
import type { CatalogFileFacts } from '../facts/catalog.ts'
import { quoteLikeGo } from '../go/text.ts'
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import type { BlobMeta } from '../load/meta.ts'
import type { GroupVersionKind } from './api-types.ts'
import {
  UnservableCatalogError,
  formatPackageIndexError,
  parseBundleContent,
  formatJsonAsStoredByOpm,
} from './bundle-content.ts'
import { findCustomBlobProblem } from './custom-blobs.ts'
import { addPackageIndexBlob, type PackageIndexBlobs } from './index-blobs.ts'

export interface ServedBlob {
  readonly schema: string
  /** The blob's `package` field; olm.package blobs have none. */
  readonly package: string
  readonly name: string
  /** One line of UTF-8 JSON, including the line feed. */
  readonly line: Uint8Array
}

export interface ServedFile extends PackageIndexBlobs {
  readonly facts: CatalogFileFacts
  readonly blobs: readonly ServedBlob[]
  readonly bundles: readonly ServedBundle[]
  /** The reason why opm accepts the file but cannot serve it. */
  readonly problem?: string
}

export interface ServedBundle {
  readonly package: string
  readonly name: string
  readonly blob: ServedBlob
  readonly providedApis: readonly GroupVersionKind[]
}

const utf8Encoder = new TextEncoder()

/** Never throws. For a file that opm can't load, only the facts are meaningful. */
export function parseServedFile(bytes: Uint8Array): ServedFile {
  const drafted = createEmptyServedFile()
  let problem: string | undefined
  // Works blob by blob, because the parsed file is several times larger than the file.
  const onMeta = (meta: BlobMeta) => {
    problem ??= addBlobToServedFile(meta, drafted)
  }
  const facts = parseCatalogFile(bytes, { forVerdict: true, onMeta })
  if (facts.loadError !== undefined) return { facts, ...createEmptyServedFile() }
  return { facts, ...drafted, ...(problem !== undefined && { problem }) }
}

const createEmptyServedFile = () => ({
  blobs: [] as ServedBlob[],
  bundles: [] as ServedBundle[],
  packages: [],
  channels: [],
  deprecations: [],
})

type MutableServedFile = Pick<ServedFile, keyof PackageIndexBlobs> & {
  readonly blobs: ServedBlob[]
  readonly bundles: ServedBundle[]
}

function addBlobToServedFile(meta: BlobMeta, into: MutableServedFile): string | undefined {
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
    const { package: parent, name: its, objects, providedApis } = parseBundleContent(value)
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
