// The checks on alert rules and dashboard find what they are for. The real metrics they are held against in
// test/stories/operating.test.ts, where a bot runs.
import { expect, test } from '@jest/globals'
import {
  findPrometheusQueryProblems,
  parseMetricLabels,
  readPrometheusQueries,
} from './prometheus-queries.ts'

const sampleMetrics = parseMetricLabels(`# TYPE catalog_bot_jobs gauge
catalog_bot_jobs{kind="pull",state="waiting"} 3
# TYPE catalog_bot_seconds histogram
catalog_bot_seconds_bucket{le="0.1",kind="a"} 1
catalog_bot_seconds_count{kind="a"} 1
`)

test.each([
  ['catalog_bot_job', 'there is no metric catalog_bot_job'],
  ['catalog_bot_jobs{knd="pull"}', 'has no label knd'],
  ['sum by (repository) (catalog_bot_jobs)', 'has a label repository'],
  ['up', 'asks for no metric'],
])('%s is found out', (query, words) =>
  expect(findPrometheusQueryProblems(query, sampleMetrics).join('\n')).toContain(words),
)

test.each([
  'sum by (kind, state) (catalog_bot_jobs{kind!="scan"})',
  'histogram_quantile(0.9, sum by (le) (rate(catalog_bot_seconds_bucket[5m])))',
])('%s is well', (query) => expect(findPrometheusQueryProblems(query, sampleMetrics)).toEqual([]))

test('every alert and every panel asks for something', () => {
  const queries = readPrometheusQueries()
  expect(queries.length).toBeGreaterThan(20)
  expect(new Set(queries.map(({ where }) => where)).size).toBeGreaterThan(20)
})
