import { defineRule } from '@catalog-bot/findings/rule'

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
    why: 'opm and OLM silently ignore the file, so its object is never created.',
    fix: "Correct the file, or move it out of manifests/ if it isn't a manifest.",
  }),
})
