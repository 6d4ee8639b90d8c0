// Findings as JSON, one line for each validated directory: the command line's contract with other tools.
// Keys are only ever added; never formatted over several lines.
import type { Finding } from './finding.ts'

export interface DirectoryReport {
  /** The directory as it was given. */
  readonly dir: string
  readonly passed: boolean
  /** opm's own text, when the directory fails under opm's rules. */
  readonly message?: string
  readonly findings: readonly Finding[]
  /** How many more there are, where not all of them are listed. */
  readonly leftOut?: number
}

/** Line ends of Unicode that JSON leaves as they are; many readers of lines (Python's splitlines) end a line there. */
const lineEndPattern = /[\u0085\u2028\u2029]/g

/** One line of JSON without a line break at its end. A finding without a place has null for file, line and column. */
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

/** A finding as a plain JSON object; `message` is its first sentence, `why` and `fix` the others. */
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
