import type {
  BlobLocation,
  BundleBlob,
  Catalog,
  ChannelBlob,
  DeprecationBlob,
  CustomSchemaBlob,
  PackageBlob,
} from '@catalog-bot/fbc/facts/catalog'

export interface PackageBlobs {
  readonly packages: readonly PackageBlob[]
  readonly channels: readonly ChannelBlob[]
  readonly bundles: readonly BundleBlob[]
  readonly deprecations: readonly DeprecationBlob[]
  readonly others: readonly CustomSchemaBlob[]
}

/** Shared, because a catalog can have hundreds of thousands of packages, and most lack most kinds of blobs. */
const emptyPackageBlobs: PackageBlobs = {
  packages: [],
  channels: [],
  bundles: [],
  deprecations: [],
  others: [],
}

/** Groups blobs by package. `names` limits the packages. Packages without blobs are not in the map. */
export function groupBlobsByPackage(
  catalog: Catalog | undefined,
  names?: ReadonlySet<string>,
): ReadonlyMap<string, PackageBlobs> {
  const found = new Map<string, { -readonly [Kind in keyof PackageBlobs]: PackageBlobs[Kind] }>()
  const gather = <Kind extends keyof PackageBlobs>(
    kind: Kind,
    blobs: PackageBlobs[Kind] = emptyPackageBlobs[kind],
    nameOf: (blob: PackageBlobs[Kind][number]) => string,
  ): void => {
    for (const blob of blobs) {
      const name = nameOf(blob)
      if (names?.has(name) === false) continue
      let its = found.get(name)
      if (!its) found.set(name, (its = { ...emptyPackageBlobs }))
      if (its[kind] === emptyPackageBlobs[kind]) its[kind] = [blob] as never
      else (its[kind] as (typeof blob)[]).push(blob)
    }
  }
  gather('packages', catalog?.packages, ({ name }) => name)
  gather('channels', catalog?.channels, (blob) => blob.package)
  gather('bundles', catalog?.bundles, (blob) => blob.package)
  gather('deprecations', catalog?.deprecations, (blob) => blob.package)
  gather('others', catalog?.others, (blob) => blob.package)
  return found
}

export function getBlobLocations(blobs: PackageBlobs | undefined): BlobLocation[] {
  if (!blobs) return []
  return [blobs.packages, blobs.channels, blobs.bundles, blobs.deprecations, blobs.others].flatMap((list) =>
    list.map(({ place }) => place),
  )
}

/** Reads the version from the bundle's `olm.package` property. Returns '' if it has none. */
export function getBundleVersion(bundle: BundleBlob): string {
  for (const { type, value } of bundle.properties)
    if (type === 'olm.package' && typeof value === 'object' && value !== null && 'version' in value)
      return typeof value.version === 'string' ? value.version : ''
  return ''
}
