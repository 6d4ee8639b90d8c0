import { defineRule } from '../../findings/rule.ts'

export const kindNotBundled = defineRule<{ file: string; kind: string; name: string }>({
  id: 'kind-not-bundled',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Bundles hold only kinds that OLM installs',
  format: ({ file, kind, name }) => ({
    what: `${file} is a ${kind} ("${name}"), a kind that OLM does not install from bundles`,
    why: 'OLM v0 fails the whole installation over one object of an unknown kind.',
    fix: 'Let the Operator create it when it runs, and take it out of the bundle.',
  }),
})
