import { defineRule } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asObjectOrEmpty, asStringOrEmpty } from '../fields.ts'

export const platformNowhereScheduled = defineRule<
  { platform: string; deployment: string },
  BundleRuleSignature
>({
  id: 'platform-nowhere-scheduled',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'multiarch',
  title: 'Deployments can run on every platform that the bundle supports',
  format: ({ platform, deployment }) => ({
    what: `the bundle declares support for ${platform}, but the node affinity of ${deployment} excludes it`,
    why: 'Users on that platform can install the Operator, but its pods remain Pending.',
    fix: 'Remove the label, or relax the node affinity.',
  }),
  *find({ csv }) {
    const labels = Object.entries(asObjectOrEmpty(getJsonFieldAtPath(csv.data, 'metadata', 'labels')))
    const deployments = asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [label, value] of labels) {
      const platform = /^operatorframework\.io\/(arch|os)\.(.+)$/.exec(label)
      if (!platform || value !== 'supported') continue
      const [, part = '', name = ''] = platform
      for (const entry of deployments) {
        const allowed = findAllowedNodeLabelValues(entry, `kubernetes.io/${part}`)
        if (allowed && !allowed.includes(name))
          yield {
            path: ['metadata', 'labels', label],
            data: { platform: name, deployment: asStringOrEmpty(getJsonFieldAtPath(entry, 'name')) },
          }
      }
    }
  },
})

/** The label values that the required node affinity allows; undefined if a term does not restrict the label. */
function findAllowedNodeLabelValues(deployment: Json, key: string): readonly string[] | undefined {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const pod = getJsonFieldAtPath(deployment, 'spec', 'template', 'spec')
  const terms = asListOrEmpty(
    getJsonFieldAtPath(pod, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms'),
  )
  if (terms.length === 0) return undefined
  const allowed: string[] = []
  for (const term of terms) {
    const matchExpression = asListOrEmpty(getJsonFieldAtPath(term, 'matchExpressions')).find(
      (expression) =>
        getJsonFieldAtPath(expression, 'key') === key && getJsonFieldAtPath(expression, 'operator') === 'In',
    )
    if (matchExpression === undefined) return undefined
    allowed.push(...asListOrEmpty(getJsonFieldAtPath(matchExpression, 'values')).map(asStringOrEmpty))
  }
  return allowed
}
