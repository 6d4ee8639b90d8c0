import { defineRule } from '../../../findings/rule.ts'

export const tagMoved = defineRule<{ reference: string; tag: string; digest: string; now: string }>({
  id: 'tag-moved',
  check: 'images',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A tag written beside a digest stands for that digest',
  format: ({ reference, tag, digest, now }) => ({
    what: `${reference} names ${digest}, but its tag "${tag}" now points to ${now}`,
    why: 'The digest counts and is what clusters install. Readers see the tag and believe something else.',
    fix: 'Use the digest that the tag stands for, or remove the tag.',
  }),
})
