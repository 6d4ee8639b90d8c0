// Findings as a workflow's runner shows them: annotations on lines, and the rest as lines of the log. Every text of others is
// escaped, so that none of it is a command to the runner.
import { compareFindings, type Finding, type Severity } from '../findings/finding.ts'
import { commandMessage, commandProperty, logLine } from './escape.ts'

/** GitHub shows so many of each kind for a step, and drops the others. */
const mostAnnotations = 10

const commands: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }
const severities = Object.keys(commands) as readonly Severity[]

/** Lines for standard output. What has no place, or is too much for annotations, is in the log alone. */
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
    // GitHub refuses an end column where a range has several lines.
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
