// Compares blobs of two catalogs. Compares bytes first, because most blobs are unchanged, and then parsed values,
// because formatting does not matter.
import type { BlobLocation, BundleBlob, PackageBlobs } from '@catalog-bot/fbc/facts/catalog'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { isPathUnderDirectory } from './layout/layout.ts'
import { parseBlobFields, type BlobFields } from '@catalog-bot/fbc/load/blob-types'

export type ComparedTreeSide = 'base' | 'result'

export interface TreeFileReader {
  /**
   * Returns the bytes of a file in one side's tree, by its path from the repository root. If the bytes are unavailable,
   * it returns undefined, and the content counts as different. Called only for files that differ or that blobs might
   * have left.
   */
  read(side: ComparedTreeSide, path: string): Uint8Array | undefined
}

export interface FbcBlobComparer {
  /** Whether two blobs have the same bytes. */
  sameBytes(base: BlobLocation, result: BlobLocation): boolean
  /** The fields of both blobs by name, or undefined if either blob is unreadable. */
  values(base: BlobLocation, result: BlobLocation): { base: BlobFields; result: BlobFields } | undefined
}

/**
 * Compares blobs of one catalog at `root`. `differs` returns whether a path's content differs between the trees.
 * Locations can be relative to the repository root or to the catalog root.
 */
export function createFbcBlobComparer(
  root: string,
  differs: (path: string) => boolean,
  treeFiles: TreeFileReader,
): FbcBlobComparer {
  // Cached, because a file contains many blobs, and each read might decode the file.
  const files = new Map<string, Uint8Array | undefined>()
  const bytesOf = (side: ComparedTreeSide, location: BlobLocation) => {
    const key = `${side} ${location.file}`
    if (!files.has(key)) files.set(key, treeFiles.read(side, toRepositoryPath(root, location.file)))
    return files.get(key)?.subarray(location.start, location.end)
  }
  return {
    sameBytes(base, result) {
      if (base.file === result.file && base.start === result.start && base.end === result.end)
        if (!differs(toRepositoryPath(root, base.file))) return true
      const left = bytesOf('base', base)
      const right = bytesOf('result', result)
      return left !== undefined && right !== undefined && areBytesEqual(left, right)
    },
    values(base, result) {
      const left = bytesOf('base', base)
      const right = bytesOf('result', result)
      if (left === undefined || right === undefined) return undefined
      const before = parseBlobFields(left)
      const after = parseBlobFields(right)
      return before && after ? { base: before, result: after } : undefined
    },
  }
}

export function toRepositoryPath(root: string, file: string): string {
  return isPathUnderDirectory(file, root) ? file : `${root}/${file}`
}

/** Sorted. The order of lists in `unordered` is ignored. */
export function findChangedBlobFields(
  base: BlobFields,
  result: BlobFields,
  unordered: ReadonlySet<string> = new Set(),
): string[] {
  const differing: string[] = []
  for (const name of new Set([...base.keys(), ...result.keys()])) {
    const [before, after] = [base.get(name), result.get(name)]
    if (before === undefined || after === undefined) differing.push(name)
    else if (typeof before === 'string' || typeof after === 'string') {
      if (before !== after) differing.push(name)
    } else if (unordered.has(name)) {
      if (!areStringListsEqual([...before].sort(), [...after].sort())) differing.push(name)
    } else if (!areStringListsEqual(before, after)) differing.push(name)
  }
  return differing.sort()
}

/** Returns JSON text with sorted keys, so that equal values have equal text. */
export function toCanonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join()}]`
  const fields = value as Readonly<Record<string, Json>>
  return `{${Object.keys(fields)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${toCanonicalJson(fields[name] ?? null)}`)
    .join()}}`
}

export function areBytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

function areStringListsEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}

export function getBlobLocations(blobs: PackageBlobs | undefined): BlobLocation[] {
  if (!blobs) return []
  return [blobs.packages, blobs.channels, blobs.bundles, blobs.deprecations, blobs.others].flatMap((list) =>
    list.map(({ place }) => place),
  )
}

/** Reads the version from the bundle's `olm.package` property. Returns '' if it has none. */
export function getBundleVersion(bundle: BundleBlob): string {
  for (const { type, value } of bundle.properties)
    if (type === 'olm.package' && typeof value === 'object' && value !== null && 'version' in value)
      return typeof value.version === 'string' ? value.version : ''
  return ''
}

/** What is only in `after`, only in `before`, and in both, in the order of the maps. */
export function splitMaps<Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>) {
  return {
    added: [...after].flatMap(([key, value]) => (before.has(key) ? [] : [value])),
    removed: [...before].flatMap(([key, value]) => (after.has(key) ? [] : [value])),
    both: [...after].flatMap(([key, value]) => {
      const old = before.get(key)
      return old === undefined ? [] : [[old, value] as const]
    }),
  }
}

/** If several have one name, the last one counts. */
export function splitByName<Item extends { readonly name: string }>(
  before: readonly Item[],
  after: readonly Item[],
) {
  const indexByName = (items: readonly Item[]) => new Map(items.map((item) => [item.name, item]))
  return splitMaps(indexByName(before), indexByName(after))
}
