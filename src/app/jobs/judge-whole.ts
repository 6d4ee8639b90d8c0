// Looks at the tree of several pull requests together, as if one had made all of it. Who may make each of them is their own
// matter, judged for each; what they make together must be valid.
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
  /** Whose budget it is looked at with. */
  readonly pull: PullNumber
  readonly base: CommitSha
  /** Holds all of them; made here, and on no branch. */
  readonly head: CommitSha
  readonly baseRef: string
  /** What maintainers let pass of each of them: the very same is let pass of the whole, and nothing that is said otherwise. */
  readonly overridden?: readonly Finding[]
}

/** People's business, which was judged for each pull request. */
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

/** No memory: nothing of this look is a pull request's past. */
const noPast: Required<LookMemory> = {
  ...forgetfulMemory,
  firstSeenApprovals: () => Promise.resolve(new Map()),
  keepChange: () => Promise.resolve(),
  keptChanges: () => Promise.resolve(new Map()),
  pushersOf: () => Promise.resolve([]),
  hasSeenPushes: () => Promise.resolve(false),
  recentCommands: () => Promise.resolve(new Map()),
}
