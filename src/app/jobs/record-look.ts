// Records a summary of each evaluation for the pages. Decides nothing.
import type { Snapshot } from '../../change/snapshot.ts'
import { latestReviews } from '../../checks/ownership/approvals.ts'
import { checkLines } from '../../messages/check-lines.ts'
import type { PageRecords, PullLook, ShownApproval } from '../../ports/page-records.ts'
import type { JobContext } from './job-context.ts'
import type { Seen } from './look-at-pull.ts'

const mostNames = 20
const mostReasons = 20
const longestText = 600

export async function recordLook(seen: Seen, { app }: JobContext<PageRecords>): Promise<void> {
  await app.store.recordLook(lookOf(seen, app.clock.now()))
}

export async function recordEnd(
  { repository, pull }: Pick<Snapshot, 'repository' | 'pull'>,
  state: 'closed' | 'merged',
  { app }: JobContext<PageRecords>,
): Promise<void> {
  const now = app.clock.now()
  const opened = await app.store.recordEnd(repository, pull, state, now)
  if (state === 'merged' && opened !== undefined)
    app.metrics.openedToMerged.observe(Math.max(0, now - opened) / 1000)
}

function lookOf({ snapshot, verdict, configDigest }: Seen, at: number): PullLook {
  const { repository, pull, title, author, draft, head, base, baseRef, openedAt } = snapshot
  const opened = Date.parse(openedAt ?? '')
  const findings = new Map(
    verdict.outcomes
      .flatMap((outcome) => outcome.findings)
      .map(({ rule, severity }) => [rule, { rule, severity }] as const),
  )
  return {
    repository,
    pull,
    title: cut(title),
    ...(author !== null && { author: author.login }),
    draft,
    head,
    base,
    baseRef,
    config: configDigest,
    ...(Number.isFinite(opened) && { openedAt: opened }),
    verdict: verdict.kind,
    reasons: verdict.reasons.slice(0, mostReasons).map(({ code, text, who }) => ({
      code,
      text: cut(text),
      ...(who !== undefined && who.length > 0 && { who: who.slice(0, mostNames) }),
    })),
    checks: checkLines(verdict.outcomes).map(cut),
    approvals: approvalsOf(snapshot),
    findings: [...findings.values()],
    at,
  }
}

/** Each person's latest review. */
function approvalsOf({ reviews }: Snapshot): readonly ShownApproval[] {
  return latestReviews(reviews).flatMap(({ author, state, commit, submittedAt }) =>
    author !== null && (state === 'approved' || state === 'changes-requested')
      ? [{ login: author.login, state, commit, at: submittedAt }]
      : [],
  )
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`
}
