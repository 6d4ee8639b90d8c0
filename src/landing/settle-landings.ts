// Settles what a landing or an earlier process began: reads what happened, compares it, and writes it down. What cannot be
// told yet stays open.
import type { RepositoryName } from '../change/snapshot.ts'
import type { Intent } from '../ports/landings.ts'
import type { Merging } from '../ports/merging.ts'
import type { LandingEnd, Mismatch, SettleOptions } from './landing-options.ts'
import { readLanded, type Landed } from './read-landed.ts'

/** GitHub gives up a request of its interface after ten seconds: what it has not merged by then, it will not merge. */
const answerMilliseconds = 30_000
/** A merged commit that cannot be judged for so long counts as a wrong one. */
const judgeMilliseconds = 600_000

export type Settled =
  | { readonly kind: 'landed'; readonly commit: Intent['commit'] }
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch }
  | { readonly kind: 'abandoned' }
  /** It waits in the merge queue. */
  | { readonly kind: 'queued' }
  /** GitHub may still be at it; `isMerged`: it is on the branch, and cannot be judged yet. */
  | { readonly kind: 'unclear'; readonly isMerged?: boolean }

export interface SettleHow {
  /** What is known of the act besides: it was clearly refused, or clearly done. Absent: nobody heard. */
  readonly heard?: 'refused' | 'done'
  /** The branch was fetched after the act, and holds it: it is not fetched again. */
  readonly isFetched?: boolean
}

/**
 * Settles one intent. Under the branch's lease nobody else pushes, so a branch that does not hold a pushed commit never
 * will through us: a push that is still under way can only land exactly what was validated on exactly the base it was
 * validated on, and the branch is read again before the next landing.
 */
export async function settle(intent: Intent, options: SettleOptions, how: SettleHow = {}): Promise<Settled> {
  const { heard } = how
  const isQueue = intent.method?.kind === 'queue'
  // Before the pull request itself: what is merged in between is found there, and not taken for let go.
  if (isQueue && heard !== 'refused' && (await isQueued(intent, options))) return { kind: 'queued' }
  const landed = how.isFetched
    ? await readLanded(intent, options, true)
    : await readPatiently(intent, options, heard === 'done' && !isQueue)
  switch (landed.kind) {
    case 'landed':
      await end(intent, options, 'landed', landed.commit)
      return landed
    case 'mismatch': {
      // GitHub refused us: whoever merged it meanwhile did so by their own right, and what they did is judged as a push.
      if (heard === 'refused') return abandon(intent, options)
      return settleOther(intent, landed, options)
    }
    case 'absent':
      break
  }
  if (isQueue && heard === 'done') return { kind: 'queued' }
  if (heard === 'done')
    return mismatch(
      { intent, differs: `GitHub said that it was merged, and ${intent.baseRef} does not hold it` },
      options,
    )
  const isFresh = options.clock.now() - (intent.begunAt ?? 0) < answerMilliseconds
  if (heard === undefined && landed.isOpen && isFresh) return { kind: 'unclear' }
  return abandon(intent, options)
}

/** What GitHub merged on another base is judged there. Nobody saw it before: it is wrong unless it is found right. */
async function settleOther(
  intent: Intent,
  { commit, onto, differs }: Extract<Landed, { kind: 'mismatch' }>,
  options: SettleOptions,
): Promise<Settled> {
  const unjudged = { kind: 'invalid', reasons: [] } as const
  const verdict =
    onto === undefined ? unjudged : ((await options.judgeMerged?.(intent, onto, commit)) ?? unjudged)
  if (verdict.kind === 'valid') {
    await end(intent, options, 'landed', commit)
    return { kind: 'landed', commit }
  }
  const isFresh = options.clock.now() - (intent.begunAt ?? 0) < judgeMilliseconds
  if (verdict.kind === 'unknown' && isFresh) return { kind: 'unclear', isMerged: true }
  const why = [differs, ...verdict.reasons].join('; ')
  return mismatch({ intent, found: commit, differs: why }, options)
}

async function isQueued({ baseRef, pull, head }: Intent, { merging }: SettleOptions): Promise<boolean> {
  return (await merging.queueOf(baseRef)).some((entry) => entry.pull === pull && entry.head === head)
}

/** What GitHub says it has done is there, sooner or later: its servers learn of it one after the other. */
async function readPatiently(intent: Intent, options: SettleOptions, isDone: boolean): Promise<Landed> {
  for (const pause of isDone ? [500, 1000, 2000] : []) {
    const landed = await readLanded(intent, options)
    if (landed.kind !== 'absent') return landed
    await options.clock.sleep(pause)
  }
  return readLanded(intent, options)
}

async function mismatch(mismatch: Mismatch, options: SettleOptions): Promise<Settled> {
  await options.onMismatch(mismatch)
  await end(mismatch.intent, options, 'mismatch', mismatch.found)
  return { kind: 'mismatch', mismatch }
}

/**
 * Settles all that was begun on a branch. For the holder of its lease alone: another's push may be under way.
 * The answer is what each of them came to.
 */
export async function settleBranch(
  name: RepositoryName,
  branch: string,
  options: SettleOptions,
): Promise<readonly { readonly intent: Intent; readonly settled: Settled }[]> {
  const intents = (await options.store.openLandings(name)).filter(({ baseRef }) => baseRef === branch)
  // One reading of the queue for all of them.
  let queue: ReturnType<Merging['queueOf']> | undefined
  const merging: Merging = { ...options.merging, queueOf: () => (queue ??= options.merging.queueOf(branch)) }
  const all: { intent: Intent; settled: Settled }[] = []
  for (const intent of intents) all.push({ intent, settled: await settle(intent, { ...options, merging }) })
  return all
}

async function abandon(intent: Intent, options: SettleOptions): Promise<Settled> {
  await end(intent, options, 'abandoned')
  return { kind: 'abandoned' }
}

async function end(
  intent: Intent,
  { store, onEnded }: SettleOptions,
  outcome: LandingEnd,
  commit?: Intent['commit'],
): Promise<void> {
  // Whoever reads the branch beside us may have come to the same end: it is counted once.
  if (await store.endLanding(intent, outcome, commit)) onEnded?.(outcome)
}
