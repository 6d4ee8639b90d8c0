import { defineRule } from '@catalog-bot/findings/rule'

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
    what: `the chart can't be installed: ${problem}`,
    why: "Helm doesn't load an incomplete chart.",
    fix: 'Correct Chart.yaml, and vendor the dependencies into charts/.',
  }),
})
