// Explains why pods do not run, and who must act.
import {
  conditionOf,
  conditionsOf,
  listAt,
  numberAt,
  textAt,
  timeOf,
  type KubeObject,
} from './kube-object.ts'
import { transient, type FailureCode, type TrialFailure } from './trial-outcome.ts'

export interface PodRole {
  /** For sentences: `the catalog's pod`. */
  readonly what: string
  readonly imageMissing: FailureCode
  readonly crash: FailureCode
}

/** By then kubelet has waited 10, 20 and 40 seconds between its attempts. */
const mostRestarts = 3

/** Trouble that may pass, such as a registry error or a crash; the stage waits for its deadline. */
export const mayPass: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'registry-failing',
  'api-unreachable',
  'unschedulable',
  'deployment-not-available',
  'crash-loop',
  'catalog-crash',
  'unpack-failed',
])

const pullReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
])
/** Reasons that blame the manifests. */
const configReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

/** Returns the first lasting trouble, or else the first that may pass. */
export function podTrouble(pods: readonly KubeObject[], role: PodRole): TrialFailure | undefined {
  const found = pods.flatMap((pod) => troubleOf(pod, role) ?? [])
  return found.find(({ code }) => !mayPass.has(code)) ?? found[0]
}

function troubleOf(pod: KubeObject, role: PodRole): TrialFailure | undefined {
  const name = `${role.what} ${pod.metadata.name}`
  for (const container of containersOf(pod)) {
    const waiting = textAt(container, 'state', 'waiting', 'reason')
    const message = textAt(container, 'state', 'waiting', 'message')
    const image = textAt(container, 'image')
    if (waiting === 'InvalidImageName')
      return { code: role.imageMissing, says: `${name}: ${image} is no image reference` }
    if (pullReasons.has(waiting)) {
      const code = pullTrouble(message, role)
      if (code) return { code, says: `${name} cannot pull ${image}: ${message}` }
      continue
    }
    if (configReasons.has(waiting)) return { code: role.crash, says: `${name}: ${waiting}: ${message}` }
    const restarts = numberAt(container, 'restartCount')
    if (waiting === 'CrashLoopBackOff' && restarts >= mostRestarts) return crashed(container, name, role)
    const ended = textAt(container, 'state', 'terminated', 'reason')
    if (
      ended !== '' &&
      restarts >= mostRestarts &&
      numberAt(container, 'state', 'terminated', 'exitCode') !== 0
    )
      return crashed(container, name, role)
  }
  const stopped = textAt(pod.status, 'phase') === 'Failed' ? textAt(pod.status, 'reason') : ''
  if (stopped !== '') return { code: 'unschedulable', says: `${name} was stopped by the cluster: ${stopped}` }
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable')
    return {
      code: /architecture|kubernetes\.io\/arch/.test(scheduled.message) ? 'arch-mismatch' : 'unschedulable',
      says: `${name} has no place on the cluster: ${scheduled.message}`,
    }
  return undefined
}

function crashed(container: unknown, name: string, { crash }: PodRole): TrialFailure {
  const last = ['lastState', 'state'].find((field) => textAt(container, field, 'terminated', 'reason') !== '')
  const reason = textAt(container, last ?? '', 'terminated', 'reason')
  const exitCode = numberAt(container, last ?? '', 'terminated', 'exitCode')
  const message = textAt(container, last ?? '', 'terminated', 'message')
  const says = `${name} ended ${numberAt(container, 'restartCount')} times: ${reason === '' ? 'Error' : reason}, exit code ${exitCode}`
  // The kernel reports a wrong processor architecture even if the registry did not.
  if (/exec format error/.test(message)) return { code: 'arch-mismatch', says: `${says}: ${message}` }
  const code = transient.test(message) ? 'api-unreachable' : crash
  return { code, says: message === '' ? says : `${says}: ${message}` }
}

