import { defineRule } from '@catalog-bot/findings/rule'
import { bundleAnnotationKeys } from '../bundle-metadata.ts'
import type { BundleRuleSignature } from '../bundle-rule.ts'

export const unconventionalChannel = defineRule<{ channel: string }, BundleRuleSignature>({
  id: 'unconventional-channel',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Channel names start with candidate, fast or stable',
  format: ({ channel }) => ({
    what: `the channel name "${channel}" does not start with candidate, fast or stable`,
    why: "Users who subscribe to the channel can't tell how stable its releases are.",
    fix: 'Rename the channel so that its name starts with candidate, fast or stable.',
  }),
  *find({ annotations, annotationsFile }) {
    const keys = [bundleAnnotationKeys.channels, bundleAnnotationKeys.defaultChannel]
    const seen = new Set<string>()
    for (const key of keys)
      for (const name of (annotations[key] ?? '').split(',')) {
        const channel = name.trim()
        if (channel === '' || seen.has(channel) || /^(?:candidate|fast|stable)/.test(channel)) continue
        seen.add(channel)
        yield { file: annotationsFile, path: ['annotations', key], data: { channel } }
      }
  },
})
