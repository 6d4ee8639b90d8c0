import { defineRule } from '../../../findings/rule.ts'

export const imageByTag = defineRule<{ reference: string; digest?: string }>({
  id: 'image-by-tag',
  check: 'images',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Images are named by digest',
  say: ({ reference, digest }) => ({
    what: `the image ${reference} is named by tag`,
    why: 'A tag can be moved: what was checked today may not be what is installed tomorrow, and mirrors cannot tell.',
    fix:
      digest === undefined
        ? 'Name it by digest: NAME@sha256:…'
        : `Name it by digest; the tag stands for ${digest} now.`,
  }),
})
