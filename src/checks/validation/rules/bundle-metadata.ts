// A channel head that supports no install mode. OLM cannot install it for any OperatorGroup.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listCsvMetadata } from '../view/csv-metadata.ts'

export const noInstallMode = defineRule<{ bundle: string; modes: number }, CatalogRuleSignature>({
  id: 'no-install-mode',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every channel head supports at least one install mode',
  format: ({ bundle, modes }) => ({
    what: `${bundle} ${modes === 0 ? 'lists no install modes' : 'does not support any of the install modes that it lists'}`,
    why: 'The Operator never starts, because it does not support the namespaces of any OperatorGroup.',
    fix: 'In the ClusterServiceVersion, mark at least one of these install modes as supported: OwnNamespace, SingleNamespace, MultiNamespace, or AllNamespaces.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      const heads = new Set(its.channels.map(({ head }) => head?.name))
      for (const bundle of its.bundles) {
        const { name, place } = bundle.blob
        if (!heads.has(name)) continue
        for (const { metadata, mark } of listCsvMetadata(bundle)) {
          if (metadata.installModes.some(({ supported }) => supported)) continue
          const data = { bundle: name, modes: metadata.installModes.length }
          yield { at: toFindingLocation(place, mark), about: [its.name, name], data }
        }
      }
    }
  },
})
