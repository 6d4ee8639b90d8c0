// Catalog data, with locations, for rules, checks, and drawings. Plain data, so that the facts of a file can be cached
// as JSON by blob id. Created by parse-catalog-file.ts (one file) and assembleCatalog (all files).
import type { Finding } from '@catalog-bot/findings/finding'
import type { Json } from '../go/json/json.ts'
import type { TextPosition } from '../go/position-lookup.ts'
import { comparePathsInWalkOrder } from '../go/text.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

// Part of the cache key of facts. Raise it when the reader or the shape of FileFacts changes, so that old facts are
// discarded (test/packages/fbc/facts/facts-version.test.ts).
export const parsedCatalogFileVersion = 6

export interface BlobLocation extends TextPosition {
  readonly file: string
  /** Index of the document in its file, from 0. */
  readonly document: number
  /** Byte offsets in the file: `[start, end)`. */
  readonly start: number
  readonly end: number
}

export interface PackageBlob {
  readonly place: BlobLocation
  readonly name: string
  readonly defaultChannel: string
  readonly description: string
  /** Absent or empty icons are omitted. `bytes` is the decoded length; `looksLike` is from parse-blobs.ts. */
  readonly icon?: {
    readonly mediatype: string
    readonly bytes: number
    readonly mark: TextPosition
    readonly looksLike?: string
  }
}

export interface ChannelBlob {
  readonly place: BlobLocation
  readonly name: string
  readonly package: string
  readonly entries: readonly ChannelEntry[]
}

/** Absent fields are empty strings. */
export interface ChannelEntry {
  readonly mark: TextPosition
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: string
}

export interface BundleBlob {
  readonly place: BlobLocation
  readonly name: string
  readonly package: string
  readonly image: string
  readonly imageMark?: TextPosition
  readonly properties: readonly Property[]
  readonly relatedImages: readonly RelatedImage[]
}

/**
 * `value` is the parsed JSON, except for the two large types, which keep only a summary:
 * `olm.csv.metadata` -> CsvMetadata, `olm.bundle.object` -> BundleObject.
 */
export interface Property {
  readonly mark: TextPosition
  readonly type: string
  readonly value: Json
  /** Go's error if the value doesn't decode to its type. */
  readonly error?: string
}

export interface RelatedImage {
  readonly mark: TextPosition
  readonly name: string
  readonly image: string
}

/** The summary of an `olm.csv.metadata` value, with only those annotations that rules use. */
export type CsvMetadata = {
  readonly displayName: string
  readonly description: number
  readonly provider: string
  readonly minKubeVersion: string
  readonly installModes: readonly { readonly type: string; readonly supported: boolean }[]
  readonly annotations: Readonly<Record<string, string>>
}

/** The summary of an `olm.bundle.object` value; `bytes` is the decoded size. */
export type BundleObjectSummary = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly bytes: number
}

export interface DeprecationBlob {
  readonly place: BlobLocation
  readonly package: string
  readonly entries: readonly DeprecationEntry[]
}

export interface DeprecationEntry {
  readonly mark: TextPosition
  readonly schema: string
  readonly name: string
  readonly message: string
}

/** A blob with any other schema, which opm does not decode. */
export interface CustomSchemaBlob {
  readonly place: BlobLocation
  readonly schema: string
  readonly package: string
  readonly name: string
}

/** Something that opm ignores without an error. find-strict-decoding-problems.ts keeps at most `maxStrictDecodingProblemsPerFile` per file. */
export type StrictDecodingProblem = {
  readonly mark: TextPosition
  /** The blob's own schema, package and name, '' if absent. For dropped text, the blob before it. */
  readonly schema: string
  readonly package: string
  readonly name: string
} & (
  | { readonly kind: 'unknown-field'; readonly path: string }
  /** The last duplicate counts; the mark points to a later one. */
  | { readonly kind: 'repeated-key'; readonly path: string }
  /** A plain scalar that reads as another type than its text suggests, in a field that takes any type. */
  | {
      readonly kind: 'scalar'
      readonly path: string
      readonly text: string
      readonly value: number | boolean
    }
  /** Text after the end of a document, which opm never reads; `text` is its beginning. */
  | { readonly kind: 'dropped-text'; readonly text: string }
)

/** Many leniencies in one file usually have one cause. The limit also protects against malicious files. */
export const maxStrictDecodingProblemsPerFile = 100

/** The contents of one file, in document order. They depend only on the file's bytes, so they are cached by blob id. */
export interface ParsedCatalogFile {
  readonly bytes: number
  readonly packages: readonly PackageBlob[]
  readonly channels: readonly ChannelBlob[]
  readonly bundles: readonly BundleBlob[]
  readonly deprecations: readonly DeprecationBlob[]
  readonly others: readonly CustomSchemaBlob[]
  /** Absent if opm loads the file. */
  readonly loadError?: string
  /** Findings of load errors and file-scoped rules. The file in all locations is '' until assembleCatalog() sets it. */
  readonly findings: readonly Finding[]
  readonly oddities?: readonly StrictDecodingProblem[]
}

