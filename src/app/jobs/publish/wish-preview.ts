// Requests a preview image for results that passed validation and the image check, if an owner or maintainer asks or
// all checks passed. A separate job builds it.
import { checkIds } from '../../../findings/checks.ts'
import type { CommandRecord } from '../../../gate/commands.ts'
import type { Verdict } from '../../../gate/verdict.ts'
import type { CheckOutcome } from '../../../checks/check.ts'
import type { Snapshot } from '../../../change/snapshot.ts'
import type { Jobs } from '../../../ports/jobs.ts'
import type { PullMemory } from '../../../ports/pull-memory.ts'
import type { State } from '../../../ports/state.ts'
import type { JobContext } from '../job-context.ts'
import { madePreviews, previewWishes, type PreviewWish } from './preview-state.ts'

export interface Looked {
  readonly snapshot: Snapshot
  readonly verdict: Verdict
  readonly epoch: number
  readonly hasPreviews: boolean
}

/** Returns undefined if a preview is not allowed or not requested. Pure. */
export function wishedPreview(
  { snapshot, verdict, epoch }: Omit<Looked, 'hasPreviews'>,
  records: readonly CommandRecord[],
): PreviewWish | undefined {
  const { result, outcomes } = verdict
  if (result === undefined || snapshot.state !== 'open') return undefined
  const isSound = (['validation', 'images'] as const).every((id) =>
    outcomes.some((outcome) => outcome.check === id && passed(outcome)),
  )
  if (!isSound) return undefined
  const comment = records.findLast(
    (record) =>
      record.command === 'preview' &&
      record.outcome === 'done' &&
      record.head === snapshot.head &&
      record.epoch === epoch,
  )?.comment
  const allPassed = checkIds.every((id) =>
    outcomes.some(
      (outcome) =>
        outcome.check === id && (outcome.isOptional || (passed(outcome) && outcome.waiting.length === 0)),
    ),
  )
  if (comment === undefined && !allPassed) return undefined
  return {
    head: snapshot.head,
    tree: result.tree,
    baseRef: snapshot.baseRef,
    isAsked: comment !== undefined,
    comment: comment ?? 0,
    isClosed: false,
  }
}

function passed({ findings, unanswered }: CheckOutcome): boolean {
  return unanswered.length === 0 && !findings.some(({ severity }) => severity === 'error')
}

export async function wishPreview(
  looked: Looked,
  { app, forge, installation }: JobContext<State & Jobs & PullMemory>,
): Promise<void> {
  if (!looked.hasPreviews) return
  const { repository } = forge
  const { pull } = looked.snapshot
  const wish = wishedPreview(looked, await app.store.commands(repository, pull))
  if (wish === undefined) return
  const known = await app.store.readState(previewWishes, repository, String(pull))
  if (JSON.stringify(known) === JSON.stringify(wish)) return
  await app.store.writeState(previewWishes, repository, new Map([[String(pull), wish]]))
  await app.store.enqueue({ kind: 'preview', installation, repository, pull })
}

export async function dropPreviews(
  pull: Snapshot['pull'],
  { app, forge, installation }: JobContext<State & Jobs>,
): Promise<void> {
  const { repository } = forge
  const key = String(pull)
  const wish = await app.store.readState(previewWishes, repository, key)
  const made = await app.store.readState(madePreviews, repository, key)
  if (wish === undefined || wish.isClosed || made === undefined) return
  await app.store.writeState(previewWishes, repository, new Map([[key, { ...wish, isClosed: true }]]))
  await app.store.enqueue({ kind: 'preview', installation, repository, pull })
}
