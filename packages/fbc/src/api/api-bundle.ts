// Builds an `api.Bundle` from the blobs of a catalog.
import { joinJsonChunks, type JsonChunkTree } from '../go/json/json-parts.ts'
import type { ApiBundle } from './api-types.ts'
import type { ApiBundleContent } from './bundle-content.ts'
import type { IndexedBundle, IndexedPackage } from './package-index.ts'
import { buildStubCsv } from './stub-csv.ts'

export interface BundleManifests {
  readonly objects: readonly JsonChunkTree[]
  /** One of the objects, unless it was derived from `olm.csv.metadata`. */
  readonly csv?: JsonChunkTree
}

/**
 * The manifests in the blob, or the ones that opm derives from `olm.csv.metadata`. They are the same in every channel.
 */
export function buildBundleManifests(content: ApiBundleContent, of: IndexedPackage): BundleManifests {
  const objects = content.objects.map((json): JsonChunkTree => [json])
  const csv = objects[content.csv] ?? buildStubCsv(content, of)
  if (!csv) return { objects }
  return { csv, objects: objects.length === 0 ? [csv] : objects }
}

export function buildApiBundle(
  content: ApiBundleContent,
  of: IndexedPackage,
  line: IndexedBundle,
): ApiBundle {
  const { csv, objects } = buildBundleManifests(content, of)
  return {
    csvName: line.name,
    packageName: line.package,
    channelName: line.channel,
    csvJson: csv ? joinJsonChunks(csv) : '',
    object: objects.map(joinJsonChunks),
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
