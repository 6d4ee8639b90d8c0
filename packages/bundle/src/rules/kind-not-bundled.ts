import { defineRule } from '@catalog-bot/findings/rule'

export const kindNotBundled = defineRule<{ file: string; kind: string; name: string }>({
  id: 'kind-not-bundled',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Bundles contain only kinds that OLM installs',
  format: ({ file, kind, name }) => ({
    what: `${file} is a ${kind} ("${name}"), a kind that OLM does not install from bundles`,
    why: 'OLM v0 fails the whole installation if one object has an unsupported kind.',
    fix: 'Remove the file from the bundle, and let the Operator create the object at run time.',
  }),
})
