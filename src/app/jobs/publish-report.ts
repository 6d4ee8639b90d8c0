// Wanted minus present: shows a report on GitHub and touches nothing that already says the same, so doing it
// twice changes nothing (I18).
import { createHash } from 'node:crypto'
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import { missingChecks } from '../../landing/put-checks.ts'
import type { Report, ReportedCheck } from '../../messages/report.ts'
import type { CheckRun, Forge, Present, PresentComment } from '../../ports/forge.ts'

/** A report, given the addresses of our check runs by name, as far as they are known. Its check runs are the same with any. */
export type Compose = (runs: ReadonlyMap<string, string>) => Report

export interface PublishOptions {
  /** What was read of what is there, a moment ago. Absent, or of another head: it is read. */
  readonly present?: Present | undefined
  /** Check runs alone: the rest is said a little later, when it may be something else. */
  readonly isRestLater?: boolean
  /** What it came to is history: check runs that came to the same are left as they are, whatever else they say. */
  readonly isHistory?: boolean
  /** Called instead of writing a new comment: where another job may do so at the same time, one of them does. */
  readonly onMissing?: (() => Promise<void>) | undefined
}

/**
 * Performs what is missing of what is there. Resolves with GitHub's time at which the comment came to say this.
 * Rejects with a ForgeError.
 */
export async function publishReport(
  forge: Forge,
  compose: Compose,
  pull: PullNumber,
  head: CommitSha,
  { present: given, isRestLater = false, isHistory = false, onMissing }: PublishOptions = {},
): Promise<string | undefined> {
  const present = given?.head === head ? given : await forge.present(pull, head)
  const runs = new Map<string, string>()
  for (const { name, url } of present.checks) if (url !== undefined && !runs.has(name)) runs.set(name, url)
  const missing = missingChecks(compose(runs).checks.map(withDigest), present.checks).filter(
    ({ name, conclusion }) =>
      !isHistory ||
      conclusion === undefined ||
      !present.checks.some((one) => one.name === name && one.conclusion === conclusion),
  )
  if (missing.length > 0) {
    const { checks } = present
    const { urls } = await forge.perform({ kind: 'put-checks', head, runs: missing, present: checks })
    for (const [name, url] of urls ?? []) runs.set(name, url)
  }
  if (isRestLater) return undefined
  const report = compose(runs)
  const shownAt = await showComment(forge, report, present, pull, onMissing)
  if (report.suggestions !== undefined)
    await forge.perform({ kind: 'put-suggestions', pull, head, suggestions: report.suggestions })
  return shownAt
}

/** Undefined where the comment does not say this, because the repository wants none, or because it is not known that it does. */
async function showComment(
  forge: Forge,
  { comment: body, commentIs }: Report,
  present: PresentComment,
  pull: PullNumber,
  onMissing: PublishOptions['onMissing'],
): Promise<string | undefined> {
  const { comment: shown, doubled } = present
  if (shown?.body === body && doubled === undefined) return shown.updatedAt
  if (commentIs === 'unwanted' || (commentIs === 'kept' && shown === undefined)) return undefined
  if (shown === undefined && onMissing !== undefined) {
    await onMissing()
    return undefined
  }
  return (await forge.perform({ kind: 'put-comment', pull, body, present })).updatedAt
}

/** A run with the digest by which its content is recognised later. */
export function withDigest(check: ReportedCheck): CheckRun {
  return { ...check, digest: createHash('sha256').update(JSON.stringify(check)).digest('hex').slice(0, 20) }
}
