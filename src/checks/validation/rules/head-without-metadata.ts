// A channel head without metadata. It installs, but consoles cannot show it (operator-registry #907).
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import type { BundleView } from '../view/catalog-view.ts'
import { getStringField } from '../view/string-field.ts'

export const headWithoutMetadata = defineRule<
  {
    bundle: string
    channels: readonly string[]
    lacks: 'metadata' | 'csv' | 'display name'
  },
  CatalogRuleSignature
>({
  id: 'head-without-metadata',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every channel head includes the metadata from its ClusterServiceVersion',
  format: ({ bundle, channels, lacks }) => ({
    what: `${bundle}, the head of ${channels.map((name) => `"${name}"`).join(', ')}, ${missingMetadataMessages[lacks]}`,
    why: 'Consoles read the display name, description, and install modes from the head. Without this metadata, users cannot find the package.',
    fix:
      lacks === 'display name'
        ? 'Add a displayName to the ClusterServiceVersion, and render the bundle again from its image.'
        : 'Render the bundle again from its image.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      const channelsOf = new Map<string, string[]>()
      for (const { blob, head } of its.channels) {
        if (head === undefined) continue
        const channels = channelsOf.get(head.name)
        if (channels) channels.push(blob.name)
        else channelsOf.set(head.name, [blob.name])
      }
      for (const [name, channels] of channelsOf) {
        const bundle = its.bundle(name)
        if (bundle === undefined) continue
        const lacks = findMissingMetadataKind(bundle)
        if (lacks === undefined) continue
        yield {
          at: toFindingLocation(bundle.blob.place),
          about: [its.name, name],
          data: { bundle: name, channels, lacks },
        }
      }
    }
  },
})

const missingMetadataMessages = {
  metadata: 'has neither olm.csv.metadata nor olm.bundle.object',
  csv: 'has no ClusterServiceVersion among its olm.bundle.object properties',
  'display name': 'has olm.csv.metadata without a display name',
} as const

function findMissingMetadataKind(bundle: BundleView): keyof typeof missingMetadataMessages | undefined {
  const objects = bundle.properties('olm.bundle.object')
  const metadata = bundle.properties('olm.csv.metadata')
  if (objects.length + metadata.length === 0) return 'metadata'
  // opm reports what it cannot decode, and another rule covers bundles without an image.
  if (metadata.some(({ error }) => error !== undefined)) return undefined
  if (metadata.length > 0)
    return metadata.some(({ value }) => getStringField(value, 'displayName').trim() !== '')
      ? undefined
      : 'display name'
  if (bundle.blob.image === '' || objects.some(isCsvManifest)) return undefined
  return 'csv'
}

function isCsvManifest({ value, error }: BundleView['blob']['properties'][number]): boolean {
  return error !== undefined || getStringField(value, 'kind') === 'ClusterServiceVersion'
}
