// A required API that no bundle of this catalog provides. Another catalog or the platform might provide it.
import { defineRule } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getStringField } from '../view/string-field.ts'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import type { CatalogView } from '../view/catalog-view.ts'
import { listApiRequirements, listBundlesWithPackages } from '../requirements.ts'
import { isExternalApi } from '../external-providers.ts'
import { isValidGvk } from './malformed-gvk.ts'

export const missingRequiredApi = defineRule<
  {
    bundle: string
    group: string
    version: string
    kind: string
  },
  CatalogRuleSignature
>({
  id: 'missing-required-api',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  ofNewBundles: true,
  since: '0.1.0',
  title: 'The catalog provides the APIs that its bundles require',
  format: ({ bundle, group, version, kind }) => ({
    what: `${bundle} requires ${kind}.${version}.${group}, which no bundle in the catalog provides`,
    why: 'The bundle can be installed only on clusters where another catalog offers an Operator that provides this API.',
    fix: 'Correct the group, version, and kind; add an Operator that provides the API; or document which catalog contains one.',
  }),
  *find(catalog) {
    let provided: ReadonlySet<string> | undefined
    for (const { in: its, by, at, group, version, kind } of listApiRequirements(catalog)) {
      // malformed-gvk reports these.
      if (!isValidGvk({ group, version, kind })) continue
      if (isExternalApi(group, kind)) continue
      // Built lazily, because few catalogs need it.
      provided ??= collectProvidedGvks(catalog)
      if (provided.has(`${group}/${version}/${kind}`)) continue
      yield {
        at,
        about: [its.name, by.blob.name, group, version, kind],
        data: { bundle: by.blob.name, group, version, kind },
      }
    }
  },
})

function collectProvidedGvks(catalog: CatalogView): ReadonlySet<string> {
  const provided = new Set<string>()
  for (const { bundle } of listBundlesWithPackages(catalog))
    for (const { value } of bundle.properties('olm.gvk')) provided.add(formatGvk(value))
  return provided
}

function formatGvk(value: Json): string {
  return `${getStringField(value, 'group')}/${getStringField(value, 'version')}/${getStringField(value, 'kind')}`
}
