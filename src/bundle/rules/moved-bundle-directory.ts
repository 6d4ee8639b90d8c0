import { defineRule } from '../../findings/rule.ts'

export const movedBundleDirectory = defineRule<{ key: string; value: string; wanted: string }>({
  id: 'moved-bundle-directory',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The annotations name the directories that are read',
  format: ({ key, value, wanted }) => ({
    what: `the annotation "${key}" says "${value}", but ${wanted} is what opm and OLM read`,
    why: 'Neither opm nor OLM looks at the value: files elsewhere are not found.',
    fix: 'Use manifests/ and metadata/.',
  }),
})
