// The order in which opm writes blobs. Like opm, drops blobs without a package, except custom ones.
import { compareBytes } from '../go/text.ts'
import type { JsonObject, WritableCatalog } from './writable-catalog.ts'

/**
 * Sorts packages by name. Each package has its package blob, channels by name, bundles by name, other blobs by schema,
 * and deprecations. Custom blobs without a package come last.
 */
export function sortBlobsForWriting(catalog: WritableCatalog): JsonObject[] {
  const names = new Set<string>()
  for (const { name } of catalog.packages) names.add(name)
  for (const list of [catalog.channels, catalog.bundles, catalog.others, catalog.deprecations])
    for (const blob of list) names.add(blob.package ?? '')
  names.delete('')
  const packages = groupBlobsByKey(catalog.packages, ({ name }) => name)
  const channels = groupBlobsByKey(catalog.channels, ({ package: of }) => of)
  const bundles = groupBlobsByKey(catalog.bundles, ({ package: of }) => of ?? '')
  const others = groupBlobsByKey(catalog.others, ({ package: of }) => of)
  const deprecations = groupBlobsByKey(catalog.deprecations, ({ package: of }) => of)
  const blobs = [...names]
    .sort(compareBytes)
    .flatMap((name) => [
      ...(packages.get(name) ?? []),
      ...sortBlobsByKey(channels.get(name), (channel) => channel.name),
      ...sortBlobsByKey(bundles.get(name), (bundle) => bundle.name ?? ''),
      ...sortBlobsByKey(others.get(name), ({ schema }) => schema).map(({ value }) => value),
      ...(deprecations.get(name) ?? []),
    ])
  // The types in writable-catalog.ts are JSON by construction, but TypeScript can't infer this because of optional
  // fields.
  return [...blobs, ...(others.get('') ?? []).map(({ value }) => value)] as unknown as JsonObject[]
}

function groupBlobsByKey<Blob>(blobs: readonly Blob[], key: (blob: Blob) => string): Map<string, Blob[]> {
  const groups = new Map<string, Blob[]>()
  for (const blob of blobs) {
    const group = groups.get(key(blob))
    if (group) group.push(blob)
    else groups.set(key(blob), [blob])
  }
  return groups
}

function sortBlobsByKey<Blob>(blobs: readonly Blob[] | undefined, key: (blob: Blob) => string): Blob[] {
  return [...(blobs ?? [])].sort((a, b) => compareBytes(key(a), key(b)))
}
