import { defineRule } from '../../../findings/rule.ts'

export const bundleRepublished = defineRule<{
  bundle: string
  image: string
  published: string
  catalog: string
}>({
  id: 'bundle-republished',
  check: 'images',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle name stands for one image in all catalogs',
  format: ({ bundle, image, published, catalog }) => ({
    what: `${bundle} is published in ${catalog} as ${published}, and here it is ${image}`,
    why: 'Two things would carry one name and version: mirrors, upgrades and support cannot tell which one a cluster has.',
    fix: 'Use the image that is published, or publish this one under a new version.',
  }),
})
