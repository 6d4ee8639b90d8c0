// What a refusal comes to: its words sorted by whom they concern, or what we know better than its words.
import { classifyRejection } from './classify-rejection.ts'
import type { MergeOutcome, RejectedMerge } from './merge-options.ts'

export function toMergeOutcome(rejected: RejectedMerge): MergeOutcome {
  const { reason, words, scope, commit, isSigned } = rejected
  if (words === undefined) {
    const rejection = { scope: scope ?? 'branch', reason, retrySoon: false, isKnown: true }
    return { kind: 'refused', refusal: rejection }
  }
  const rejection = classifyRejection(words, { commit, isSigned })
  // Wherever it was met, an unknown text is not the branch's yet.
  if (scope !== undefined && (scope === 'pull' || rejection.isKnown))
    return { kind: 'refused', refusal: { ...rejection, scope, reason, retrySoon: false } }
  return rejection.scope === 'race'
    ? { kind: 'again', why: rejection.reason }
    : { kind: 'refused', refusal: rejection }
}
