// Judges the combined tree of several pull requests as one change. Ownership is judged for each; the combination must
// be valid.
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import type { Finding } from '../../findings/finding.ts'
import type { CheckId } from '../../findings/checks.ts'
import { notLetPass } from '../../gate/overrides.ts'
import { forgetfulMemory } from '../../examine/forgetful.ts'
import type { LookMemory } from '../../examine/looks/look-order.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { orderLook } from './order-look.ts'

export type WholeVerdict =
  { readonly kind: 'valid' } | { readonly kind: 'invalid' | 'unknown'; readonly reasons: readonly string[] }

export interface Whole {
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
const ofEach: readonly CheckId[] = ['ownership']

/** Rejects with a GitError. */
export async function judgeWhole(
  { pull, base, head, baseRef, overridden = [] }: Whole,
  place: JobContext<Store>,
): Promise<WholeVerdict> {
  const { forge } = place
  const snapshot: Snapshot = {
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
  const answer = await orderLook(snapshot, place, { memory: noPast, openPulls: () => Promise.resolve([]) })
  if (answer.kind === 'too-large')
    return { kind: 'invalid', reasons: [`together they are too large to check: ${answer.why}`] }
  const outcomes = answer.gate.outcomes.filter(({ check }) => !ofEach.includes(check))
  if (outcomes.length === 0) return { kind: 'invalid', reasons: ['together they cannot be checked'] }
  const errors = outcomes.flatMap(({ check, findings }) =>
    notLetPass(findings, overridden)
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
const noPast: Required<LookMemory> = {
  ...forgetfulMemory,
  firstSeenApprovals: () => Promise.resolve(new Map()),
  keepChange: () => Promise.resolve(),
  keptChanges: () => Promise.resolve(new Map()),
  pushersOf: () => Promise.resolve([]),
  hasSeenPushes: () => Promise.resolve(false),
  recentCommands: () => Promise.resolve(new Map()),
}
