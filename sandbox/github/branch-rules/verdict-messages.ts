// Formats a verdict as lines for a push, and as a message of the REST API. The wording is GitHub's.
import { GitHubApiError } from '../http/route.ts'
import type { MockRepository } from '../github-data.ts'
import { getRepositoryWebUrl } from '../views/repository-view.ts'
import type { RefUpdateVerdict } from './evaluate-ref-update.ts'
import type { RuleViolation } from './ref-update.ts'

/** The text in parentheses after `! [remote rejected] main -> main`. */
export const pushDeclineMessageByErrorCode = {
  GH006: 'protected branch hook declined',
  GH013: 'push declined due to repository rule violations',
} as const

function formatRuleViolation({ message, commits = [] }: RuleViolation): string[] {
  if (commits.length === 0) return [`- ${message}`]
  const found = `  Found ${commits.length} violation${commits.length === 1 ? '' : 's'}:`
  return [`- ${message}`, found, '', ...commits.map((it) => `  ${it}`)]
}

const formatRuleViolations = (violations: readonly RuleViolation[]): string[] =>
  violations.flatMap((it) => [...formatRuleViolation(it), ''])

/** The lines that a client prints after `remote: ` when a push is rejected. */
export function formatPushRejectionLines(
  repo: MockRepository,
  ref: string,
  verdict: RefUpdateVerdict,
): string[] {
  if (verdict.code === 'GH006')
    return [
      `error: GH006: Protected branch update failed for ${ref}.`,
      '',
      ...formatRuleViolations(verdict.rejected).slice(0, -1),
    ]
  return [
    `error: GH013: Repository rule violations found for ${ref}.`,
    `Review all repository rules at ${getRepositoryWebUrl(repo)}/rules?ref=${encodeURIComponent(ref)}`,
    '',
    ...formatRuleViolations(verdict.rejected),
  ]
}

/** The lines for a push that bypassed a rule. */
export function formatRuleBypassLines(ref: string, verdict: RefUpdateVerdict): string[] {
  return [`Bypassed rule violations for ${ref}:`, '', ...formatRuleViolations(verdict.bypassed)]
}

/** The message of REST and GraphQL. */
export function formatApiRejectionMessage(verdict: RefUpdateVerdict): string {
  const messages = verdict.rejected.map(({ message }) => message)
  if (verdict.code === 'GH006') return messages.join(' ')
  return `Repository rule violations found\n\n${messages.map((it) => `${it}\n\n`).join('')}`
}

/** Throws if a verdict rejects the update: 405 for a merge, 422 for a ref. */
export function throwIfRefUpdateRejected(verdict: RefUpdateVerdict, status: 405 | 422): void {
  if (verdict.rejected.length > 0) throw new GitHubApiError(status, formatApiRejectionMessage(verdict))
}
