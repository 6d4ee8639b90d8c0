import type { Finding } from '@catalog-bot/findings/finding'

export function countFindings(findings: readonly Finding[]): {
  readonly errors: number
  readonly warnings: number
} {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return { errors, warnings: findings.length - errors }
}

/** `2 errors, 1 warning`. */
export function formatFindingCounts(errors: number, warnings: number): string {
  const parts = []
  if (errors > 0) parts.push(`${errors} ${errors === 1 ? 'error' : 'errors'}`)
  if (warnings > 0) parts.push(`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`)
  return parts.join(', ')
}
