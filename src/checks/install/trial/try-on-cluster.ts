// Picks the kind of trial that the cluster's APIs allow, and handles ends that all kinds share: timeout, missing
// rights, unreachable API.
import type { Target } from '../targets.ts'
import type { Deadlines } from './deadlines.ts'
import { lookKey, type LookFailure, type RefusedAction, type Seen } from './kube-object.ts'
import { olmV0 } from './olm-v0.ts'
import { olmV1Trial } from './olm-v1.ts'
import { rukPak, rukPakVersions } from './rukpak.ts'
import { olm, olmV1 } from './trial-objects.ts'
import type { TrialFailure } from './trial-outcome.ts'
import type { TrialPlan } from './trial-plan.ts'
import { fails, waits, type Progress, type TrialKind, type TrialState } from './trial-state.ts'

export interface Discovered {
  /** `v1.36.2`. */
  readonly version: string
  /** Such as `operators.coreos.com/v1alpha1`. */
  readonly groupVersions: readonly string[]
}

export function trialKind(
  plan: TrialPlan,
  deadlines: Deadlines,
  { groupVersions }: Pick<Discovered, 'groupVersions'>,
): TrialKind | TrialFailure {
  const absent = (what: string): TrialFailure => ({
    code: 'api-absent',
    says: `the cluster has no ${what}: nothing was tried with ${plan.target}`,
  })
  switch (plan.target) {
    case 'OLM v0':
      return groupVersions.includes(olm) ? (olmV0(plan, deadlines) as TrialKind) : absent(olm)
    case 'OLM v1':
      return groupVersions.includes(olmV1) ? (olmV1Trial(plan, deadlines) as TrialKind) : absent(olmV1)
    case 'RukPak plain':
    case 'RukPak registry':
    case 'RukPak helm': {
      const version = rukPakVersions.find((one) => groupVersions.includes(one))
      return version === undefined
        ? absent('core.rukpak.io')
        : (rukPak(plan, deadlines, plan.target, version) as TrialKind)
    }
  }
}

export function targetsOn({ groupVersions }: Pick<Discovered, 'groupVersions'>): readonly Target[] {
  const has = (version: string) => groupVersions.includes(version)
  return [
    ...(has(olm) ? (['OLM v0'] as const) : []),
    ...(has(olmV1) ? (['OLM v1'] as const) : []),
    ...(rukPakVersions.some(has) ? (['RukPak plain', 'RukPak registry', 'RukPak helm'] as const) : []),
  ]
}

/** Judges one look. Never treats something unseen as absent. */
export function nextProgress(
  kind: TrialKind,
  state: TrialState,
  seen: Seen,
  now: number,
  deadlines: Deadlines,
): Progress {
  const refused = seen.refused.map(judgeRefusal).find((one) => one !== undefined)
  if (refused) return fails(state, now, refused)
  const blind = kind.looks(state).flatMap((look): { readonly code: LookFailure; readonly says: string }[] => {
    const sighting = seen.sightings.get(lookKey(look))
    if (sighting === undefined) return [{ code: 'unreachable', says: 'the API was not asked' }]
    return sighting.kind === 'failed' ? [sighting] : []
  })
  const forbidden = blind.find(({ code }) => code === 'forbidden')
  if (forbidden)
    return fails(state, now, {
      code: 'forbidden',
      says: `the kubeconfig's account may not look: ${forbidden.says}`,
    })
  const [first] = blind
  if (first) {
    const since = Number(state.memory['blindSince'] ?? now)
    if (now - since >= deadlines.unreachable)
      return fails(state, now, {
        code: 'api-unreachable',
        says: `the API of the cluster does not answer: ${first.says}`,
      })
    return waits(
      { ...state, memory: { ...state.memory, blindSince: since } },
      `the API of the cluster to answer: ${first.says}`,
    )
  }
  const { blindSince: _, ...memory } = state.memory
  const progress = kind.next({ ...state, memory }, seen, now)
  if (progress.outcome || now - state.started < deadlines.whole) return progress
  return fails(progress.state, now, {
    code: 'too-slow',
    says: `the trial's time was over while it waited for ${progress.waitsFor}`,
  })
}

/** Undefined if the next look settles it: a conflict, an object that is gone, or a busy API. */
function judgeRefusal({ action, status, reason, says }: RefusedAction): TrialFailure | undefined {
  if (action.kind === 'patch' && action.dryRun) return undefined
  if (status === 409 || status === 404 || status === 429 || status >= 500 || status === 0) return undefined
  const what =
    action.kind === 'create'
      ? `${action.object.kind} ${action.object.metadata.name}`
      : `${action.at.kind} ${action.at.name}`
  const words = `the cluster refused ${action.kind} of ${what}: ${says}`
  if (status === 403 && /exceeded quota/.test(says)) return { code: 'quota', says: words }
  if (status === 403 && /being terminated/.test(says)) return { code: 'killed', says: words }
  if (status === 403 || status === 401) return { code: 'forbidden', says: words }
  if (/admission webhook|denied the request|ValidatingAdmissionPolicy/.test(says))
    return { code: 'policy', says: words }
  return { code: 'internal', says: `${words} (${status} ${reason})` }
}
