// What a refusal comes to: its words sorted by whom they concern, or what we know better than its words.
import { classifyRefusal } from './classify-refusal.ts'
import type { LandingOutcome, RefusedLanding } from './landing-options.ts'

export function whatRefused(refused: RefusedLanding): LandingOutcome {
  const { reason, words, scope, commit, isSigned } = refused
  if (words === undefined) {
    const refusal = { scope: scope ?? 'branch', reason, retrySoon: false, isKnown: true }
    return { kind: 'refused', refusal }
  }
  const refusal = classifyRefusal(words, { commit, isSigned })
  // Wherever it was met, an unknown text is not the branch's yet.
  if (scope !== undefined && (scope === 'pull' || refusal.isKnown))
    return { kind: 'refused', refusal: { ...refusal, scope, reason, retrySoon: false } }
  return refusal.scope === 'race' ? { kind: 'again', why: refusal.reason } : { kind: 'refused', refusal }
}
