import { defineRule } from '@catalog-bot/findings/rule'

export const tagMoved = defineRule<{ reference: string; tag: string; digest: string; now: string }>({
  id: 'tag-moved',
  check: 'images',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A tag next to a digest points to that digest',
  format: ({ reference, tag, digest, now }) => ({
    what: `${reference} specifies ${digest}, but its tag "${tag}" now points to ${now}`,
    why: 'Clusters install the digest, but readers see the tag and expect a different image.',
    fix: 'Use the digest that the tag points to, or remove the tag.',
  }),
})
