// The texts behind two catalogs' facts: whether two blobs say the same, and in which fields they differ.
// Bytes first, because most blobs are untouched; then the parsed values, because formatting is not content.
import type { BlobPlace, Json } from '../catalog/catalog.ts'
import { isBelow } from './layout.ts'

export type Side = 'base' | 'result'

/** Where the texts of differing files come from. Both functions are total: `undefined` means "not to be had". */
export interface Texts {
  /** The bytes of a file of one side's tree, by its path from the repository's root. */
  read(side: Side, path: string): Uint8Array | undefined
  /** The value of one document's bytes as opm reads it; undefined where it has none. */
  parse(document: Uint8Array): Json | undefined
}

export interface BlobComparer {
  /** Whether the blobs at two places are the same bytes: untouched, moved, or equal. */
  sameBytes(base: BlobPlace, result: BlobPlace): boolean
  /** Both blobs' values, fields by name; undefined where either cannot be read. */
  values(base: BlobPlace, result: BlobPlace): { base: Fields; result: Fields } | undefined
}

export type Fields = Readonly<Record<string, Json>>

/**
 * Compares blobs of one catalog at `root`. `differs` says whether a path's content differs between the trees.
 * Places may name files from the repository's root or from the catalog's.
 */
export function compareBlobs(root: string, differs: (path: string) => boolean, texts: Texts): BlobComparer {
  const bytesOf = (side: Side, place: BlobPlace) =>
    texts.read(side, repositoryPath(root, place.file))?.subarray(place.start, place.end)
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
      const before = texts.parse(left)
      const after = texts.parse(right)
      return isFields(before) && isFields(after) ? { base: before, result: after } : undefined
    },
  }
}

/** A catalog file's path from the repository's root. */
export function repositoryPath(root: string, file: string): string {
  return isBelow(file, root) ? file : `${root}/${file}`
}

/** Names of the fields that differ, sorted. Fields in `unordered` are lists whose order says nothing. */
export function differingFields(
  base: Fields,
  result: Fields,
  unordered: ReadonlySet<string> = new Set(),
): string[] {
  const differing: string[] = []
  for (const name of new Set([...Object.keys(base), ...Object.keys(result)])) {
    const [before, after] = [base[name], result[name]]
    const same =
      unordered.has(name) && Array.isArray(before) && Array.isArray(after)
        ? sameList(before.map(canonical).sort(), after.map(canonical).sort())
        : canonical(before ?? null) === canonical(after ?? null)
    if (!same) differing.push(name)
  }
  return differing.sort()
}

/** JSON text with sorted keys: equal values have equal texts. */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const fields = value as Fields
  return `{${Object.keys(fields)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(fields[name] ?? null)}`)
    .join()}}`
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}
