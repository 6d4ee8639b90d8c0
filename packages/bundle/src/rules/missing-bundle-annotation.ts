import { defineRule } from '@catalog-bot/findings/rule'

export const missingBundleAnnotation = defineRule<{ key: string; file: string }>({
  id: 'missing-bundle-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle has all required annotations',
  format: ({ key, file }) => ({
    what: `${file} does not have the annotation "${key}"`,
    why: "Tools read a bundle's package, channels, format and directories from its annotations.",
    fix: 'Add the annotation. `opm alpha bundle generate` writes all of them.',
  }),
})
