// Renders findings as JSON, one line per validated directory. This format is a contract with other tools: keys are only
// ever added, and a document never spans several lines.
import type { Finding } from './finding.ts'

export interface DirectoryReport {
  /** The directory as specified on the command line. */
  readonly dir: string
  readonly passed: boolean
  /** The error message of opm, if the directory fails opm's rules. */
  readonly message?: string
  readonly findings: readonly Finding[]
  /** The number of omitted findings, if any. */
  readonly leftOut?: number
}

/**
 * Unicode line separators that JSON does not escape, but at which many line readers (such as Python's splitlines) end a
 * line.
 */
const lineEndPattern = /[\u0085\u2028\u2029]/g

/** One line of JSON without a trailing line break. If a finding has no location, its file, line, and column are null. */
export function renderJson(report: DirectoryReport): string {
  const json = JSON.stringify({
    dir: report.dir,
    passed: report.passed,
    message: report.message ?? '',
    findings: report.findings.map(findingToJson),
    ...(report.leftOut !== undefined && { leftOut: report.leftOut }),
  })
  return json.replace(lineEndPattern, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A finding as a plain JSON object. `message` is the problem, followed by `why` and `fix`. */
function findingToJson(finding: Finding) {
  return {
    rule: finding.rule,
    severity: finding.severity,
    file: finding.at?.file ?? null,
    line: finding.at?.line ?? null,
    column: finding.at?.column ?? null,
    ...(finding.at?.endLine !== undefined && { endLine: finding.at.endLine }),
    ...(finding.at?.endColumn !== undefined && { endColumn: finding.at.endColumn }),
    message: finding.what,
    why: finding.why,
    fix: finding.fix,
    ...(finding.related && {
      related: finding.related.map(({ at, note }) => ({
        file: at.file,
        line: at.line,
        column: at.column,
        note,
      })),
    }),
  }
}
