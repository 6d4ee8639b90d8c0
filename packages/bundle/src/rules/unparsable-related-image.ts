import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'

export const unparsableRelatedImage = defineRule<{ image: string; reason: string }, BundleRuleSignature>({
  id: 'unparsable-related-image',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Related images are valid image references',
  format: ({ image, reason }) => ({
    what: `the related image "${image}" is not a valid image reference: ${reason}`,
    why: "opm rejects a catalog that contains it, and mirroring tools can't copy it.",
    fix: 'Use the form HOST/REPOSITORY@sha256:…, or remove the entry.',
  }),
  *find({ relatedImages }) {
    for (const [index, { image }] of relatedImages.entries()) {
      const { reason } = image === '' ? { reason: 'it is empty' } : parseImageReference(image)
      if (reason !== undefined)
        yield { path: ['spec', 'relatedImages', index, 'image'], data: { image, reason } }
    }
  },
})
