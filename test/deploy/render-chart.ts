// Renders the chart with helm for every case. Usage: `node render-chart.ts DIRECTORY`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartValuesByCase, renderChart } from './chart-cases.ts'

const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('usage: node render-chart.ts DIRECTORY')
mkdirSync(directory, { recursive: true })
for (const [name, values] of Object.entries(chartValuesByCase))
  writeFileSync(join(directory, `${name}.yaml`), renderChart(values))
