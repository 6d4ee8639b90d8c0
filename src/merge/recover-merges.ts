// Settles landings that were begun: reads what happened and records it. Unclear ones stay open.
import type { RepositoryName } from '../change/snapshot.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import type { MergeApi } from '../ports/merge-api.ts'
import type { RecordedMergeOutcome, TreeMismatch, RecoverOptions } from './merge-options.ts'
import { readMergeResult, type ObservedMerge } from './read-merge-result.ts'

/** GitHub abandons an API request after ten seconds, so it won't merge later than this. */
const lateMergeTimeoutMs = 30_000
/** A merged commit that can't be judged for this long counts as wrong. */
const validationTimeoutMs = 600_000

export type RecoveryResult =
  | { readonly kind: 'landed'; readonly commit: MergeIntent['commit'] }
  | { readonly kind: 'mismatch'; readonly mismatch: TreeMismatch }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'queued' }
  /** GitHub may still be at it. `isMerged`: it is on the branch but can't be judged yet. */
  | { readonly kind: 'unclear'; readonly isMerged?: boolean }

export interface RecoveryHints {
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
export async function recoverMerge(
  intent: MergeIntent,
  options: RecoverOptions,
  how: RecoveryHints = {},
): Promise<RecoveryResult> {
  const { heard } = how
  const isQueue = intent.method?.kind === 'queue'
  // Ask the queue first: a merge in between is then found below, not taken for a removal.
  if (isQueue && heard !== 'refused' && (await isQueued(intent, options))) return { kind: 'queued' }
  const observed = how.isFetched
    ? await readMergeResult(intent, options, true)
    : await readWithRetries(intent, options, heard === 'done' && !isQueue)
  switch (observed.kind) {
    case 'landed':
      await recordMergeEnd(intent, options, 'landed', observed.commit)
      return observed
    case 'mismatch': {
      // GitHub refused us, so another party merged it. That is judged as a push.
      if (heard === 'refused') return recordAbandoned(intent, options)
      return recoverForeignMerge(intent, observed, options)
    }
    case 'absent':
      break
  }
  if (isQueue && heard === 'done') return { kind: 'queued' }
  if (heard === 'done')
    return recordMismatch(
      { intent, differs: `GitHub said that it was merged, and ${intent.baseRef} does not hold it` },
      options,
    )
  const isFresh = options.clock.now() - (intent.begunAt ?? 0) < lateMergeTimeoutMs
  if (heard === undefined && observed.isOpen && isFresh) return { kind: 'unclear' }
  return recordAbandoned(intent, options)
}

/** Judges a merge by GitHub on another base. It is wrong unless found right. */
async function recoverForeignMerge(
  intent: MergeIntent,
  { commit, onto, differs }: Extract<ObservedMerge, { kind: 'mismatch' }>,
  options: RecoverOptions,
): Promise<RecoveryResult> {
  const unjudged = { kind: 'invalid', reasons: [] } as const
  const verdict =
    onto === undefined ? unjudged : ((await options.judgeMerged?.(intent, onto, commit)) ?? unjudged)
  if (verdict.kind === 'valid') {
    await recordMergeEnd(intent, options, 'landed', commit)
    return { kind: 'landed', commit }
  }
  const isFresh = options.clock.now() - (intent.begunAt ?? 0) < validationTimeoutMs
  if (verdict.kind === 'unknown' && isFresh) return { kind: 'unclear', isMerged: true }
  const why = [differs, ...verdict.reasons].join('; ')
  return recordMismatch({ intent, found: commit, differs: why }, options)
}

async function isQueued({ baseRef, pull, head }: MergeIntent, { merging }: RecoverOptions): Promise<boolean> {
  return (await merging.readMergeQueue(baseRef)).some((entry) => entry.pull === pull && entry.head === head)
}

/** Waits until GitHub's servers, which learn one after the other, show what it did. */
async function readWithRetries(
  intent: MergeIntent,
  options: RecoverOptions,
  isDone: boolean,
): Promise<ObservedMerge> {
  for (const pause of isDone ? [500, 1000, 2000] : []) {
    const observed = await readMergeResult(intent, options)
    if (observed.kind !== 'absent') return observed
    await options.clock.sleep(pause)
  }
  return readMergeResult(intent, options)
}

async function recordMismatch(mismatch: TreeMismatch, options: RecoverOptions): Promise<RecoveryResult> {
  await options.onMismatch(mismatch)
  await recordMergeEnd(mismatch.intent, options, 'mismatch', mismatch.found)
  return { kind: 'mismatch', mismatch }
}

/**
 * Settles all landings begun on a branch and answers with their results. Call it with the branch's lease, because
 * another holder's push may be under way.
 */
export async function recoverBranchMerges(
  name: RepositoryName,
  branch: string,
  options: RecoverOptions,
): Promise<readonly { readonly intent: MergeIntent; readonly settled: RecoveryResult }[]> {
  const intents = (await options.store.listPendingMerges(name)).filter(({ baseRef }) => baseRef === branch)
  // They share one reading of the queue.
  let queue: ReturnType<MergeApi['readMergeQueue']> | undefined
  const merging: MergeApi = {
    ...options.merging,
    readMergeQueue: () => (queue ??= options.merging.readMergeQueue(branch)),
  }
  const all: { intent: MergeIntent; settled: RecoveryResult }[] = []
  for (const intent of intents)
    all.push({ intent, settled: await recoverMerge(intent, { ...options, merging }) })
  return all
}

async function recordAbandoned(intent: MergeIntent, options: RecoverOptions): Promise<RecoveryResult> {
  await recordMergeEnd(intent, options, 'abandoned')
  return { kind: 'abandoned' }
}

async function recordMergeEnd(
  intent: MergeIntent,
  { store, onEnded }: RecoverOptions,
  outcome: RecordedMergeOutcome,
  commit?: MergeIntent['commit'],
): Promise<void> {
  // A concurrent reader may have recorded the same outcome. Count it once.
  if (await store.finishMerge(intent, outcome, commit)) onEnded?.(outcome)
}
