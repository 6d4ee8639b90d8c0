// The queries of the alert rules and the dashboard, compared with the metrics of the bot: every metric, and every label that
// a query filters or groups by, must exist.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const monitoringDirectory = 'deploy/monitoring'

/** Every query in deploy/monitoring, with its alert or panel. */
export function readPrometheusQueries(): { readonly where: string; readonly query: string }[] {
  const alerts = parse(readFileSync(`${monitoringDirectory}/alerts.yaml`, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[]
  }
  const dashboard = JSON.parse(readFileSync(`${monitoringDirectory}/dashboard.json`, 'utf8')) as {
    panels: { title: string; targets: { expr: string; legendFormat: string }[] }[]
    templating: { list: { name: string; type: string; query: string }[] }
  }
  return [
    ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: alert, query: expr }))),
    ...dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: title,
        // A legend may contain only labels of the query.
        query: `${expr} by (${[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label).join(', ')})`,
      })),
    ),
    ...dashboard.templating.list
      .filter(({ type }) => type === 'query')
      .map(({ name, query }) => ({
        where: name,
        query: query.replace(/^label_values\((.*), (\w+)\)$/, '$1 by ($2)'),
      })),
  ]
}

/** Parses the Prometheus text format into metrics with their label names. A metric without a value has no labels. */
export function parseMetricLabels(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const type = /^# TYPE (?<name>\w+) (?<type>\w+)$/.exec(line)?.groups
    if (type)
      for (const ending of getMetricNameSuffixes(type['type'] ?? ''))
        found.set(`${type['name']}${ending}`, new Set())
    const value = /^(?<name>\w+)(?:\{(?<labels>.*)\})? \S+$/.exec(line)?.groups
    if (value === undefined) continue
    const labels = found.get(value['name'] ?? '')
    for (const [, label = ''] of (value['labels'] ?? '').matchAll(/(\w+)="/g)) labels?.add(label)
  }
  return found
}

const getMetricNameSuffixes = (type: string): readonly string[] =>
  type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']

/** Describes each metric and label of a query that does not exist. */
export function findPrometheusQueryProblems(
  query: string,
  metrics: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const problems: string[] = []
  const names = [...query.matchAll(/\b(?:catalog_bot|process)_\w+/g)].map(([name]) => name)
  if (names.length === 0) problems.push(`"${query}" names no metric`)
  const labels = new Set<string>()
  for (const name of names) {
    const known = metrics.get(name)
    if (known === undefined) problems.push(`there is no metric ${name}`)
    for (const label of known ?? []) labels.add(label)
    const chosen = new RegExp(`${name}\\{([^}]*)\\}`).exec(query)?.[1] ?? ''
    for (const [, label = ''] of chosen.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (known !== undefined && !known.has(label)) problems.push(`${name} has no label ${label}`)
  }
  for (const [, list = ''] of query.matchAll(/\bby \(([^)]*)\)/g))
    for (const label of list.split(',').map((one) => one.trim()))
      if (label !== '' && !labels.has(label)) problems.push(`nothing in "${query}" has a label ${label}`)
  return problems
}
