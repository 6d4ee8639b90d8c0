// Compares blobs of two catalogs: bytes first because most are untouched, then parsed values because formatting is not
// content.
import { readBlobFields, type BlobFields } from '../catalog/load/blob-fields.ts'
import type { BlobPlace } from '../catalog/facts/catalog.ts'
import type { Json } from '../go/json/json.ts'
import { isBelow } from './layout/layout.ts'

export type Side = 'base' | 'result'

export interface Texts {
  /**
   * The bytes of a file of one side's tree, by its path from the repository's root; undefined where they are not to be
   * had: then what was in them counts as different. Asked only for files that differ, or whose blobs may have moved.
   */
  read(side: Side, path: string): Uint8Array | undefined
}

export interface BlobComparer {
  /** Whether two blobs have the same bytes. */
  sameBytes(base: BlobPlace, result: BlobPlace): boolean
  /** Both blobs' fields by name; undefined where either is unreadable. */
  values(base: BlobPlace, result: BlobPlace): { base: BlobFields; result: BlobFields } | undefined
}

/**
 * Compares blobs of one catalog at `root`. `differs` says whether a path's content differs between the trees.
 * Places may name files from the repository's root or from the catalog's.
 */
export function compareBlobs(root: string, differs: (path: string) => boolean, texts: Texts): BlobComparer {
  // Cached, because a file holds many blobs and reading may decode it each time.
  const files = new Map<string, Uint8Array | undefined>()
  const bytesOf = (side: Side, place: BlobPlace) => {
    const key = `${side} ${place.file}`
    if (!files.has(key)) files.set(key, texts.read(side, repositoryPath(root, place.file)))
    return files.get(key)?.subarray(place.start, place.end)
  }
  return {
    sameBytes(base, result) {
      if (base.file === result.file && base.start === result.start && base.end === result.end)
        if (!differs(repositoryPath(root, base.file))) return true
      const left = bytesOf('base', base)
      const right = bytesOf('result', result)
      return left !== undefined && right !== undefined && sameBytes(left, right)
    },
    values(base, result) {
      const left = bytesOf('base', base)
      const right = bytesOf('result', result)
      if (left === undefined || right === undefined) return undefined
      const before = readBlobFields(left)
      const after = readBlobFields(right)
      return before && after ? { base: before, result: after } : undefined
    },
  }
}

export function repositoryPath(root: string, file: string): string {
  return isBelow(file, root) ? file : `${root}/${file}`
}

/** Sorted. The order of lists in `unordered` is ignored. */
export function differingFields(
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
      if (!sameList([...before].sort(), [...after].sort())) differing.push(name)
    } else if (!sameList(before, after)) differing.push(name)
  }
  return differing.sort()
}

/** JSON text with sorted keys: equal values have equal texts. */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const fields = value as Readonly<Record<string, Json>>
  return `{${Object.keys(fields)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(fields[name] ?? null)}`)
    .join()}}`
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}
