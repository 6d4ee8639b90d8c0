import { defineRule } from '@catalog-bot/findings/rule'

export const labelsDisagree = defineRule<{ key: string; label: string; annotation: string }>({
  id: 'labels-disagree',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: "A bundle image's labels match its annotations",
  format: ({ key, label, annotation }) => ({
    what: `the image label ${key} is "${label}", but the annotation is "${annotation}"`,
    why: 'The annotations file takes precedence, so tools that read only the labels see different values.',
    fix: 'Build the image from a Dockerfile that matches the annotations.',
  }),
})
