import type { Rule } from '../../findings/rule.ts'

export const labelsDisagree: Rule<{ key: string; label: string; annotation: string }> = {
  id: 'labels-disagree',
  check: 'images',
  severity: 'warning',
  title: 'The labels of a bundle image say what its annotations say',
  say: ({ key, label, annotation }) => ({
    what: `the image has the label ${key} with "${label}", and the annotations file says "${annotation}"`,
    why: 'The file counts; what reads only the labels sees another bundle.',
    fix: 'Build the image from a Dockerfile made for these annotations.',
  }),
}
