import { defineRule } from '@catalog-bot/findings/rule'
import { getMapValue } from '@catalog-bot/fbc/go/tree'
import type { BundleRuleTypes } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'
import { convertValueToJson } from '../manifest-document.ts'

export const unservedOwnedCrd = defineRule<{ crd: string; version: string }, BundleRuleTypes>({
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
    for (const [index, owned] of asList(
      getField(csv.data, 'spec', 'customresourcedefinitions', 'owned'),
    ).entries()) {
      const [crd, version] = [asString(getField(owned, 'name')), asString(getField(owned, 'version'))]
      const found = crds
        .filter(({ name }) => name === crd)
        .flatMap(({ tree }) => {
          const versions = getMapValue(getMapValue(tree, 'spec'), 'versions')
          return versions?.kind === 'list' ? versions.items : []
        })
        .find((entry) => convertValueToJson(getMapValue(entry, 'name')) === version)
      if (found !== undefined && convertValueToJson(getMapValue(found, 'served')) !== true)
        yield { path: ['spec', 'customresourcedefinitions', 'owned', index], data: { crd, version } }
    }
  },
})
