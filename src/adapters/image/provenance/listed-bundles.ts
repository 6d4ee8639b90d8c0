// A catalog's bundles as plain rows that can be passed between processes.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { getJsonStringField } from '@catalog-bot/fbc/go/json/json'

export interface ListedBundle {
  readonly package: string
  readonly name: string
  /** Empty if the bundle declares no version. */
  readonly version: string
  /** Empty if the bundle has no image. */
  readonly image: string
  readonly relatedImages: readonly string[]
}

export function listBundles({ bundles }: Pick<Catalog, 'bundles'>): readonly ListedBundle[] {
  return bundles.map((bundle) => ({
    package: bundle.package,
    name: bundle.name,
    version: getBundleVersion(bundle),
    image: bundle.image,
    relatedImages: bundle.relatedImages.map((related) => related.image),
  }))
}

function getBundleVersion(bundle: Catalog['bundles'][number]): string {
  const identity = bundle.properties.find(({ type }) => type === 'olm.package')
  return identity ? getJsonStringField(identity.value, 'version') : ''
}
