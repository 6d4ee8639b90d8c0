// Judges the combined tree of several pull requests as one change. Ownership is judged for each; the combination must
// be valid.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type { CheckId } from '@catalog-bot/findings/checks'
import { excludeOverriddenFindings } from '../policy/command-records.ts'
import type { WorkerPullHistoryStore } from './worker/evaluation-messages.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { requestEvaluation } from './request-evaluation.ts'
import { noopPullHistoryStore } from '../catalogs/memory-cache.ts'

export type CombinedChangeVerdict =
  { readonly kind: 'valid' } | { readonly kind: 'invalid' | 'unknown'; readonly reasons: readonly string[] }

export interface CombinedChange {
  /** The pull request whose budget is charged. */
  readonly pull: PullNumber
  readonly base: CommitSha
  /** A local commit that contains all of them, on no branch. */
  readonly head: CommitSha
  readonly baseRef: string
  /** Findings that maintainers overrode on each; the same findings are overridden here. */
  readonly overridden?: readonly Finding[]
}

/** Already judged for each pull request. */
const checkIdsEvaluatedPerPull: readonly CheckId[] = ['ownership']

/** Rejects with a GitError. */
export async function evaluateCombinedChange(
  { pull, base, head, baseRef, overridden = [] }: CombinedChange,
  ctx: JobContext<Store>,
): Promise<CombinedChangeVerdict> {
  const { forge } = ctx
  const snapshot: PullSnapshot = {
    repository: forge.repository,
    pull,
    state: 'open',
    draft: false,
    title: '',
    author: null,
    head,
    baseRef,
    base,
    headRepository: null,
    labels: [],
    reviews: [],
    comments: [],
    stacked: false,
  }
  const answer = await requestEvaluation(snapshot, ctx, {
    memory: noopWorkerPullHistoryStore,
    openPulls: () => Promise.resolve([]),
  })
  if (answer.kind === 'too-large')
    return { kind: 'invalid', reasons: [`the pull requests are too large to check together: ${answer.why}`] }
  const outcomes = answer.gate.outcomes.filter(({ check }) => !checkIdsEvaluatedPerPull.includes(check))
  if (outcomes.length === 0)
    return { kind: 'invalid', reasons: ['the pull requests cannot be checked together'] }
  const errors = outcomes.flatMap(({ check, findings }) =>
    excludeOverriddenFindings(findings, overridden)
      .filter(({ severity }) => severity === 'error')
      .map(({ rule, at }) => `together, ${check}: ${rule}${at === undefined ? '' : ` in ${at.file}`}`),
  )
  if (errors.length > 0) return { kind: 'invalid', reasons: errors }
  const open = outcomes.flatMap(({ unanswered }) =>
    unanswered.map(({ question, reason }) => `${question}: ${reason}`),
  )
  return open.length > 0 ? { kind: 'unknown', reasons: open } : { kind: 'valid' }
}

/** The combined evaluation must not enter any pull request's history. */
const noopWorkerPullHistoryStore: Required<WorkerPullHistoryStore> = {
  ...noopPullHistoryStore,
  firstSeenApprovals: () => Promise.resolve(new Map()),
  recordChange: () => Promise.resolve(),
  readChanges: () => Promise.resolve(new Map()),
  listPushers: () => Promise.resolve([]),
  hasSeenPushes: () => Promise.resolve(false),
  recentCommands: () => Promise.resolve(new Map()),
}