/** Registries say clearly that an image is missing. A back-off alone says nothing yet. */
export function pullTrouble(
  message: string,
  { imageMissing }: Pick<PodRole, 'imageMissing'>,
): FailureCode | undefined {
  if (/toomanyrequests|too many requests|\b429\b|rate limit/i.test(message)) return 'registry-failing'
  // An object missing from the API is not a missing image: `secrets "pull" not found`.
  const ofRegistry = message.replace(
    /\b(?:pods|secrets|serviceaccounts|configmaps|namespaces) "[^"]*" not found/g,
    '',
  )
  if (/manifest unknown|name unknown|not found|does not exist|\b404\b/i.test(ofRegistry)) return imageMissing
  if (/unauthorized|authentication required|access .*denied|forbidden|\b40[13]\b/i.test(message))
    return 'image-unauthorized'
  if (
    /\b5\d\d\b|timeout|timed out|i\/o|connection refused|reset by peer|no such host|x509|EOF/i.test(message)
  )
    return 'registry-failing'
  return undefined
}

function containersOf(pod: KubeObject): readonly unknown[] {
  return [...listAt(pod.status, 'initContainerStatuses'), ...listAt(pod.status, 'containerStatuses')]
}

/**
 * Blames the Operator for Deployments that are unavailable at their deadline if a container has run since `lastStart`;
 * otherwise the cluster was too slow.
 */
export function overdueDeployments(
  deployments: readonly KubeObject[],
  pods: readonly KubeObject[],
  what: string,
  lastStart: number,
): TrialFailure {
  const hasRun = podsOf(deployments, pods)
    .flatMap((pod) => listAt(pod.status, 'containerStatuses'))
    .some((one) => (timeOf(textAt(one, 'state', 'running', 'startedAt')) ?? Infinity) <= lastStart)
  return { code: hasRun ? 'deployment-not-available' : 'too-slow', says: `it still waits for ${what}` }
}

/** Counts as OLM and `kubectl rollout status` do. */
export function isAvailable(deployment: KubeObject): boolean {
  const { status, spec, metadata } = deployment
  const wanted = numberAt(spec, 'replicas')
  return (
    numberAt(status, 'observedGeneration') >= (metadata.generation ?? 0) &&
    numberAt(status, 'updatedReplicas') >= wanted &&
    conditionOf(deployment, 'Available')?.status === 'True'
  )
}

/** Finds refusals of the cluster that no pod shows. */
export function deploymentTrouble(deployments: readonly KubeObject[]): TrialFailure | undefined {
  for (const deployment of deployments) {
    const refused = conditionsOf(deployment).find(
      ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
    )
    if (!refused) continue
    const says = `Deployment ${deployment.metadata.name} gets no pods: ${refused.message}`
    if (/exceeded quota|must specify (?:limits|requests)/.test(refused.message))
      return { code: 'quota', says }
    if (/violates PodSecurity|admission webhook|security context constraint/.test(refused.message))
      return { code: 'policy', says }
    if (/serviceaccount ".*" not found/i.test(refused.message))
      return { code: 'deployment-not-available', says }
    if (/forbidden/.test(refused.message)) return { code: 'policy', says }
  }
  return undefined
}

/** Matches `matchLabels` only. */
export function podsOf(
  deployments: readonly KubeObject[],
  pods: readonly KubeObject[],
): readonly KubeObject[] {
  return pods.filter((pod) =>
    deployments.some(({ spec }) => {
      const wanted = Object.entries(matchLabels(spec))
      return wanted.length > 0 && wanted.every(([key, value]) => pod.metadata.labels?.[key] === value)
    }),
  )
}

function matchLabels(spec: unknown): Readonly<Record<string, unknown>> {
  const selector = (spec as { readonly selector?: { readonly matchLabels?: unknown } } | null)?.selector
    ?.matchLabels
  return typeof selector === 'object' && selector !== null
    ? (selector as Readonly<Record<string, unknown>>)
    : {}
}

export const operatorPods: PodRole = {
  what: "the Operator's pod",
  imageMissing: 'operator-image-missing',
  crash: 'crash-loop',
}
export const catalogPods: PodRole = {
  what: "the catalog's pod",
  imageMissing: 'catalog-image-missing',
  crash: 'catalog-crash',
}
export const unpackPods: PodRole = {
  what: 'the pod that unpacks the bundle',
  imageMissing: 'bundle-image-missing',
  crash: 'unpack-failed',
}
