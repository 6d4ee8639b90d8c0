// Renders findings as a workflow's annotations and log lines. Escapes untrusted text so that the runner finds no
// command in it.
import { compareFindings, type Finding, type Severity } from '../findings/finding.ts'
import { commandMessage, commandProperty, logLine } from './escape.ts'

/** GitHub shows this many of each kind per step, and drops the rest. */
const mostAnnotations = 10

const commands: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }
const severities = Object.keys(commands) as readonly Severity[]

/** Lines for standard output. Findings without a place or beyond the limit are only logged. */
export function workflowLog(findings: readonly Finding[]): readonly string[] {
  const sorted = findings.filter(({ overridden }) => overridden === undefined).toSorted(compareFindings)
  return severities.flatMap((severity) => {
    const those = sorted.filter((finding) => finding.severity === severity)
    const shown = those.filter(({ at }) => at !== undefined).slice(0, mostAnnotations)
    return [
      ...shown.map(annotation),
      ...those.filter((finding) => !shown.includes(finding)).map((finding) => logLine(inOneLine(finding))),
    ]
  })
}

function annotation(finding: Finding): string {
  const { severity, at, rule, what, why, fix } = finding
  const place = at && [
    ['file', at.file],
    ['line', at.line],
    ['col', at.column],
    ...(at.endLine === undefined ? [] : [['endLine', at.endLine]]),
    // GitHub rejects an end column for a range of several lines.
    ...(at.endColumn === undefined || (at.endLine ?? at.line) !== at.line
      ? []
      : [['endColumn', at.endColumn]]),
  ]
  const properties = [...(place ?? []), ['title', rule]]
    .map(([name, value]) => `${name}=${commandProperty(String(value))}`)
    .join(',')
  const text = [what, why, fix].filter((part) => part !== '').join('\n')
  return `::${commands[severity]} ${properties}::${commandMessage(text)}`
}

function inOneLine({ severity, at, rule, what, fix }: Finding): string {
  const place = at === undefined ? '' : `${at.file}:${at.line}: `
  return `${severity}: ${place}${what} (${rule}) ${fix}`
}
