import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import {
  getJsonFieldAtPath,
  asListOrEmpty,
  asObjectOrEmpty,
  asStringOrEmpty,
  getCsvPodSpecFieldPath,
} from '../fields.ts'

export const noResourceRequests = defineRule<{ container: string }, BundleRuleSignature>({
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
    const deployments = asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [index, entry] of deployments.entries())
      for (const [position, container] of asListOrEmpty(
        getJsonFieldAtPath(entry, 'spec', 'template', 'spec', 'containers'),
      ).entries()) {
        const requests = asObjectOrEmpty(getJsonFieldAtPath(container, 'resources', 'requests'))
        if ('cpu' in requests && 'memory' in requests) continue
        const path = getCsvPodSpecFieldPath(index, 'containers', position)
        yield { path, data: { container: asStringOrEmpty(getJsonFieldAtPath(container, 'name')) } }
      }
  },
})
