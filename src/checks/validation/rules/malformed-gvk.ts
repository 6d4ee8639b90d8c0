// A group, version or kind that no Kubernetes API can have.
import { defineRule } from '@catalog-bot/findings/rule'
import { getStringField } from '../view/string-field.ts'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

/** The API server's patterns: a DNS name, a DNS label that starts with a letter, a Go-like name. */
const gvkPatterns = {
  group: /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
  version: /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/,
  kind: /^[A-Za-z][A-Za-z0-9]{0,62}$/,
} as const

export const malformedGvk = defineRule<
  {
    bundle: string
    type: string
    part: keyof typeof gvkPatterns
    value: string
  },
  CatalogRuleSignature
>({
  id: 'malformed-gvk',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Groups, versions, and kinds are valid for a Kubernetes API',
  format: ({ bundle, type, part, value }) => ({
    what:
      value === ''
        ? `${type} of ${bundle} has no ${part}`
        : `${type} of ${bundle} has the ${part} "${value}", which is not valid for a Kubernetes API`,
    why: 'OLM compares these values exactly to find the bundle that provides an API, so a value that is not valid never matches.',
    fix: 'Copy the group, version, and kind from the CustomResourceDefinition, such as example.com, v1alpha1, and Example.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const { type, value, mark } of bundle.blob.properties) {
        if (type !== 'olm.gvk' && type !== 'olm.gvk.required') continue
        for (const part of ['group', 'version', 'kind'] as const) {
          const text = getStringField(value, part)
          if (gvkPatterns[part].test(text)) continue
          yield {
            at: toFindingLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, type, part, text],
            data: { bundle: bundle.blob.name, type, part, value: text },
          }
        }
      }
    }
  },
})

export function isValidGvk(gvk: Readonly<Record<keyof typeof gvkPatterns, string>>): boolean {
  return (['group', 'version', 'kind'] as const).every((part) => gvkPatterns[part].test(gvk[part]))
}
