// The catalog as opm links it: packages hold channels, channels hold entries, entries find their bundle.
// Made by convert.ts even from a catalog with problems, with what could be linked; plain values otherwise.
import type {
  BlobPlace,
  BundleBlob,
  ChannelBlob,
  ChannelEntry,
  DeprecationEntry,
  PackageBlob,
} from '../facts/catalog.ts'
import type { Version } from '../versions/version.ts'

export interface ModelPackage {
  readonly blob: PackageBlob
  /** In load order. */
  readonly channels: Map<string, ModelChannel>
  deprecation?: ModelDeprecation
}

export interface ModelChannel {
  readonly name: string
  /** Absent for the empty channel that opm invents where `defaultChannel` names none. */
  readonly blob?: ChannelBlob
  /** By entry name, in load order, the first of each name. */
  readonly entries: Map<string, ModelEntry>
  deprecation?: ModelDeprecation
}

export interface ModelEntry {
  readonly entry: ChannelEntry
  /** Absent for an entry without a bundle blob. */
  bundle?: ModelBundle
}

export interface ModelBundle {
  readonly blob: BundleBlob
  /** Absent where it did not parse. */
  version?: Version
  /** Empty where there is none. */
  release: string
  deprecation?: ModelDeprecation
  /** What is wrong with the bundle itself is said where it is looked at first, however many channels it is in. */
  isTold?: boolean
}

export interface ModelDeprecation {
  /** The olm.deprecations blob that holds the entry. */
  readonly place: BlobPlace
  readonly entry: DeprecationEntry
}
