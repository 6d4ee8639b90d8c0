// A published bundle with changed content. Installations depend on the content, so it is immutable, except for
// displayed metadata (bundle-metadata-edited).
import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import { toCanonicalJson } from '../../../pull-request/compare-blobs.ts'
import type { PackageChange } from '../../../pull-request/change.ts'
import { toFindingLocation } from '../catalog-rule.ts'
import type { BaseAndResultPackage, UpgradeRuleSignature } from './upgrade-rule.ts'

type BundleEditData = { bundle: string; fields: readonly string[] }

export const bundleEdited = defineRule<BundleEditData, UpgradeRuleSignature>({
  id: 'bundle-edited',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The content of a published bundle does not change',
  format: ({ bundle, fields }) => ({
    what: `published bundle "${bundle}" is changed: ${fields.join(', ')}`,
    why: 'Clusters where the bundle is already installed have different content under the same name and version, and never upgrade to the new content.',
    fix: 'Restore the bundle, and publish the correction as a new version that replaces it.',
  }),
  find: (change, sides) => findBundleEdits(change, sides, false),
})

export const bundleMetadataEdited = defineRule<BundleEditData, UpgradeRuleSignature>({
  id: 'bundle-metadata-edited',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The displayed metadata of a published bundle does not change',
  format: ({ bundle }) => ({
    what: `the metadata of published bundle "${bundle}" has changed (olm.csv.metadata or olm.bundle.object)`,
    why: 'Installations are not affected, but the catalog shows or serves different metadata than before.',
    fix: 'Check that the metadata was rendered from the same image, for example to migrate to another metadata format.',
  }),
  find: (change, sides) => findBundleEdits(change, sides, true),
})

function* findBundleEdits(
  { bundles }: PackageChange,
  { base, result }: BaseAndResultPackage,
  metadataOnly: boolean,
) {
  for (const { name, fields, place } of bundles.changed) {
    const before = base?.bundle(name)
    const after = result?.bundle(name)
    const onlyMetadata =
      fields.length === 1 && fields[0] === 'properties' && before !== undefined && after !== undefined
        ? formatPropertiesForComparison(before) === formatPropertiesForComparison(after)
        : false
    if (onlyMetadata === metadataOnly)
      yield { at: toFindingLocation(place), about: [name], data: { bundle: name, fields } }
  }
}

/** All properties that affect resolution and installation. */
function formatPropertiesForComparison(bundle: BundleBlob): string {
  return bundle.properties
    .filter(({ type }) => type !== 'olm.csv.metadata' && type !== 'olm.bundle.object')
    .map(({ type, value }) => toCanonicalJson([type, value]))
    .sort()
    .join()
}
