// Renders findings for a terminal: location, severity, text, and the source line if it is available. Does not sort, drop, or add
// anything. Escapes characters with which a catalog could hide text.
import type { Finding, Location, Severity } from './finding.ts'
import { escapeNonPrintableCharacters, escapeNonPrintableJsonCharacters } from './printable.ts'

export interface CatalogDirectoryReport {
  /** The directory as specified on the command line. */
  readonly dir: string
  readonly passed: boolean
  /** The error message of opm, if the directory fails opm's rules. */
  readonly message?: string
  readonly findings: readonly Finding[]
  /** The number of omitted findings, if any. */
  readonly leftOut?: number
}

export interface TextReportOptions {
  /** Returns the text of a file. If undefined, no source line is shown. */
  readonly textOf?: (file: string) => string | undefined
  /** The findings to count in the last line, if not all of them are shown. */
  readonly counted?: readonly Finding[]
  /** Whether to use ANSI colors. Default: false. */
  readonly color?: boolean
}

/** Number of characters of a source line to show around the column. Fits a narrow terminal. */
const maxCodeFrameChars = 100
const colorBySeverity: Readonly<Record<Severity, number>> = { error: 31, warning: 33, info: 36 }

/**
 * Renders all findings in the given order, then one line with their number. Ends with a line break. Empty if there are no
 * findings.
 */
export function renderText(findings: readonly Finding[], options: TextReportOptions = {}): string {
  if (findings.length === 0) return ''
  const lines = new SourceLineReader(options.textOf ?? (() => undefined))
  const blocks = findings.map((finding) => renderFinding(finding, lines, options.color ?? false))
  return `${blocks.join('\n')}\n${countFindings(options.counted ?? findings)}\n`
}

/** For example `2 errors, 1 warning`. Omits severities that do not occur. */
export function countFindings(findings: readonly Finding[]): string {
  const words: Readonly<Record<Severity, readonly [string, string]>> = {
    error: ['error', 'errors'],
    warning: ['warning', 'warnings'],
    info: ['note', 'notes'],
  }
  return (['error', 'warning', 'info'] as const)
    .map((severity) => {
      const count = findings.filter((finding) => finding.severity === severity).length
      return count === 0 ? undefined : `${count} ${words[severity][count === 1 ? 0 : 1]}`
    })
    .filter((part) => part !== undefined)
    .join(', ')
}

function renderFinding(finding: Finding, lines: SourceLineReader, colour: boolean): string {
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const locationPrefix = finding.at ? `${formatLocation(finding.at)}: ` : ''
  const out = [
    `${locationPrefix}${paint(colorBySeverity[finding.severity], finding.severity)}: ${escapeNonPrintableCharacters(finding.what)} [${finding.rule}]`,
  ]
  if (finding.at) out.push(...renderCodeFrame(finding.at, lines.line(finding.at)))
  if (finding.why !== '') out.push(`  why: ${escapeNonPrintableCharacters(finding.why)}`)
  if (finding.fix !== '') out.push(`  fix: ${escapeNonPrintableCharacters(finding.fix)}`)
  for (const { at, note } of finding.related ?? [])
    out.push(`  see: ${formatLocation(at)}: ${escapeNonPrintableCharacters(note)}`)
  return `${out.join('\n')}\n`
}

function formatLocation(at: Location): string {
  return `${escapeNonPrintableCharacters(at.file)}:${at.line}:${at.column}`
}

/** The source line with a marker below the location. Long lines are shortened. */
function renderCodeFrame(at: Location, line: string | undefined): string[] {
  if (line === undefined) return []
  const column = Math.min(Math.max(at.column, 1), line.length + 1)
  const from = Math.max(0, column - 1 - maxCodeFrameChars / 2)
  const before = `${from > 0 ? '...' : ''}${escapeNonPrintableCharacters(line.slice(from, column - 1))}`
  const end = (at.endLine ?? at.line) === at.line && at.endColumn !== undefined ? at.endColumn : column + 1
  const marked = escapeNonPrintableCharacters(
    line.slice(column - 1, Math.min(Math.max(end - 1, column), from + maxCodeFrameChars)),
  )
  const after = escapeNonPrintableCharacters(
    line.slice(Math.min(Math.max(end - 1, column), from + maxCodeFrameChars), from + maxCodeFrameChars),
  )
  const gutter = String(at.line)
  return [
    `  ${gutter} | ${before}${marked}${after}${line.length > from + maxCodeFrameChars ? '...' : ''}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(before.length)}${'^'.repeat(Math.max(1, marked.length))}`,
  ]
}

/** Splits each file only once, regardless of its number of findings. */
class SourceLineReader {
  readonly #textOf: (file: string) => string | undefined
  #file: string | undefined
  #lines: readonly string[] = []

  constructor(textOf: (file: string) => string | undefined) {
    this.#textOf = textOf
  }

  line(at: Location): string | undefined {
    if (this.#file !== at.file) {
      this.#file = at.file
      this.#lines = this.#textOf(at.file)?.split(/\r\n|\r|\n/) ?? []
    }
    return this.#lines[at.line - 1]
  }
}

// Renders findings as JSON, one line per validated directory. This format is a contract with other tools: keys are only
// ever added, and a document never spans several lines.

/** One line of JSON without a trailing line break. If a finding has no location, its file, line, and column are null. */
export function renderJson(report: CatalogDirectoryReport): string {
  const json = JSON.stringify({
    dir: report.dir,
    passed: report.passed,
    message: report.message ?? '',
    findings: report.findings.map(findingToJson),
    ...(report.leftOut !== undefined && { leftOut: report.leftOut }),
  })
  return escapeNonPrintableJsonCharacters(json)
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
      related: finding.related.map(({ at: { file, line, column }, note }) => ({ file, line, column, note })),
    }),
  }
}
