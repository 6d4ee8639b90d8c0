// Replaces an outdated report on a pull request whose base is not served or that others merged. If catalog-bot never
// commented there, it stays silent.
import type { Snapshot } from '../../change/snapshot.ts'
import { mergedOnto } from '../../landing/read-landed.ts'
import type { MergedVerdict } from '../../gate/verdict.ts'
import { ownChecks } from '../../messages/report.ts'
import { mergedElsewhereComment, unservedReport } from '../../messages/unchecked-report.ts'
import type { Present } from '../../ports/forge.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { judgeMerged } from './judge-merged.ts'
import { publishReport } from './publish-report.ts'
import { isTold, noteTold } from './told-landings.ts'

type Read = Present | undefined

export async function reportUnserved(
  { pull, head, baseRef }: Snapshot,
  { forge }: JobContext,
  read: Read,
): Promise<void> {
  const present = read?.head === head ? read : await forge.present(pull, head)
  const names = ownChecks.filter((own) => present.checks.some(({ name }) => name === own))
  if (present.comment === undefined && names.length === 0) return
  await publishReport(forge, () => unservedReport(baseRef, names), pull, head, { present })
}

/** `merged`: GitHub reports it, and we have no record of a merge of ours. */
export async function reportMergedElsewhere(
  merged: Snapshot,
  place: JobContext<Store>,
  read: Read,
): Promise<void> {
  const { forge, merging, repository } = place
  const { pull, head, baseRef } = merged
  const outcome = await merging.outcomeOf(pull)
  const commit = outcome?.merged
  if (commit === undefined || (await isTold(pull, commit, place))) return
  const present = read?.head === head ? read : await forge.present(pull, head)
  if (present.comment === undefined) return
  await repository.fetch(baseRef, pull)
  const intent = { head, base: merged.base, method: { kind: 'queue' } } as const
  const onto = await mergedOnto(intent, commit, repository)
  const verdict: MergedVerdict =
    onto === undefined
      ? { kind: 'invalid', reasons: ['it is not the merge of this pull request onto its parent'] }
      : await judgeMerged({ pull, baseRef, head }, onto, commit, place)
  const body = mergedElsewhereComment({ ...outcome, commit, verdict })
  if (present.comment.body !== body) await forge.perform({ kind: 'put-comment', pull, body, present })
  await noteTold(pull, commit, place)
}
