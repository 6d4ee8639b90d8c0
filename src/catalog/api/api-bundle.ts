// How opm makes an `api.Bundle` of a catalog's blobs: the bundle's own, its line in the channel, and its package's.
import { joinedParts, type JsonParts } from '../../go/json/json-parts.ts'
import type { ApiBundle } from './api-types.ts'
import type { BundleContent } from './bundle-content.ts'
import type { IndexedBundle, IndexedPackage } from './package-index.ts'
import { stubCsv } from './stub-csv.ts'

export interface Manifests {
  readonly objects: readonly JsonParts[]
  /** The ClusterServiceVersion: one of the objects, unless it is made up beside others. */
  readonly csv?: JsonParts
}

/** Those that the bundle's blob holds, or the one that opm makes of its olm.csv.metadata. The same in every channel. */
export function manifestsOf(content: BundleContent, of: IndexedPackage): Manifests {
  const objects = content.objects.map((json): JsonParts => [json])
  const csv = objects[content.csv] ?? stubCsv(content, of)
  if (!csv) return { objects }
  return { csv, objects: objects.length === 0 ? [csv] : objects }
}

/** The bundle as opm serves it in that channel. */
export function apiBundle(content: BundleContent, of: IndexedPackage, line: IndexedBundle): ApiBundle {
  const { csv, objects } = manifestsOf(content, of)
  return {
    csvName: line.name,
    packageName: line.package,
    channelName: line.channel,
    csvJson: csv ? joinedParts(csv) : '',
    object: objects.map(joinedParts),
    bundlePath: content.image,
    providedApis: content.providedApis,
    requiredApis: content.requiredApis,
    version: content.version,
    skipRange: line.skipRange,
    dependencies: content.dependencies,
    properties: content.properties,
    replaces: line.replaces,
    skips: line.skips,
    ...(line.deprecation && { deprecation: line.deprecation }),
  }
}
