// The catalog as facts: what all files of one catalog say, reduced to what rules, checks and pictures need,
// each fact with its place. Made by read-file.ts (one file) and assemble.ts (all files); plain data throughout,
// so that a file's facts can be cached by blob id as JSON. Vocabulary: OLM's file-based catalog format.
import type { Finding } from '../../findings/finding.ts'
import type { Json } from '../../go/json/json.ts'
import type { Mark } from '../../go/mark.ts'

/** Where a blob stands: its file, and the byte range of its document in that file. */
export interface BlobPlace extends Mark {
  readonly file: string
  /** Index of the blob's document in its file, from 0. */
  readonly document: number
  /** Byte offsets of the document's text in the file: `[start, end)`. */
  readonly start: number
  readonly end: number
}

export interface PackageBlob {
  readonly place: BlobPlace
  readonly name: string
  readonly defaultChannel: string
  readonly description: string
  /**
   * Absent when the blob has no icon or an empty one. `bytes` is the decoded length, `looksLike` the media type
   * that the bytes show (sniff-image.ts), absent when they show none.
   */
  readonly icon?: {
    readonly mediatype: string
    readonly bytes: number
    readonly mark: Mark
    readonly looksLike?: string
  }
}

export interface ChannelBlob {
  readonly place: BlobPlace
  readonly name: string
  readonly package: string
  readonly entries: readonly ChannelEntry[]
}

/** A bundle's line in a channel, with the upgrade edges that it declares. Absent texts are empty strings. */
export interface ChannelEntry {
  readonly mark: Mark
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: string
}

export interface BundleBlob {
  readonly place: BlobPlace
  readonly name: string
  readonly package: string
  readonly image: string
  readonly imageMark?: Mark
  readonly properties: readonly Property[]
  readonly relatedImages: readonly RelatedImage[]
}

/**
 * One property of a bundle. `value` is the parsed JSON value, except for the two bulky types, of which only
 * a summary is kept: `olm.csv.metadata` -> CsvMetadata, `olm.bundle.object` -> BundleObject.
 */
export interface Property {
  readonly mark: Mark
  readonly type: string
  readonly value: Json
  /** Go's text for a value that does not decode to its type; absent when it does or the type is opaque. */
  readonly error?: string
}

export interface RelatedImage {
  readonly mark: Mark
  readonly name: string
  readonly image: string
}

/** What is kept of an `olm.csv.metadata` value. Annotations only those that rules look at. */
export type CsvMetadata = {
  readonly displayName: string
  readonly description: number
  readonly provider: string
  readonly minKubeVersion: string
  readonly installModes: readonly { readonly type: string; readonly supported: boolean }[]
  readonly annotations: Readonly<Record<string, string>>
}

/** What is kept of an `olm.bundle.object` value: the manifest's identity and its decoded size in bytes. */
export type BundleObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly bytes: number
}

export interface DeprecationBlob {
  readonly place: BlobPlace
  readonly package: string
  readonly entries: readonly DeprecationEntry[]
}

export interface DeprecationEntry {
  readonly mark: Mark
  readonly schema: string
  readonly name: string
  readonly message: string
}

/** A blob of any other schema: opm keeps it unread (custom metadata, a template left in the catalog). */
export interface OtherBlob {
  readonly place: BlobPlace
  readonly schema: string
  readonly package: string
  readonly name: string
}

/**
 * Something that opm passes over in silence, so that no blob above shows it. Made by find-oddities.ts (and, for
 * dropped text, by whatever splits the file); at most `oddityCap` of one file are kept.
 */
export type Oddity = {
  readonly mark: Mark
  /** The blob it stands in (for dropped text: behind), by what it says of itself; '' for what it does not say. */
  readonly schema: string
  readonly package: string
  readonly name: string
} & (
  | { readonly kind: 'unknown-field'; readonly path: string }
  /** A key written more than once in one mapping: the last one counts. The mark is that of a later one. */
  | { readonly kind: 'repeated-key'; readonly path: string }
  /** A plain scalar that reads as another type than its text suggests, where any type is taken. */
  | {
      readonly kind: 'scalar'
      readonly path: string
      readonly text: string
      readonly value: number | boolean
    }
  /** Text behind a document's end that nobody reads; `text` is its beginning. */
  | { readonly kind: 'dropped-text'; readonly text: string }
)

/** A file that is odd in more places has one cause, not many: enough to explain, and a bound for hostile files. */
export const oddityCap = 100

/** All that one file says, in document order. Depends on the file's bytes alone, so it is cached by blob id. */
export interface FileFacts {
  /** The file's size in bytes. */
  readonly bytes: number
  readonly packages: readonly PackageBlob[]
  readonly channels: readonly ChannelBlob[]
  readonly bundles: readonly BundleBlob[]
  readonly deprecations: readonly DeprecationBlob[]
  readonly others: readonly OtherBlob[]
  /** opm's flat load error for this file, or absent when opm loads it. */
  readonly loadError?: string
  /**
   * Findings that this file alone gives rise to: load errors, and the file-scoped rules of the full profile.
   * Like every place in FileFacts they name the file '' until assemble() sets the path.
   */
  readonly findings: readonly Finding[]
  /** Absent when the file has none. */
  readonly oddities?: readonly Oddity[]
}

/** One catalog (all its files): the blobs of all files together, in walk order. */
export interface Catalog {
  readonly packages: readonly PackageBlob[]
  readonly channels: readonly ChannelBlob[]
  readonly bundles: readonly BundleBlob[]
  readonly deprecations: readonly DeprecationBlob[]
  readonly others: readonly OtherBlob[]
  /** Load errors in walk order: opm reports one of them, whichever comes first. */
  readonly loadErrors: readonly { readonly file: string; readonly message: string }[]
  /** The file-scoped findings of all files, with their paths. */
  readonly findings: readonly Finding[]
  /** The oddities of all files, in walk order. */
  readonly oddities?: readonly (Oddity & { readonly file: string })[]
  /** Files that belong to the catalog (after .indexignore), with their sizes. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
}
