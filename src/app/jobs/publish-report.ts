// Wanted minus present: shows a report on GitHub and touches nothing that already says the same, so doing it
// twice changes nothing (I18).
import { createHash } from 'node:crypto'
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import { missingChecks } from '../../landing/put-checks.ts'
import type { Report, ReportedCheck } from '../../messages/report.ts'
import type { CheckRun, Forge, Present } from '../../ports/forge.ts'

/** A report, given the addresses of our check runs by name, as far as they are known. Its check runs are the same with any. */
export type Compose = (runs: ReadonlyMap<string, string>) => Report

/**
 * Reads what is there and performs what is missing. Resolves with GitHub's time at which the comment came to say this.
 * Rejects with a ForgeError.
 */
export async function publishReport(
  forge: Forge,
  compose: Compose,
  pull: PullNumber,
  head: CommitSha,
): Promise<string | undefined> {
  const present = await forge.present(pull, head)
  const runs = new Map<string, string>()
  for (const { name, url } of present.checks) if (url !== undefined && !runs.has(name)) runs.set(name, url)
  for (const run of missingChecks(compose(runs).checks.map(withDigest), present.checks)) {
    const { url } = await forge.perform({ kind: 'put-check', head, run, present: present.checks })
    if (url !== undefined) runs.set(run.name, url)
  }
  const report = compose(runs)
  const shownAt = await showComment(forge, report, present, pull)
  if (report.suggestions !== undefined)
    await forge.perform({ kind: 'put-suggestions', pull, head, suggestions: report.suggestions })
  return shownAt
}

/** Undefined where the comment does not say this, because the repository wants none. */
async function showComment(
  forge: Forge,
  { comment: body, commentIs }: Report,
  { comment: shown }: Present,
  pull: PullNumber,
): Promise<string | undefined> {
  if (shown?.body === body) return shown.updatedAt
  if (commentIs === 'unwanted' || (commentIs === 'kept' && shown === undefined)) return undefined
  return (await forge.perform({ kind: 'put-comment', pull, body })).updatedAt ?? shown?.updatedAt
}

/** A run with the digest by which its content is recognised later. */
export function withDigest(check: ReportedCheck): CheckRun {
  return { ...check, digest: createHash('sha256').update(JSON.stringify(check)).digest('hex').slice(0, 20) }
}
