// Which findings are shown where there are too many of them. Never changes their order.
import type { Finding, Severity } from './finding.ts'

const severities: readonly Severity[] = ['error', 'warning', 'info']

/** At most `most` findings in the order given: errors before warnings before notes, of one severity the first. */
export function mostImportant(
  findings: readonly Finding[],
  max: number,
): { readonly findings: readonly Finding[]; readonly leftOut: number } {
  if (findings.length <= max) return { findings, leftOut: 0 }
  const selected = new Set(
    severities
      .flatMap((severity) => findings.filter((finding) => finding.severity === severity))
      .slice(0, max),
  )
  return {
    findings: findings.filter((finding) => selected.has(finding)),
    leftOut: findings.length - selected.size,
  }
}
