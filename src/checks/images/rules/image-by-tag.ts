import { defineRule } from '@catalog-bot/findings/rule'

/** `more`: how many other images of the package are also referenced by tag, if they share one finding. */

type TaggedImageData = { reference: string; digest?: string; package?: string; more?: number }

export const imageByTag = defineRule<TaggedImageData>({
  id: 'image-by-tag',
  check: 'images',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Images are referenced by digest',
  format: ({ reference, digest, package: name, more = 0 }) => ({
    what:
      more === 0
        ? `the image ${reference} is referenced by tag`
        : `${more + 1} images of package "${name}" are referenced by tag, starting with ${reference}`,
    why: 'A tag can move, so clusters might install a different image than catalog-bot checked, and mirrors cannot detect the change.',
    fix:
      digest === undefined
        ? `Reference ${more === 0 ? 'it' : 'them'} by digest: NAME@sha256:…`
        : `Reference it by digest. The tag currently points to ${digest}.`,
  }),
})
