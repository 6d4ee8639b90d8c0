// The blobs of one package of a catalog, gathered. Plain grouping; decides nothing.
import type {
  BlobPlace,
  BundleBlob,
  Catalog,
  ChannelBlob,
  DeprecationBlob,
  OtherBlob,
  PackageBlob,
} from '../catalog/catalog.ts'

export interface PackageBlobs {
  readonly packages: PackageBlob[]
  readonly channels: ChannelBlob[]
  readonly bundles: BundleBlob[]
  readonly deprecations: DeprecationBlob[]
  readonly others: OtherBlob[]
}

/** The blobs of the packages named in `names`, by package. Packages without any blob are not in the map. */
export function packagesIn(
  catalog: Catalog | undefined,
  names: ReadonlySet<string>,
): ReadonlyMap<string, PackageBlobs> {
  const found = new Map<string, PackageBlobs>()
  const of = (name: string): PackageBlobs | undefined => {
    if (!names.has(name)) return undefined
    let blobs = found.get(name)
    if (!blobs)
      found.set(name, (blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] }))
    return blobs
  }
  for (const blob of catalog?.packages ?? []) of(blob.name)?.packages.push(blob)
  for (const blob of catalog?.channels ?? []) of(blob.package)?.channels.push(blob)
  for (const blob of catalog?.bundles ?? []) of(blob.package)?.bundles.push(blob)
  for (const blob of catalog?.deprecations ?? []) of(blob.package)?.deprecations.push(blob)
  for (const blob of catalog?.others ?? []) of(blob.package)?.others.push(blob)
  return found
}

/** Every place at which a package's blobs stand. */
export function placesOf(blobs: PackageBlobs | undefined): BlobPlace[] {
  if (!blobs) return []
  return [blobs.packages, blobs.channels, blobs.bundles, blobs.deprecations, blobs.others].flatMap((list) =>
    list.map(({ place }) => place),
  )
}

/** The version that a bundle's `olm.package` property states; '' where it states none. */
export function bundleVersion(bundle: BundleBlob): string {
  for (const { type, value } of bundle.properties)
    if (type === 'olm.package' && typeof value === 'object' && value !== null && 'version' in value)
      return typeof value.version === 'string' ? value.version : ''
  return ''
}
