import { bundleRule } from '../bundle-rule.ts'
import { at, listOf, objectOf, textOf, podPath } from '../fields.ts'

export const noResourceRequests = bundleRule<{ container: string }>({
  id: 'no-resource-requests',
  suite: 'good-practices',
  severity: 'warning',
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
