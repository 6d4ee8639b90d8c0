// Builds an `api.Bundle` from the blobs of a catalog.
import { joinedParts, type JsonParts } from '../../go/json/json-parts.ts'
import type { ApiBundle } from './api-types.ts'
import type { BundleContent } from './bundle-content.ts'
import type { IndexedBundle, IndexedPackage } from './package-index.ts'
import { stubCsv } from './stub-csv.ts'

export interface Manifests {
  readonly objects: readonly JsonParts[]
  /** One of the objects, unless it was derived from `olm.csv.metadata`. */
  readonly csv?: JsonParts
}

/** The blob's own manifests, or the ones that opm derives from `olm.csv.metadata`. The same in every channel. */
export function manifestsOf(content: BundleContent, of: IndexedPackage): Manifests {
  const objects = content.objects.map((json): JsonParts => [json])
  const csv = objects[content.csv] ?? stubCsv(content, of)
  if (!csv) return { objects }
  return { csv, objects: objects.length === 0 ? [csv] : objects }
}

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
