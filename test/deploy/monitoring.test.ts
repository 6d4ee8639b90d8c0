// The validation of queries in alert rules and the dashboard. test/stories/operating.test.ts compares them with the real
// metrics of a running bot.
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
  ['up', 'names no metric'],
])('the query %s is reported', (query, problem) =>
  expect(findPrometheusQueryProblems(query, sampleMetrics).join('\n')).toContain(problem),
)

test.each([
  'sum by (kind, state) (catalog_bot_jobs{kind!="scan"})',
  'histogram_quantile(0.9, sum by (le) (rate(catalog_bot_seconds_bucket[5m])))',
])('the query %s is valid', (query) => expect(findPrometheusQueryProblems(query, sampleMetrics)).toEqual([]))

test('every alert and every panel has a query', () => {
  const queries = readPrometheusQueries()
  expect(queries.length).toBeGreaterThan(20)
  expect(new Set(queries.map(({ where }) => where)).size).toBeGreaterThan(20)
})
