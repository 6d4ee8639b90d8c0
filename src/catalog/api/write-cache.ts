// The cache that `opm serve` starts from, in opm's JSON format, file for file and byte for byte as `opm serve --cache-only`
// writes it (opm v1.73, pkg/cache): an index of the packages, a file for each bundle in each channel, one for each custom blob.
import { Fnv64a } from '../../go/fnv.ts'
import { quote } from '../../go/text.ts'
import type { Meta } from '../load/meta.ts'
import { NotServed, problemInPackage, readBundleContent, wholeBlobText } from './bundle-content.ts'
import { bundlePieces, packageIndexText } from './cache-texts.ts'
import { customProblem } from './custom-blobs.ts'
import { keepIndexBlob, type IndexBlobs } from './index-blobs.ts'
import { packageIndex, type PackageIndex } from './package-index.ts'
import { SharedPieces, type Pieces } from './shared-pieces.ts'

export interface CacheFile {
  /** Below `cache/`. */
  readonly path: string
  readonly pieces: Pieces
}

export type CacheResult =
  | {
      readonly ok: true
      readonly files: readonly CacheFile[]
      /** Sorted by bytes. */
      readonly packages: readonly string[]
      readonly bundles: number
    }
  /** Why opm cannot make a cache of the catalog: in its words where it has some. */
  | { readonly ok: false; readonly error: string }

const encoder = new TextEncoder()
/** What a file's name may have on the systems that opm runs on. */
const longestName = 255

/** `documents`: all blobs of a catalog that opm finds valid, in any order. */
export function writeCache(documents: readonly Meta[]): CacheResult {
  try {
    return { ok: true, ...cacheOf(documents) }
  } catch (error) {
    if (error instanceof NotServed) return { ok: false, error: error.message }
    throw error
  }
}

function cacheOf(documents: readonly Meta[]): Omit<CacheResult & { ok: true }, 'ok'> {
  const files = new Map<string, Pieces>()
  const declared: IndexBlobs = { packages: [], channels: [], deprecations: [] }
  const bundles: Meta[] = []
  for (const meta of documents) {
    if (keepIndexBlob(declared, meta)) continue
    if (meta.schema === 'olm.bundle') bundles.push(meta)
    else addCustomBlob(files, meta)
  }
  const index = packageIndex(declared)
  const shared = new SharedPieces()
  for (const bundle of bundles) inPackage(bundle.package, () => addBundle(files, bundle, index, shared))
  files.set('packages.json', [encoder.encode(packageIndexText(index))])
  return {
    files: [...files].map(([path, pieces]) => ({ path, pieces })),
    packages: [...index.keys()],
    bundles: bundles.length,
  }
}

/** opm makes folders of schema and package. */
function addCustomBlob(files: Map<string, Pieces>, blob: Meta): void {
  const problem = customProblem(blob)
  if (problem !== undefined) throw new NotServed(problem)
  const content = encoder.encode(`${wholeBlobText(blob.value)}\n`)
  const hash = new Fnv64a()
  hash.update(content)
  const path = ['metas', blob.schema, blob.package, `${hash.hex()}.json`].filter((part) => part !== '')
  files.set(path.join('/'), [content])
}

/** opm goes package by package, and says in which it failed. */
function inPackage(name: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (error instanceof NotServed) throw new NotServed(problemInPackage(name, error.message))
    throw error
  }
}

function addBundle(
  files: Map<string, Pieces>,
  { package: of, value }: Meta,
  index: PackageIndex,
  shared: SharedPieces,
): void {
  const parent = index.get(of)
  if (!parent) return
  const content = readBundleContent(value)
  const inChannel = bundlePieces(content, parent, shared)
  for (const channel of parent.channels.values()) {
    const line = channel.bundles.get(content.name)
    if (!line) continue
    const path = `${of}_${channel.name}_${line.name}.json`
    const problem = nameProblem(path) ?? (files.has(path) ? 'another bundle has the same file' : undefined)
    if (problem !== undefined)
      throw new NotServed(`opm has no file ${quote(path)} for a bundle in its cache: ${problem}`)
    files.set(path, inChannel(line))
  }
}

/** Names of channels and bundles may have any character; those of files may not. */
function nameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'the name has a slash in it'
  if (name.includes('\0')) return 'the name has a NUL in it'
  return encoder.encode(name).length > longestName
    ? `the name is longer than ${longestName} bytes`
    : undefined
}
