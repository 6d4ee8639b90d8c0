import { defineRule } from '../../findings/rule.ts'

export const missingBundleAnnotation = defineRule<{ key: string; file: string }>({
  id: 'missing-bundle-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle says what it is in its annotations',
  format: ({ key, file }) => ({
    what: `${file} has no annotation "${key}"`,
    why: 'Tools find package, channels, format and directories of a bundle by its annotations.',
    fix: 'Add it; `opm alpha bundle generate` writes all of them.',
  }),
})
