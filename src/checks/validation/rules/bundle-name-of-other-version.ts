// A bundle whose name contains a different version than its olm.package property. Users read the name, and OLM reads
// the property.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const bundleNameOfOtherVersion = defineRule<
  { bundle: string; version: string; stated: string },
  CatalogRuleSignature
>({
  id: 'bundle-name-of-other-version',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'info',
  since: '0.1.0',
  title: 'The version in a bundle name matches the bundle version',
  format: ({ bundle, version, stated }) => ({
    what: `${bundle} is named for version ${stated}, but its version is ${version}`,
    why: 'Users read the version from the name, but OLM reads it from the property, so users and OLM can disagree about which bundle is newer.',
    fix: 'Rename the bundle to match its version, or correct the olm.package property. Do not change a published bundle.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const { name, place } = bundle.blob
      const { version } = bundle
      if (version === undefined) continue
      const stated = /(?:^|[^0-9a-z])v?(\d+\.\d+\.\d+)(?![\d])/i.exec(name)?.[1]
      const own = `${version.major}.${version.minor}.${version.patch}`
      if (stated === undefined || stated === own) continue
      yield {
        at: toFindingLocation(place),
        about: [its.name, name],
        data: { bundle: name, version: bundle.versionText, stated },
      }
    }
  },
})
