// A published bundle with changed content. Installations depend on it, so it is immutable, except for what catalogs
// display (bundle-metadata-edited).
import { defineRule } from '../../../findings/rule.ts'
import type { BundleBlob } from '../../../catalog/facts/catalog.ts'
import { toCanonicalJson } from '../../../change/compare-blobs.ts'
import type { PackageChange } from '../../../change/change.ts'
import { toLocation } from '../catalog-rule.ts'
import type { BaseAndResult, UpgradeRuleKind } from './upgrade-rule.ts'

type BundleEditData = { bundle: string; fields: readonly string[] }

export const bundleEdited = defineRule<BundleEditData, UpgradeRuleKind>({
  id: 'bundle-edited',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A published bundle keeps its content',
  format: ({ bundle, fields }) => ({
    what: `published bundle "${bundle}" is edited: ${fields.join(', ')}`,
    why: 'Clusters that installed it have something else under the same name and version, and are never upgraded to this.',
    fix: 'Restore the bundle as it was, and publish the correction as a new version that replaces it.',
  }),
  find: (change, sides) => findBundleEdits(change, sides, false),
})

export const bundleMetadataEdited = defineRule<BundleEditData, UpgradeRuleKind>({
  id: 'bundle-metadata-edited',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The displayed metadata of a published bundle stays as it was rendered',
  format: ({ bundle }) => ({
    what: `the metadata of published bundle "${bundle}" is edited (olm.csv.metadata or olm.bundle.object)`,
    why: 'Image, version, dependencies and related images are the same; what the catalog shows or serves of it is not.',
    fix: 'Check that it was rendered from the same image, for instance to move it to another metadata format.',
  }),
  find: (change, sides) => findBundleEdits(change, sides, true),
})

function* findBundleEdits(
  { bundles }: PackageChange,
  { base, result }: BaseAndResult,
  metadataOnly: boolean,
) {
  for (const { name, fields, place } of bundles.changed) {
    const before = base?.bundle(name)
    const after = result?.bundle(name)
    const onlyMetadata =
      fields.length === 1 && fields[0] === 'properties' && before !== undefined && after !== undefined
        ? toResolutionKey(before) === toResolutionKey(after)
        : false
    if (onlyMetadata === metadataOnly)
      yield { at: toLocation(place), about: [name], data: { bundle: name, fields } }
  }
}

/** All properties that affect resolution and installation. */
function toResolutionKey(bundle: BundleBlob): string {
  return bundle.properties
    .filter(({ type }) => type !== 'olm.csv.metadata' && type !== 'olm.bundle.object')
    .map(({ type, value }) => toCanonicalJson([type, value]))
    .sort()
    .join()
}
