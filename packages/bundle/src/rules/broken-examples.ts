import { defineRule } from '@catalog-bot/findings/rule'

export const brokenExamples = defineRule<{ annotation: string }>({
  id: 'broken-examples',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Examples are a JSON list of objects',
  format: ({ annotation }) => ({
    what: `the annotation "${annotation}" is not a JSON list of objects`,
    why: 'Consoles show no form and no example for the Operator.',
    fix: 'Write a JSON list of objects that have apiVersion, kind and metadata.',
  }),
})
