import { defineRule } from '../../findings/rule.ts'
import type { Json } from '../../go/json/json.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, objectOf, textOf } from '../fields.ts'

export const platformNowhereScheduled = defineRule<{ platform: string; deployment: string }, OfBundle>({
  id: 'platform-nowhere-scheduled',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'multiarch',
  title: 'Deployments may run on the platforms that the bundle names',
  say: ({ platform, deployment }) => ({
    what: `the bundle names ${platform} as supported, and the node affinity of ${deployment} excludes it`,
    why: 'On such nodes the Operator is offered, and stays Pending.',
    fix: 'Take out the label, or widen the affinity.',
  }),
  *find({ csv }) {
    const labels = Object.entries(objectOf(at(csv.data, 'metadata', 'labels')))
    const deployments = listOf(at(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [label, value] of labels) {
      const platform = /^operatorframework\.io\/(arch|os)\.(.+)$/.exec(label)
      if (!platform || value !== 'supported') continue
      const [, part = '', name = ''] = platform
      for (const entry of deployments) {
        const allowed = allowedValues(entry, `kubernetes.io/${part}`)
        if (allowed && !allowed.includes(name))
          yield {
            path: ['metadata', 'labels', label],
            data: { platform: name, deployment: textOf(at(entry, 'name')) },
          }
      }
    }
  },
})

/** What the required node affinity allows for a label; undefined where some term does not ask for it. */
function allowedValues(deployment: Json, key: string): readonly string[] | undefined {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const pod = at(deployment, 'spec', 'template', 'spec')
  const terms = listOf(at(pod, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms'))
  if (terms.length === 0) return undefined
  const allowed: string[] = []
  for (const term of terms) {
    const asked = listOf(at(term, 'matchExpressions')).find(
      (expression) => at(expression, 'key') === key && at(expression, 'operator') === 'In',
    )
    if (asked === undefined) return undefined
    allowed.push(...listOf(at(asked, 'values')).map(textOf))
  }
  return allowed
}
