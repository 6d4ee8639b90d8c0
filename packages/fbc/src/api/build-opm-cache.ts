// Builds the cache that `opm serve --cache-only` writes in JSON format, byte for byte (opm v1.73, pkg/cache).
import { Fnv64a } from './cache-digest.ts'
import { quoteLikeGo } from '../go/text.ts'
import type { BlobMeta } from '../load/meta.ts'
import {
  UnservableCatalogError,
  formatPackageIndexError,
  parseBundleContent,
  formatJsonAsStoredByOpm,
} from './bundle-content.ts'
import { createBundleEncoder, formatPackageIndex, EscapedJsonCache, type JsonChunks } from './cache-json.ts'
import {
  buildPackageIndex,
  type PackageIndex,
  findCustomBlobProblem,
  addPackageIndexBlob,
  type PackageIndexBlobs,
} from './package-index.ts'

export interface OpmCacheFile {
  /** Relative to `cache/`. */
  readonly path: string
  readonly pieces: JsonChunks
}

export type OpmCacheResult =
  | {
      readonly ok: true
      readonly files: readonly OpmCacheFile[]
      readonly packages: readonly string[]
      readonly bundles: number
    }
  /** Why opm can't build the cache, in opm's words where possible. */
  | { readonly ok: false; readonly error: string }

const utf8Encoder = new TextEncoder()
/** The longest file name on the systems that opm runs on, in bytes. */
const maxFileNameBytes = 255

/** `documents`: all blobs of a catalog that opm finds valid, in any order. */
export function buildOpmCache(documents: readonly BlobMeta[]): OpmCacheResult {
  try {
    return { ok: true, ...buildCacheFiles(documents) }
  } catch (error) {
    if (error instanceof UnservableCatalogError) return { ok: false, error: error.message }
    throw error
  }
}

function buildCacheFiles(documents: readonly BlobMeta[]): Omit<OpmCacheResult & { ok: true }, 'ok'> {
  const files = new Map<string, JsonChunks>()
  const declared: PackageIndexBlobs = { packages: [], channels: [], deprecations: [] }
  const bundles: BlobMeta[] = []
  for (const meta of documents) {
    if (addPackageIndexBlob(declared, meta)) continue
    if (meta.schema === 'olm.bundle') bundles.push(meta)
    else addCustomBlobFile(files, meta)
  }
  const index = buildPackageIndex(declared)
  const shared = new EscapedJsonCache()
  for (const bundle of bundles)
    runWithPackageNameInErrors(bundle.package, () => addBundleCacheFiles(files, bundle, index, shared))
  files.set('packages.json', [utf8Encoder.encode(formatPackageIndex(index))])
  return {
    files: [...files].map(([path, pieces]) => ({ path, pieces })),
    packages: [...index.keys()],
    bundles: bundles.length,
  }
}

/** opm uses schema and package as directory names. */
function addCustomBlobFile(files: Map<string, JsonChunks>, blob: BlobMeta): void {
  const problem = findCustomBlobProblem(blob)
  if (problem !== undefined) throw new UnservableCatalogError(problem)
  const content = utf8Encoder.encode(`${formatJsonAsStoredByOpm(blob.value)}\n`)
  const hash = new Fnv64a()
  hash.update(content)
  const path = ['metas', blob.schema, blob.package, `${hash.hex()}.json`].filter((part) => part !== '')
  files.set(path.join('/'), [content])
}

/** opm processes one package at a time and reports the package that fails. */
function runWithPackageNameInErrors(name: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (error instanceof UnservableCatalogError)
      throw new UnservableCatalogError(formatPackageIndexError(name, error.message))
    throw error
  }
}

function addBundleCacheFiles(
  files: Map<string, JsonChunks>,
  { package: of, value }: BlobMeta,
  index: PackageIndex,
  shared: EscapedJsonCache,
): void {
  const parent = index.get(of)
  if (!parent) return
  const content = parseBundleContent(value)
  const inChannel = createBundleEncoder(content, parent, shared)
  for (const channel of parent.channels.values()) {
    const line = channel.bundles.get(content.name)
    if (!line) continue
    const path = `${of}_${channel.name}_${line.name}.json`
    const problem =
      findCacheFileNameProblem(path) ?? (files.has(path) ? 'another bundle has the same file' : undefined)
    if (problem !== undefined)
      throw new UnservableCatalogError(
        `opm cannot write the cache file ${quoteLikeGo(path)} for a bundle: ${problem}`,
      )
    files.set(path, inChannel(line))
  }
}

/** Channel and bundle names can contain characters that file names cannot. */
function findCacheFileNameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'the name contains a slash'
  if (name.includes('\0')) return 'the name contains a NUL character'
  return utf8Encoder.encode(name).length > maxFileNameBytes
    ? `the name is longer than ${maxFileNameBytes} bytes`
    : undefined
}
