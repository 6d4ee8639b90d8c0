import { defineRule } from '@catalog-bot/findings/rule'
import { getMapValue } from '@catalog-bot/fbc/go/tree'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'
import { convertParsedValueToJson } from '../manifest-document.ts'

export const unservedOwnedCrd = defineRule<{ crd: string; version: string }, BundleRuleSignature>({
  id: 'unserved-owned-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'CRDs serve the versions that the bundle owns',
  format: ({ crd, version }) => ({
    what: `the owned CRD ${crd} does not serve version ${version}`,
    why: 'OLM waits for an API that never becomes available, so the ClusterServiceVersion remains Pending.',
    fix: 'Serve this version in the CRD, or list a different version as owned.',
  }),
  *find({ csv, crds }) {
    for (const [index, owned] of asListOrEmpty(
      getJsonFieldAtPath(csv.data, 'spec', 'customresourcedefinitions', 'owned'),
    ).entries()) {
      const [crd, version] = [
        asStringOrEmpty(getJsonFieldAtPath(owned, 'name')),
        asStringOrEmpty(getJsonFieldAtPath(owned, 'version')),
      ]
      const found = crds
        .filter(({ name }) => name === crd)
        .flatMap(({ tree }) => {
          const versions = getMapValue(getMapValue(tree, 'spec'), 'versions')
          return versions?.kind === 'list' ? versions.items : []
        })
        .find((entry) => convertParsedValueToJson(getMapValue(entry, 'name')) === version)
      if (found !== undefined && convertParsedValueToJson(getMapValue(found, 'served')) !== true)
        yield { path: ['spec', 'customresourcedefinitions', 'owned', index], data: { crd, version } }
    }
  },
})
