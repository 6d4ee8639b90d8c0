import { defineRule } from '../../findings/rule.ts'

export const brokenExamples = defineRule<{ annotation: string }>({
  id: 'broken-examples',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'The examples of a ClusterServiceVersion are JSON',
  format: ({ annotation }) => ({
    what: `the annotation "${annotation}" is not a JSON list of objects`,
    why: 'Consoles show no form and no example for the Operator.',
    fix: 'Write a JSON list of objects with apiVersion, kind and metadata.',
  }),
})
