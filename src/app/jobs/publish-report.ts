// Wanted minus present: shows a report on GitHub and touches nothing that already says the same, so doing it
// twice changes nothing (I18).
import { createHash } from 'node:crypto'
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import { missingChecks } from '../../landing/put-checks.ts'
import type { Report, ReportedCheck } from '../../messages/report.ts'
import type { Action, CheckRun, Forge, Present } from '../../ports/forge.ts'

/** What is left to do so that `present` becomes `report`. */
function missingActions(
  report: Report,
  present: Present,
  pull: PullNumber,
  head: CommitSha,
): readonly Action[] {
  const checks = missingChecks(report.checks.map(withDigest), present.checks).map((run): Action => ({
    kind: 'put-check',
    head,
    run,
  }))
  return present.comment?.body === report.comment
    ? checks
    : [...checks, { kind: 'put-comment', pull, body: report.comment }]
}

/**
 * Reads what is there and performs what is missing. Resolves with GitHub's time at which the comment came to say this.
 * Rejects with a ForgeError.
 */
export async function publishReport(
  forge: Forge,
  report: Report,
  pull: PullNumber,
  head: CommitSha,
): Promise<string | undefined> {
  const present = await forge.present(pull, head)
  let shownAt = present.comment?.updatedAt
  for (const action of missingActions(report, present, pull, head))
    shownAt = (await forge.perform(action)).updatedAt ?? shownAt
  return shownAt
}

/** A run with the digest by which its content is recognised later. */
export function withDigest(check: ReportedCheck): CheckRun {
  return { ...check, digest: createHash('sha256').update(JSON.stringify(check)).digest('hex').slice(0, 20) }
}
