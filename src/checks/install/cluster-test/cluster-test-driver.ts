// Selects the kind of install test that the cluster's APIs support. Handles the failures that all kinds share: a
// timeout, missing permissions, and an unreachable API.
import type { InstallTarget } from '../install-report.ts'
import {
  createFailedClusterTestProgress,
  type ClusterTestProgress,
  type ClusterTestStateMachine,
  type ClusterTestState,
  type ClusterTestDeadlines,
  type ClusterTestFailure,
} from './cluster-test-state.ts'
import { type RejectedClusterAction, type ClusterObservation, findFailedKubeQueries } from './kube-object.ts'
import { createOlmV0TestDriver } from './olm-v0.ts'
import { createOlmV1TestDriver } from './olm-v1.ts'
import { createRukPakTestDriver } from './rukpak.ts'
import { olmApiVersion, olmV1ApiVersion, rukPakApiVersions } from './cluster-test-objects.ts'
import type { ClusterTestPlan } from './cluster-test-plan.ts'

export interface DiscoveredClusterApis {
  /** `v1.36.2`. */
  readonly version: string
  /** Such as `operators.coreos.com/v1alpha1`. */
  readonly groupVersions: readonly string[]
}

export function selectClusterTestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
  { groupVersions }: Pick<DiscoveredClusterApis, 'groupVersions'>,
): ClusterTestStateMachine | ClusterTestFailure {
  const absent = (what: string): ClusterTestFailure => ({
    code: 'api-absent',
    says: `the cluster does not serve ${what}, so nothing was tested with ${plan.target}`,
  })
  switch (plan.target) {
    case 'OLM v0':
      return groupVersions.includes(olmApiVersion)
        ? (createOlmV0TestDriver(plan, deadlines) as ClusterTestStateMachine)
        : absent(olmApiVersion)
    case 'OLM v1':
      return groupVersions.includes(olmV1ApiVersion)
        ? (createOlmV1TestDriver(plan, deadlines) as ClusterTestStateMachine)
        : absent(olmV1ApiVersion)
    case 'RukPak plain':
    case 'RukPak registry':
    case 'RukPak helm': {
      const version = rukPakApiVersions.find((one) => groupVersions.includes(one))
      return version === undefined
        ? absent('core.rukpak.io')
        : (createRukPakTestDriver(plan, deadlines, plan.target, version) as ClusterTestStateMachine)
    }
  }
}

export function listSupportedInstallTargets(
  apis: Pick<DiscoveredClusterApis, 'groupVersions'>,
): readonly InstallTarget[] {
  const has = (version: string) => apis.groupVersions.includes(version)
  return [
    ...(has(olmApiVersion) ? (['OLM v0'] as const) : []),
    ...(has(olmV1ApiVersion) ? (['OLM v1'] as const) : []),
    ...(rukPakApiVersions.some(has) ? (['RukPak plain', 'RukPak registry', 'RukPak helm'] as const) : []),
  ]
}

/** Evaluates one observation. Never treats an object that it could not read as absent. */
export function computeNextClusterTestProgress(
  kind: ClusterTestStateMachine,
  state: ClusterTestState,
  observation: ClusterObservation,
  now: number,
  deadlines: ClusterTestDeadlines,
): ClusterTestProgress {
  const rejected = observation.rejectedActions
    .map(classifyRejectedClusterAction)
    .find((one) => one !== undefined)
  if (rejected) return createFailedClusterTestProgress(state, now, rejected)
  const blind = findFailedKubeQueries(kind.queries(state), observation)
  const forbidden = blind.find(({ code }) => code === 'forbidden')
  if (forbidden)
    return createFailedClusterTestProgress(state, now, {
      code: 'forbidden',
      says: `the kubeconfig account has no read permission: ${forbidden.says}`,
    })
  const [first] = blind
  if (first) {
    const since = Number(state.memory['blindSince'] ?? now)
    if (now - since >= deadlines.unreachable)
      return createFailedClusterTestProgress(state, now, {
        code: 'api-unreachable',
        says: `the Kubernetes API does not respond: ${first.says}`,
      })
    return {
      state: { ...state, memory: { ...state.memory, blindSince: since } },
      actions: [],
      waitsFor: `waiting for the Kubernetes API to respond: ${first.says}`,
    }
  }
  const { blindSince: _, ...memory } = state.memory
  const progress = kind.next({ ...state, memory }, observation, now)
  if (progress.outcome || now - state.started < deadlines.whole) return progress
  return createFailedClusterTestProgress(progress.state, now, {
    code: 'too-slow',
    says: `the install test timed out (last status: ${progress.waitsFor})`,
  })
}

/** Returns undefined for a conflict, a deleted object, or a busy API, because the next observation resolves those. */
function classifyRejectedClusterAction({
  action,
  status,
  reason,
  says,
}: RejectedClusterAction): ClusterTestFailure | undefined {
  if (action.kind === 'patch' && action.dryRun) return undefined
  if (status === 409 || status === 404 || status === 429 || status >= 500 || status === 0) return undefined
  const what =
    action.kind === 'create'
      ? `${action.object.kind} ${action.object.metadata.name}`
      : `${action.at.kind} ${action.at.name}`
  const message = `the cluster rejected the request to ${action.kind} ${what}: ${says}`
  if (status === 403 && /exceeded quota/.test(says)) return { code: 'quota', says: message }
  if (status === 403 && /being terminated/.test(says)) return { code: 'killed', says: message }
  if (status === 403 || status === 401) return { code: 'forbidden', says: message }
  if (/admission webhook|denied the request|ValidatingAdmissionPolicy/.test(says))
    return { code: 'policy', says: message }
  return { code: 'internal', says: `${message} (${status} ${reason})` }
}
