import type { Rule } from '../../findings/rule.ts'

export const brokenChart: Rule<{ problem: string }> = {
  id: 'broken-chart',
  check: 'images',
  severity: 'error',
  title: 'A chart in a bundle is complete',
  say: ({ problem }) => ({
    what: `the chart cannot be installed: ${problem}`,
    why: 'Helm refuses to load it.',
    fix: 'Correct Chart.yaml; vendor dependencies into charts/.',
  }),
}
