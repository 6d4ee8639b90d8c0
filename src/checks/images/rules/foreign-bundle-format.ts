import { defineRule } from '../../../findings/rule.ts'

export const bundleFormatMismatch = defineRule<{ reference: string; format: string; named?: string }>({
  id: 'foreign-bundle-format',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The image of a bundle is of the format that the catalog says',
  format: ({ reference, format, named }) => ({
    what: `the image ${reference} holds a ${format} bundle, and the catalog ${named === undefined ? 'names no format, which means registry+v1' : `says ${named}`}`,
    why: 'OLM unpacks it as what the catalog says, finds no ClusterServiceVersion or no chart, and does not install it.',
    fix: 'Build a registry+v1 bundle, or say what it is in a property of the type olm.bundle.mediatype, if your clusters install that.',
  }),
})
