// A bundle name that is not a valid Kubernetes name. OLM uses the name for the ClusterServiceVersion.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

/** A DNS-1123 subdomain. */
const dnsSubdomainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export const unusableBundleName = defineRule<{ bundle: string }, CatalogRuleSignature>({
  id: 'unusable-bundle-name',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every bundle name is a valid name for a Kubernetes object',
  format: ({ bundle }) => ({
    what: `the bundle name "${bundle}" is not a valid name for a Kubernetes object`,
    why: 'When OLM installs the bundle, it creates a ClusterServiceVersion with this name, and the API server rejects it.',
    fix: 'Use only lowercase letters, digits, dots, and dashes. The usual form is <package>.v<version>.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const { name, place } = bundle.blob
      if (name !== '' && !dnsSubdomainPattern.test(name))
        yield { at: toFindingLocation(place), about: [its.name, name], data: { bundle: name } }
    }
  },
})
