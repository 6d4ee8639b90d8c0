import { annotationKeys } from '../bundle-metadata.ts'
import { bundleRule } from '../bundle-rule.ts'

export const unconventionalChannel = bundleRule<{ channel: string }>({
  id: 'unconventional-channel',
  suite: 'good-practices',
  severity: 'warning',
  title: 'Channels are named candidate, fast or stable',
  say: ({ channel }) => ({
    what: `the channel "${channel}" is named neither candidate, fast nor stable`,
    why: 'Those who subscribe cannot tell how much to expect of it.',
    fix: 'Begin the name with candidate, fast or stable.',
  }),
  *find({ annotations, annotationsFile }) {
    const keys = [annotationKeys.channels, annotationKeys.defaultChannel]
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
