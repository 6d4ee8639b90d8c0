import { defineRule } from '../../findings/rule.ts'

export const unreadableBundle = defineRule<{ reason: string; isEmpty?: true }>({
  id: 'unreadable-bundle',
  check: 'images',
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle can be read by opm',
  format: ({ reason }) => ({
    what: `opm cannot read this bundle: ${reason}`,
    why: 'opm cannot render it, so it cannot come into a catalog, and OLM cannot install it.',
    fix: 'Correct the bundle directory, build the image again and use its new digest.',
  }),
})
