import { defineRule } from '../../findings/rule.ts'

export const brokenChart = defineRule<{ problem: string }>({
  id: 'broken-chart',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A chart in a bundle is complete',
  format: ({ problem }) => ({
    what: `the chart cannot be installed: ${problem}`,
    why: 'Helm refuses to load it.',
    fix: 'Correct Chart.yaml; vendor dependencies into charts/.',
  }),
})
