import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty, getCsvPodSpecFieldPath } from '../fields.ts'

export const unrelatedImage = defineRule<{ image: string; where: string }, BundleRuleSignature>({
  id: 'unrelated-image',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'openshift',
  title: 'Every image that an Operator runs is listed as a related image',
  format: ({ image, where }) => ({
    what: `the image "${image}" (${where}) is not in spec.relatedImages`,
    why: "Mirroring tools don't copy it to disconnected clusters.",
    fix: 'Add the image to spec.relatedImages, and reference it by digest.',
  }),
  *find({ csv, relatedImages }) {
    const related = new Set(relatedImages.map(({ image }) => image))
    const deployments = asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [index, entry] of deployments.entries())
      for (const list of ['initContainers', 'containers'])
        for (const [position, container] of asListOrEmpty(
          getJsonFieldAtPath(entry, 'spec', 'template', 'spec', list),
        ).entries()) {
          const name = asStringOrEmpty(getJsonFieldAtPath(container, 'name'))
          const variables = asListOrEmpty(getJsonFieldAtPath(container, 'env'))
            .map(
              (variable) =>
                [
                  asStringOrEmpty(getJsonFieldAtPath(variable, 'name')),
                  asStringOrEmpty(getJsonFieldAtPath(variable, 'value')),
                ] as const,
            )
            .filter(([variable]) => variable.startsWith('RELATED_IMAGE_'))
          const path = getCsvPodSpecFieldPath(index, list, position)
          for (const [where, image] of [
            [`container ${name}`, asStringOrEmpty(getJsonFieldAtPath(container, 'image'))] as const,
            ...variables,
          ])
            if (image !== '' && !related.has(image)) yield { path, data: { image, where } }
        }
  },
})
