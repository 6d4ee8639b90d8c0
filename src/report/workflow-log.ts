// Renders findings as annotations and log lines of a workflow. Escapes untrusted text so that the runner finds no commands
// in it.
import { compareFindings, type Finding, type Severity } from '@catalog-bot/findings/finding'
import { escapeWorkflowCommandMessage, escapeWorkflowCommandProperty, toLogLine } from './escape.ts'

/** GitHub shows this many annotations of each kind per step and drops the rest. */
const maxAnnotationsPerKind = 10

const workflowCommandBySeverity: Readonly<Record<Severity, string>> = {
  error: 'error',
  warning: 'warning',
  info: 'notice',
}
const severitiesInLogOrder = Object.keys(workflowCommandBySeverity) as readonly Severity[]

/** Lines for standard output. Findings without a location or beyond the limit are only logged. */
export function formatWorkflowLog(findings: readonly Finding[]): readonly string[] {
  const sorted = findings.filter(({ overridden }) => overridden === undefined).toSorted(compareFindings)
  return severitiesInLogOrder.flatMap((severity) => {
    const those = sorted.filter((finding) => finding.severity === severity)
    const shown = those.filter(({ at }) => at !== undefined).slice(0, maxAnnotationsPerKind)
    return [
      ...shown.map(formatAnnotation),
      ...those
        .filter((finding) => !shown.includes(finding))
        .map((finding) => toLogLine(formatFindingLine(finding))),
    ]
  })
}

function formatAnnotation(finding: Finding): string {
  const { severity, at, rule, what, why, fix } = finding
  const location = at && [
    ['file', at.file],
    ['line', at.line],
    ['col', at.column],
    ...(at.endLine === undefined ? [] : [['endLine', at.endLine]]),
    // GitHub rejects an end column for a range of several lines.
    ...(at.endColumn === undefined || (at.endLine ?? at.line) !== at.line
      ? []
      : [['endColumn', at.endColumn]]),
  ]
  const properties = [...(location ?? []), ['title', rule]]
    .map(([name, value]) => `${name}=${escapeWorkflowCommandProperty(String(value))}`)
    .join(',')
  const text = [what, why, fix].filter((part) => part !== '').join('\n')
  return `::${workflowCommandBySeverity[severity]} ${properties}::${escapeWorkflowCommandMessage(text)}`
}

function formatFindingLine({ severity, at, rule, what, fix }: Finding): string {
  const location = at === undefined ? '' : `${at.file}:${at.line}: `
  return `${severity}: ${location}${what} (${rule}) ${fix}`
}
