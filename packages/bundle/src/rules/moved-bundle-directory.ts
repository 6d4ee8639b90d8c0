import { defineRule } from '@catalog-bot/findings/rule'

export const movedBundleDirectory = defineRule<{ key: string; value: string; wanted: string }>({
  id: 'moved-bundle-directory',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Annotations point to manifests/ and metadata/',
  format: ({ key, value, wanted }) => ({
    what: `the annotation "${key}" is "${value}", but opm and OLM read ${wanted}`,
    why: "opm and OLM ignore the value, so they don't find files in other directories.",
    fix: 'Use manifests/ and metadata/.',
  }),
})