/** All files of one catalog, in walk order. */
export interface Catalog {
  readonly packages: readonly PackageBlob[]
  readonly channels: readonly ChannelBlob[]
  readonly bundles: readonly BundleBlob[]
  readonly deprecations: readonly DeprecationBlob[]
  readonly others: readonly CustomSchemaBlob[]
  /** In walk order; opm reports only the first. */
  readonly loadErrors: readonly { readonly file: string; readonly message: string }[]
  readonly findings: readonly Finding[]
  /** In walk order. */
  readonly oddities?: readonly (StrictDecodingProblem & { readonly file: string })[]
  /** The files of the catalog without those that .indexignore excludes, with their sizes in bytes. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
}

/** `files` can be in any order. The result is in walk order. Sets the paths in locations and findings. */
export function assembleCatalog(
  files: Iterable<{ readonly path: string; readonly facts: ParsedCatalogFile }>,
): Catalog {
  const walked = [...files].sort((a, b) => comparePathsInWalkOrder(a.path, b.path))
  const all = <Part>(part: (facts: ParsedCatalogFile, path: string) => readonly Part[]) =>
    walked.flatMap(({ path, facts }) => part(facts, path))
  const located = walked.map(({ path, facts }) => locateCatalogBlobs(facts, path))
  return {
    packages: located.flatMap(({ packages }) => packages),
    channels: located.flatMap(({ channels }) => channels),
    bundles: located.flatMap(({ bundles }) => bundles),
    deprecations: located.flatMap(({ deprecations }) => deprecations),
    others: located.flatMap(({ others }) => others),
    findings: all((facts, path) => facts.findings.map((finding) => addFilePathToFinding(finding, path))),
    oddities: all((facts, path) => (facts.oddities ?? []).map((leniency) => ({ ...leniency, file: path }))),
    loadErrors: walked.flatMap(({ path, facts }) =>
      facts.loadError === undefined ? [] : [{ file: path, message: facts.loadError }],
    ),
    files: walked.map(({ path, facts }) => ({ path, bytes: facts.bytes })),
  }
}

const lastLocatedBlobs = new WeakMap<
  ParsedCatalogFile,
  { readonly path: string; readonly blobs: PackageBlobs }
>()

/** Both sides of a change then share the blobs of the files that do not differ, and what is computed from each blob. */
function locateCatalogBlobs(facts: ParsedCatalogFile, path: string): PackageBlobs {
  const known = lastLocatedBlobs.get(facts)
  if (known?.path === path) return known.blobs
  const locate = <Blob extends { readonly place: BlobLocation }>(blobs: readonly Blob[]) =>
    blobs.map((blob) => setCatalogBlobFilePath(blob, path))
  const blobs = {
    packages: locate(facts.packages),
    channels: locate(facts.channels),
    bundles: locate(facts.bundles),
    deprecations: locate(facts.deprecations),
    others: locate(facts.others),
  }
  lastLocatedBlobs.set(facts, { path, blobs })
  return blobs
}

function setCatalogBlobFilePath<Blob extends { readonly place: BlobLocation }>(
  blob: Blob,
  file: string,
): Blob {
  return { ...blob, place: { ...blob.place, file } }
}

function addFilePathToFinding(finding: Finding, file: string): Finding {
  // A finding about the whole file must also contain its path.
  const at = { line: 1, column: 1, ...finding.at, file }
  if (!finding.related) return { ...finding, at }
  return { ...finding, at, related: finding.related.map((one) => ({ ...one, at: { ...one.at, file } })) }
}

/** The blobs of one package, or of one file. */
export type PackageBlobs = Pick<Catalog, 'packages' | 'channels' | 'bundles' | 'deprecations' | 'others'>

/** Shared, because a catalog can have hundreds of thousands of packages, and most lack most kinds of blobs. */
export const emptyPackageBlobs: PackageBlobs = {
  packages: [],
  channels: [],
  bundles: [],
  deprecations: [],
  others: [],
}

/**
 * Groups blobs by package. Packages without blobs are not in the map. Catalogs share the objects of packages that have
 * the same blobs, and what is computed from each.
 */
export const getPackageBlobs: (catalog: Catalog) => ReadonlyMap<string, PackageBlobs> = memoizePerObject(
  (catalog) => {
    const found = new Map<string, { -readonly [Kind in keyof PackageBlobs]: PackageBlobs[Kind] }>()
    const gather = <Kind extends keyof PackageBlobs>(
      kind: Kind,
      blobs: PackageBlobs[Kind],
      nameOf: (blob: PackageBlobs[Kind][number]) => string,
    ): void => {
      for (const blob of blobs) {
        const name = nameOf(blob)
        let its = found.get(name)
        if (!its) found.set(name, (its = { ...emptyPackageBlobs }))
        if (its[kind] === emptyPackageBlobs[kind]) its[kind] = [blob] as never
        else (its[kind] as (typeof blob)[]).push(blob)
      }
    }
    gather('packages', catalog.packages, ({ name }) => name)
    gather('channels', catalog.channels, (blob) => blob.package)
    gather('bundles', catalog.bundles, (blob) => blob.package)
    gather('deprecations', catalog.deprecations, (blob) => blob.package)
    gather('others', catalog.others, (blob) => blob.package)
    for (const [name, its] of found) found.set(name, reuseEqualPackageBlobs(its))
    return found
  },
)

const packageBlobKinds = ['packages', 'channels', 'bundles', 'deprecations', 'others'] as const
const lastPackageBlobs = new WeakMap<object, PackageBlobs>()

function reuseEqualPackageBlobs(its: PackageBlobs): PackageBlobs {
  const first =
    its.bundles[0] ?? its.channels[0] ?? its.packages[0] ?? its.deprecations[0] ?? its.others[0] ?? its
  const known = lastPackageBlobs.get(first)
  const isEqual = (kind: keyof PackageBlobs) =>
    known?.[kind].length === its[kind].length && its[kind].every((blob, at) => blob === known[kind][at])
  if (known && packageBlobKinds.every(isEqual)) return known
  lastPackageBlobs.set(first, its)
  return its
}
