// Selects the most severe findings if there are too many. Keeps their order.
import type { Finding, Severity } from './finding.ts'

const severitiesMostSevereFirst: readonly Severity[] = ['error', 'warning', 'info']

/**
 * Returns at most `most` findings in the given order. Prefers errors to warnings and warnings to notes, and otherwise
 * earlier findings.
 */
export function selectMostSevereFindings(
  findings: readonly Finding[],
  max: number,
): { readonly findings: readonly Finding[]; readonly leftOut: number } {
  if (findings.length <= max) return { findings, leftOut: 0 }
  const selected = new Set(
    severitiesMostSevereFirst
      .flatMap((severity) => findings.filter((finding) => finding.severity === severity))
      .slice(0, max),
  )
  return {
    findings: findings.filter((finding) => selected.has(finding)),
    leftOut: findings.length - selected.size,
  }
}
