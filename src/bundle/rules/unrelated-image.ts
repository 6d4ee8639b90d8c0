import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf, podPath } from '../fields.ts'

export const unrelatedImage = defineRule<{ image: string; where: string }, OfBundle>({
  id: 'unrelated-image',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'openshift',
  title: 'Every image that an Operator runs is a related image',
  say: ({ image, where }) => ({
    what: `the image "${image}" (${where}) is not among the related images`,
    why: 'Mirrors for clusters without Internet do not copy it.',
    fix: 'List it in spec.relatedImages, by digest.',
  }),
  *find({ csv, relatedImages }) {
    const related = new Set(relatedImages.map(({ image }) => image))
    const deployments = listOf(at(csv.data, 'spec', 'install', 'spec', 'deployments'))
    for (const [index, entry] of deployments.entries())
      for (const list of ['initContainers', 'containers'])
        for (const [position, container] of listOf(at(entry, 'spec', 'template', 'spec', list)).entries()) {
          const name = textOf(at(container, 'name'))
          const variables = listOf(at(container, 'env'))
            .map((variable) => [textOf(at(variable, 'name')), textOf(at(variable, 'value'))] as const)
            .filter(([variable]) => variable.startsWith('RELATED_IMAGE_'))
          const path = podPath(index, list, position)
          for (const [where, image] of [
            [`container ${name}`, textOf(at(container, 'image'))] as const,
            ...variables,
          ])
            if (image !== '' && !related.has(image)) yield { path, data: { image, where } }
        }
  },
})
