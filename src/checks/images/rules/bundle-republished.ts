import { defineRule } from '@catalog-bot/findings/rule'

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
  title: 'A bundle has the same image in every catalog',
  format: ({ bundle, image, published, catalog }) => ({
    what: `${bundle} has the image ${published} in ${catalog}, but the image ${image} here`,
    why: 'Two different bundles would share a name and version, so mirrors, upgrades, and support engineers cannot tell which one a cluster runs.',
    fix: 'Use the published image, or publish the new image under a new version.',
  }),
})
