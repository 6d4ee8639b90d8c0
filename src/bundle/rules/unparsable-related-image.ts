import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { parseImageReference } from '../../go/reference/image-reference.ts'

export const unparsableRelatedImage = defineRule<{ image: string; reason: string }, BundleRuleSearch>({
  id: 'unparsable-related-image',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Related images are image references',
  format: ({ image, reason }) => ({
    what: `the related image "${image}" is not an image reference: ${reason}`,
    why: 'opm refuses a catalog with it, and mirrors cannot copy it.',
    fix: 'Write HOST/REPOSITORY@sha256:… or take the entry out.',
  }),
  *find({ relatedImages }) {
    for (const [index, { image }] of relatedImages.entries()) {
      const { reason } = image === '' ? { reason: 'it is empty' } : parseImageReference(image)
      if (reason !== undefined)
        yield { path: ['spec', 'relatedImages', index, 'image'], data: { image, reason } }
    }
  },
})
