// Settles landings that were begun: reads what happened and records it. Unclear ones stay open.
import type { RepositoryName } from '../change/snapshot.ts'
import type { Intent } from '../ports/landings.ts'
import type { Merging } from '../ports/merging.ts'
import type { LandingEnd, Mismatch, SettleOptions } from './landing-options.ts'
import { readLanded, type Landed } from './read-landed.ts'

/** GitHub abandons an API request after ten seconds, so it won't merge later than this. */
const answerMilliseconds = 30_000
/** A merged commit that can't be judged for this long counts as wrong. */
const judgeMilliseconds = 600_000

export type Settled =
  | { readonly kind: 'landed'; readonly commit: Intent['commit'] }
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'queued' }
  /** GitHub may still be at it. `isMerged`: it is on the branch but can't be judged yet. */
  | { readonly kind: 'unclear'; readonly isMerged?: boolean }

export interface SettleHow {
  /** The act's known result. Absent: no answer arrived. */
  readonly heard?: 'refused' | 'done'
  /** The branch was fetched after the act and contains it. */
  readonly isFetched?: boolean
}

/**
 * Settles one intent. Under the branch's lease only we push, so a pushed commit missing from the branch won't arrive
 * through us, except a push under way, which lands exactly what was validated on its base. The branch is read again
 * before the next landing.
 */
export async function settle(intent: Intent, options: SettleOptions, how: SettleHow = {}): Promise<Settled> {
  const { heard } = how
  const isQueue = intent.method?.kind === 'queue'
  // Ask the queue first: a merge in between is then found below, not taken for a removal.
  if (isQueue && heard !== 'refused' && (await isQueued(intent, options))) return { kind: 'queued' }
  const landed = how.isFetched
    ? await readLanded(intent, options, true)
    : await readPatiently(intent, options, heard === 'done' && !isQueue)
  switch (landed.kind) {
    case 'landed':
      await end(intent, options, 'landed', landed.commit)
      return landed
    case 'mismatch': {
      // GitHub refused us, so another party merged it. That is judged as a push.
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

/** Judges a merge by GitHub on another base. It is wrong unless found right. */
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

/** Waits until GitHub's servers, which learn one after the other, show what it did. */
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
 * Settles all landings begun on a branch and answers with their results. Call it with the branch's lease, because
 * another holder's push may be under way.
 */
export async function settleBranch(
  name: RepositoryName,
  branch: string,
  options: SettleOptions,
): Promise<readonly { readonly intent: Intent; readonly settled: Settled }[]> {
  const intents = (await options.store.openLandings(name)).filter(({ baseRef }) => baseRef === branch)
  // They share one reading of the queue.
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
  // A concurrent reader may have recorded the same outcome. Count it once.
  if (await store.endLanding(intent, outcome, commit)) onEnded?.(outcome)
}
