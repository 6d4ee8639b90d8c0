import { defineRule } from '../../findings/rule.ts'

export const undecodableManifest = defineRule<{ file: string; reason: string }>({
  id: 'undecodable-manifest',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every manifest is a Kubernetes object',
  format: ({ file, reason }) => ({
    what: `${file} is not a Kubernetes object: ${reason}`,
    why: 'opm and OLM pass over it without a word: what it should have created will be missing.',
    fix: 'Correct the file, or move files that are not manifests out of manifests/.',
  }),
})
