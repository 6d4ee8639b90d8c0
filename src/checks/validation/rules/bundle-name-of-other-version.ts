// A bundle whose name states another version than its olm.package property. People go by the name, OLM by the property.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'

export const bundleNameOfOtherVersion = defineRule<
  { bundle: string; version: string; stated: string },
  CatalogRuleKind
>({
  id: 'bundle-name-of-other-version',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'info',
  since: '0.1.0',
  title: 'A bundle is named for its own version',
  format: ({ bundle, version, stated }) => ({
    what: `${bundle} is named for version ${stated}, but is version ${version}`,
    why: 'People read the version off the name, OLM off the property: they disagree about what is newer.',
    fix: 'Name the bundle for its version, or correct the olm.package property; a published bundle stays as it is.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      const { name, place } = bundle.blob
      const { version } = bundle
      if (version === undefined) continue
      const stated = /(?:^|[^0-9a-z])v?(\d+\.\d+\.\d+)(?![\d])/i.exec(name)?.[1]
      const own = `${version.major}.${version.minor}.${version.patch}`
      if (stated === undefined || stated === own) continue
      yield {
        at: toLocation(place),
        about: [its.name, name],
        data: { bundle: name, version: bundle.versionText, stated },
      }
    }
  },
})
