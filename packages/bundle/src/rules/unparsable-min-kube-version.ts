import { defineRule } from '@catalog-bot/findings/rule'
import { parseVersion } from '@catalog-bot/fbc/versions/version'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

export const unparsableMinKubeVersion = defineRule<
  { version: string; isPrefixed: boolean },
  BundleRuleSignature
>({
  id: 'unparsable-min-kube-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'minKubeVersion is a valid version',
  format: ({ version, isPrefixed }) => ({
    ...(isPrefixed && { severity: 'warning' as const }),
    what: `minKubeVersion is "${version}", which is not a valid version`,
    why: isPrefixed
      ? '`opm alpha bundle validate` rejects the "v" prefix, although OLM ignores it.'
      : "OLM can't parse it, so the requirement is never met.",
    fix: 'Use three numbers, such as 1.25.0.',
  }),
  *find({ csv }) {
    const version = asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'minKubeVersion'))
    if (version.trim() !== '' && !parseVersion(version).ok)
      yield {
        path: ['spec', 'minKubeVersion'],
        data: { version, isPrefixed: version.startsWith('v') && parseVersion(version.slice(1)).ok },
      }
  },
})
