import { defineRule } from '../../findings/rule.ts'

export const labelsDisagree = defineRule<{ key: string; label: string; annotation: string }>({
  id: 'labels-disagree',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'The labels of a bundle image say what its annotations say',
  format: ({ key, label, annotation }) => ({
    what: `the image has the label ${key} with "${label}", and the annotations file says "${annotation}"`,
    why: 'The file counts; what reads only the labels sees another bundle.',
    fix: 'Build the image from a Dockerfile made for these annotations.',
  }),
})
