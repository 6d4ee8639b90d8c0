import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, objectOf, textOf, podPath } from '../fields.ts'

export const noResourceRequests = defineRule<{ container: string }, OfBundle>({
  id: 'no-resource-requests',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Containers say what CPU and memory they need',
  say: ({ container }) => ({
    what: `the container "${container}" does not say how much CPU and memory it needs`,
    why: 'Clusters with quotas refuse its pods, and others place them badly.',
    fix: 'Write resources.requests for cpu and memory.',
  }),
  *find({ csv }) {
    const deployments = listOf(at(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [index, entry] of deployments.entries())
      for (const [position, container] of listOf(
        at(entry, 'spec', 'template', 'spec', 'containers'),
      ).entries()) {
        const requests = objectOf(at(container, 'resources', 'requests'))
        if ('cpu' in requests && 'memory' in requests) continue
        const path = podPath(index, 'containers', position)
        yield { path, data: { container: textOf(at(container, 'name')) } }
      }
  },
})
