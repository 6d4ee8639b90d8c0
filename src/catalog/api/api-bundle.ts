// A bundle in a channel as OLM's gRPC API knows it (`api.Bundle`), and how opm makes one of a catalog's blobs.
// Pure data under the names of the protocol.
import type { ModelChannel, ModelEntry, ModelPackage } from '../model/model.ts'
import type { ServedBundle } from './served-bundle.ts'
import { stubCsv } from './stub-csv.ts'
import type { ServedPackage } from './served-package.ts'

export interface ApiBundle {
  readonly csvName: string
  readonly packageName: string
  readonly channelName: string
  /** The ClusterServiceVersion as JSON; empty where the catalog holds none. */
  readonly csvJson: string
  /** The manifests as JSON. */
  readonly object: readonly string[]
  readonly bundlePath: string
  readonly providedApis: readonly GroupVersionKind[]
  readonly requiredApis: readonly GroupVersionKind[]
  readonly version: string
  readonly skipRange: string
  readonly dependencies: readonly TypedValue[]
  readonly properties: readonly TypedValue[]
  readonly replaces: string
  readonly skips: readonly string[]
  readonly deprecation?: Deprecation
}

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A property or a dependency; its value is JSON as text. */
export interface TypedValue {
  readonly type: string
  readonly value: string
}

export interface Deprecation {
  readonly message: string
}

/** What is known of one bundle in one channel. */
export interface BundleInChannel {
  readonly package: ModelPackage
  readonly channel: ModelChannel
  readonly entry: ModelEntry
}

/** The bundle as opm serves it in that channel, and keeps it in its cache. */
export function apiBundle(
  { package: parent, channel, entry: { entry, bundle } }: BundleInChannel,
  content: ServedBundle,
  ofPackage: ServedPackage | undefined,
): ApiBundle {
  const { manifests } = content
  const stub = manifests.csv === '' ? stubCsv(entry.name, content, ofPackage) : undefined
  const csvJson = stub ?? manifests.csv
  return {
    csvName: entry.name,
    packageName: parent.blob.name,
    channelName: channel.name,
    csvJson,
    object: manifests.objects.length === 0 && stub !== undefined ? [stub] : manifests.objects,
    bundlePath: content.image,
    providedApis: content.providedApis,
    requiredApis: content.requiredApis,
    version: content.version,
    skipRange: entry.skipRange,
    dependencies: content.dependencies,
    properties: content.properties,
    replaces: entry.replaces,
    skips: entry.skips,
    ...(bundle?.deprecation && { deprecation: { message: bundle.deprecation.entry.message } }),
  }
}
