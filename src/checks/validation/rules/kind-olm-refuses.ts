// A manifest of a kind that OLM does not install from bundles. The install plan fails.
import { defineRule } from '@catalog-bot/findings/rule'
import { installableKinds } from '@catalog-bot/bundle/plain/supported-kinds'
import { getStringField } from '../view/string-field.ts'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const unsupportedKind = defineRule<
  { bundle: string; kind: string; name: string },
  CatalogRuleSignature
>({
  id: 'kind-olm-refuses',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Bundles contain only kinds that OLM installs',
  format: ({ bundle, kind, name }) => ({
    what: `${bundle} contains the ${kind} "${name}", but OLM does not install this kind from bundles`,
    why: 'In OLM v0, the whole installation fails if the bundle contains even one object of an unsupported kind.',
    fix: 'Remove the object from the bundle, and let the Operator create it at run time.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const { value, mark } of bundle.properties('olm.bundle.object')) {
        const [kind, name] = [getStringField(value, 'kind'), getStringField(value, 'name')]
        if (kind === '' || installableKinds.has(kind)) continue
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, kind, name],
          data: { bundle: bundle.blob.name, kind, name },
        }
      }
    }
  },
})
