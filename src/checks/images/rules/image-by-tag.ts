import { defineRule } from '../../../findings/rule.ts'

/** `more`: how many other images of the package are named by tag too, if they share one finding. */

type TaggedImageData = { reference: string; digest?: string; package?: string; more?: number }

export const imageByTag = defineRule<TaggedImageData>({
  id: 'image-by-tag',
  check: 'images',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Images are named by digest',
  format: ({ reference, digest, package: name, more = 0 }) => ({
    what:
      more === 0
        ? `the image ${reference} is named by tag`
        : `${more + 1} images of package "${name}" are named by tag, the first of them ${reference}`,
    why: 'A tag can be moved: what was checked today may not be what is installed tomorrow, and mirrors cannot tell.',
    fix:
      digest === undefined
        ? `Name ${more === 0 ? 'it' : 'them'} by digest: NAME@sha256:…`
        : `Name it by digest; the tag stands for ${digest} now.`,
  }),
})
