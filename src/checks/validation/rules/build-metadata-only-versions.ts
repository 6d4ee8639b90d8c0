// Two bundles of a package whose versions differ only after the `+`. opm treats them as different, OLM as equal.
import { defineRule } from '@catalog-bot/findings/rule'
import { compareVersions } from '@catalog-bot/fbc/versions/version'
import { getStringField } from '../view/string-field.ts'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import type { BundleView } from '../view/catalog-view.ts'

export const buildMetadataOnlyVersions = defineRule<
  {
    bundle: string
    version: string
    other: string
    otherVersion: string
  },
  CatalogRuleSignature
>({
  id: 'build-metadata-only-versions',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Versions of a package differ in more than build metadata',
  format: ({ bundle, version, other, otherVersion }) => ({
    what: `${bundle} (${version}) and ${other} (${otherVersion}) differ only in build metadata`,
    why: 'OLM ignores the part after "+" when it compares versions, so neither bundle is newer and ranges cannot distinguish them.',
    fix: 'Give the later bundle a higher patch version, or set its release.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      const seen = new Map<string, BundleView>()
      for (const bundle of its.bundles) {
        const { version, versionText } = bundle
        if (version === undefined || hasOlmPackageReleaseField(bundle)) continue
        const key = versionText.split('+')[0] ?? ''
        const other = seen.get(key)
        if (other === undefined) {
          seen.set(key, bundle)
          continue
        }
        if (other.versionText === versionText || other.version === undefined) continue
        if (compareVersions(other.version, version) !== 0) continue
        yield {
          at: toFindingLocation(bundle.blob.place),
          about: [its.name, bundle.blob.name, other.blob.name],
          data: {
            bundle: bundle.blob.name,
            version: versionText,
            other: other.blob.name,
            otherVersion: other.versionText,
          },
          related: [{ at: toFindingLocation(other.blob.place), note: other.blob.name }],
        }
      }
    }
  },
})

function hasOlmPackageReleaseField(bundle: BundleView): boolean {
  return bundle.properties('olm.package').some(({ value }) => getStringField(value, 'release') !== '')
}
