import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { findKubeVersionRemovingApi } from '../removed-apis.ts'

export const noMaxOpenshiftVersion = defineRule<{ apis: string }, BundleRuleSignature>({
  id: 'no-max-openshift-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'community',
  title: 'Bundles that use removed APIs declare a maximum OpenShift version',
  format: ({ apis }) => ({
    what: `the bundle uses ${apis} but does not limit itself to OpenShift versions earlier than 4.9`,
    why: 'Clusters can be upgraded to a version on which the Operator stops working.',
    fix: 'Set the olm.maxOpenShiftVersion property to a version earlier than 4.9, or migrate to newer APIs.',
  }),
  *find({ objects, derivedProperties }) {
    const removed = objects.filter(
      ({ apiVersion, kind }) => findKubeVersionRemovingApi(apiVersion, kind) === '1.22',
    )
    if (removed.length === 0) return
    const limit = derivedProperties.find(({ type }) => type === 'olm.maxOpenShiftVersion')?.value
    const [major = Infinity, minor = 0] = (
      typeof limit === 'string' || typeof limit === 'number' ? String(limit) : ''
    )
      .split('.')
      .map((part) => (part === '' ? Infinity : Number(part)))
    if (major < 4 || (major === 4 && minor < 9)) return
    const apis = [...new Set(removed.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))].join(', ')
    yield { file: removed[0]?.file ?? '', path: ['apiVersion'], data: { apis } }
  },
})
