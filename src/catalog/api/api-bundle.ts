// How opm makes an `api.Bundle` of a catalog's blobs: the bundle's own, its line in the channel, and its package's.
import type { ModelChannel, ModelEntry, ModelPackage } from '../model/model.ts'
import type { ApiBundle } from './api-types.ts'
import type { ServedBundle } from './served-bundle.ts'
import { stubCsv } from './stub-csv.ts'
import type { ServedPackage } from './served-package.ts'

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
