// Why pods do not run, as their statuses tell it, and whose matter that is. A reason that may pass is none yet.
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

/** A container that failed so often may fail for good: kubelet has waited 10, 20 and 40 seconds between its attempts. */
const mostRestarts = 3

/** Trouble that may pass: a stage waits for its deadline with it. A registry recovers, and a crash may end. */
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
/** The manifests name what is not there, or ask for what cannot be made. */
const configReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

/** The first trouble that does not pass by itself, else the first that may. */
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
  // Evicted, preempted, on a node that went down.
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
  // Some images are of another processor: the kernel says so, whatever the registry said.
  if (/exec format error/.test(message)) return { code: 'arch-mismatch', says: `${says}: ${message}` }
  const code = transient.test(message) ? 'api-unreachable' : crash
  return { code, says: message === '' ? says : `${says}: ${message}` }
}

/**
 * What a pull that failed means: registries say clearly that there is no such image. A back-off alone says nothing yet.
 */
export function pullTrouble(
  message: string,
  { imageMissing }: Pick<PodRole, 'imageMissing'>,
): FailureCode | undefined {
  if (/toomanyrequests|too many requests|\b429\b|rate limit/i.test(message)) return 'registry-failing'
  // What the API does not have is no image: `secrets "pull" not found`.
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
 * Whose matter Deployments are that are not available at their deadline: the Operator's, if it has run since `lastStart` and
 * is not ready. Until its containers run, that is the cluster's.
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

/** Deployments whose pods all run, as OLM and `kubectl rollout status` count. */
export function isAvailable(deployment: KubeObject): boolean {
  const { status, spec, metadata } = deployment
  const wanted = numberAt(spec, 'replicas')
  return (
    numberAt(status, 'observedGeneration') >= (metadata.generation ?? 0) &&
    numberAt(status, 'updatedReplicas') >= wanted &&
    conditionOf(deployment, 'Available')?.status === 'True'
  )
}

/** Why a Deployment has fewer pods than it wants: what the cluster refuses shows in no pod. */
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

/** The pods that a Deployment's selector matches: those of its labels alone. */
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
