// The linked catalog: packages with their channels, entries, and bundles. Incomplete if the catalog has problems.
import type {
  BlobLocation,
  BundleBlob,
  ChannelBlob,
  ChannelEntry,
  DeprecationEntry,
  PackageBlob,
} from '../facts/catalog.ts'
import type { Version } from '../versions/version.ts'

export interface ModelPackage {
  readonly blob: PackageBlob
  readonly channels: Map<string, ModelChannel>
  deprecation?: ModelDeprecation
}

export interface ModelChannel {
  readonly name: string
  /** Absent for the empty channel that opm adds for a missing `defaultChannel`. */
  readonly blob?: ChannelBlob
  /** By name, in load order. Contains only the first entry of each name. */
  readonly entries: Map<string, ModelChannelEntry>
  deprecation?: ModelDeprecation
}

export interface ModelChannelEntry {
  readonly entry: ChannelEntry
  bundle?: ModelBundle
}

export interface ModelBundle {
  readonly blob: BundleBlob
  /** Absent if the version is invalid. */
  version?: Version
  release: string
  deprecation?: ModelDeprecation
  /** Prevents reporting the problems of a bundle once per channel. */
  isReported?: boolean
}

export interface ModelDeprecation {
  readonly place: BlobLocation
  readonly entry: DeprecationEntry
}
