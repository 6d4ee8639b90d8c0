import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asList, asObject, asString, podFieldPath } from '../fields.ts'

export const noResourceRequests = defineRule<{ container: string }, BundleRuleSearch>({
  id: 'no-resource-requests',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Containers say what CPU and memory they need',
  format: ({ container }) => ({
    what: `the container "${container}" does not say how much CPU and memory it needs`,
    why: 'Clusters with quotas refuse its pods, and others place them badly.',
    fix: 'Write resources.requests for cpu and memory.',
  }),
  *find({ csv }) {
    const deployments = asList(getField(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [index, entry] of deployments.entries())
      for (const [position, container] of asList(
        getField(entry, 'spec', 'template', 'spec', 'containers'),
      ).entries()) {
        const requests = asObject(getField(container, 'resources', 'requests'))
        if ('cpu' in requests && 'memory' in requests) continue
        const path = podFieldPath(index, 'containers', position)
        yield { path, data: { container: asString(getField(container, 'name')) } }
      }
  },
})
