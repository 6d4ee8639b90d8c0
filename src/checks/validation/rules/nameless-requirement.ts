import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { listPackageRequirements } from '../requirements.ts'

export const namelessRequirement = defineRule<{ bundle: string }, CatalogRuleSignature>({
  id: 'nameless-requirement',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Every required package has a name',
  format: ({ bundle }) => ({
    what: `${bundle} requires a package but does not specify its name`,
    why: 'No package has an empty name, so OLM can never install this bundle.',
    fix: 'Set packageName, or remove the requirement.',
  }),
  *find(catalog) {
    for (const { in: its, by, at, packageName, alone } of listPackageRequirements(catalog))
      if (alone && packageName === '')
        yield { at, about: [its.name, by.blob.name], data: { bundle: by.blob.name } }
  },
})
