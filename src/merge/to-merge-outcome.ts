// Converts a rejection to an outcome. Classifies GitHub's message by scope, unless the caller already knows the scope.
import { classifyRejection } from './classify-rejection.ts'
import type { MergeOutcome, RejectedMerge } from './merge-options.ts'

export function toMergeOutcome(rejected: RejectedMerge): MergeOutcome {
  const { reason, words, scope, commit, isSigned } = rejected
  if (words === undefined) {
    const rejection = { scope: scope ?? 'branch', reason, retrySoon: false, isKnown: true }
    return { kind: 'refused', refusal: rejection }
  }
  const rejection = classifyRejection(words, { commit, isSigned })
  // An unrecognized message does not affect the branch yet, regardless of its context.
  if (scope !== undefined && (scope === 'pull' || rejection.isKnown))
    return { kind: 'refused', refusal: { ...rejection, scope, reason, retrySoon: false } }
  return rejection.scope === 'race'
    ? { kind: 'again', why: rejection.reason }
    : { kind: 'refused', refusal: rejection }
}
