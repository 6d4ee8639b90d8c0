import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleTypes } from '../bundle-rule.ts'
import { getField, asList, asObject, asString, getPodFieldPath } from '../fields.ts'

export const noResourceRequests = defineRule<{ container: string }, BundleRuleTypes>({
  id: 'no-resource-requests',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Containers request CPU and memory',
  format: ({ container }) => ({
    what: `the container "${container}" does not request CPU and memory`,
    why: 'Clusters with quotas reject its pods, and other clusters schedule them poorly.',
    fix: 'Set resources.requests for cpu and memory.',
  }),
  *find({ csv }) {
    const deployments = asList(getField(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [index, entry] of deployments.entries())
      for (const [position, container] of asList(
        getField(entry, 'spec', 'template', 'spec', 'containers'),
      ).entries()) {
        const requests = asObject(getField(container, 'resources', 'requests'))
        if ('cpu' in requests && 'memory' in requests) continue
        const path = getPodFieldPath(index, 'containers', position)
        yield { path, data: { container: asString(getField(container, 'name')) } }
      }
  },
})
