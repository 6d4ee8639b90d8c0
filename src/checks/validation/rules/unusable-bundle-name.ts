// A bundle name that is not valid for a ClusterServiceVersion, which takes it as its Kubernetes name.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'

/** A DNS-1123 subdomain. */
const subdomainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export const unusableBundleName = defineRule<{ bundle: string }, CatalogRuleKind>({
  id: 'unusable-bundle-name',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Bundle names are names that Kubernetes objects can have',
  format: ({ bundle }) => ({
    what: `no Kubernetes object can be called "${bundle}"`,
    why: 'OLM creates a ClusterServiceVersion of this name when it installs the bundle, and the API server refuses it.',
    fix: 'Use lower-case letters, digits, dots and dashes; the usual form is <package>.v<version>.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      const { name, place } = bundle.blob
      if (name !== '' && !subdomainPattern.test(name))
        yield { at: toLocation(place), about: [its.name, name], data: { bundle: name } }
    }
  },
})
