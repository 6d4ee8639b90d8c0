// The cache that `opm serve --cache-only` writes in its JSON format, byte for byte (opm v1.73, pkg/cache).
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
  /** Relative to `cache/`. */
  readonly path: string
  readonly pieces: Pieces
}

export type CacheResult =
  | {
      readonly ok: true
      readonly files: readonly CacheFile[]
      readonly packages: readonly string[]
      readonly bundles: number
    }
  /** Why opm can't build the cache, in opm's words where possible. */
  | { readonly ok: false; readonly error: string }

const encoder = new TextEncoder()
/** Longest file name on the systems that opm runs on, in bytes. */
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

/** opm uses schema and package as directory names. */
function addCustomBlob(files: Map<string, Pieces>, blob: Meta): void {
  const problem = customProblem(blob)
  if (problem !== undefined) throw new NotServed(problem)
  const content = encoder.encode(`${wholeBlobText(blob.value)}\n`)
  const hash = new Fnv64a()
  hash.update(content)
  const path = ['metas', blob.schema, blob.package, `${hash.hex()}.json`].filter((part) => part !== '')
  files.set(path.join('/'), [content])
}

/** opm works package by package and names the failing one. */
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

/** Channels and bundles allow characters that file names don't. */
function nameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'the name has a slash in it'
  if (name.includes('\0')) return 'the name has a NUL in it'
  return encoder.encode(name).length > longestName
    ? `the name is longer than ${longestName} bytes`
    : undefined
}
