// Renders findings as SARIF 2.1.0 (OASIS), which GitHub code scanning and most editors support, with one run and one tool.
// Does not read files. Paths are relative to a root that the consumer knows.
import type { Finding, Location, Severity } from './finding.ts'
import { escapeNonPrintableJsonCharacters, escapeNonPrintableLines } from './printable.ts'
import type { AnyFindingRule } from './rule.ts'

export interface SarifOptions {
  /** Version of the tool, from its package. */
  readonly version: string
  /** All rules, including those without findings, so that the output shows what was checked. */
  readonly rules: readonly AnyFindingRule[]
  /** URL prefix of rule pages, which is followed by `<id>.md`. */
  readonly pages?: string
}

const sarifLevelBySeverity: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
}

/** A SARIF log as JSON with two-space indentation and a trailing line break. Adds rules that occur only in findings. */
export function renderSarif(findings: readonly Finding[], options: SarifOptions): string {
  const ids = new Map<string, number>()
  const rules: object[] = []
  const describe = (id: string, rule?: AnyFindingRule) => {
    if (ids.has(id)) return
    ids.set(id, rules.length)
    rules.push({
      id,
      ...(rule && {
        shortDescription: { text: rule.title },
        defaultConfiguration: { level: sarifLevelBySeverity[rule.severity] },
        properties: { check: rule.check },
      }),
      ...(options.pages !== undefined && { helpUri: `${options.pages}${encodeURIComponent(id)}.md` }),
    })
  }
  for (const rule of options.rules) describe(rule.id, rule)
  for (const { rule } of findings) describe(rule)
  const log = JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'catalog-bot', semanticVersion: options.version, rules } },
          columnKind: 'utf16CodeUnits',
          results: findings.map((finding) => toSarifResult(finding, ids.get(finding.rule) ?? -1)),
        },
      ],
    },
    undefined,
    2,
  )
  return `${escapeNonPrintableJsonCharacters(log)}\n`
}

function toSarifResult(finding: Finding, ruleIndex: number): object {
  return {
    ruleId: finding.rule,
    ruleIndex,
    level: sarifLevelBySeverity[finding.severity],
    message: toSarifMessage(finding.what, finding.why, finding.fix),
    ...(finding.at && { locations: [{ physicalLocation: toPhysicalLocation(finding.at) }] }),
    ...(finding.related && {
      relatedLocations: finding.related.map(({ at, note }, id) => ({
        id,
        physicalLocation: toPhysicalLocation(at),
        message: toSarifMessage(note),
      })),
    }),
    // Identifies a finding across runs in which its line changes.
    ...(finding.subject !== undefined && { partialFingerprints: { 'subject/v1': finding.subject } }),
  }
}

/** Readers show `[text](url)` as a link (SARIF, section 3.11.6), which untrusted text must not contain. */
function toSarifMessage(...parts: readonly string[]): object {
  const text = escapeNonPrintableLines(parts.filter((part) => part !== '').join('\n'))
  return { text: text.replaceAll('](', ']\u2060(') }
}

function toPhysicalLocation(at: Location): object {
  return {
    artifactLocation: { uri: toRelativeUri(at.file), uriBaseId: '%SRCROOT%' },
    region: {
      startLine: at.line,
      startColumn: at.column,
      ...(at.endLine !== undefined && { endLine: at.endLine }),
      ...(at.endColumn !== undefined && { endColumn: at.endColumn }),
    },
  }
}

/**
 * A path as a relative URI reference. Percent-encodes each segment, and prevents a colon in the first one from denoting a
 * scheme.
 */
function toRelativeUri(path: string): string {
  return path
    .split('/')
    .map((segment) => encodeURIComponent(segment.toWellFormed()))
    .join('/')
}
