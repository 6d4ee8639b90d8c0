// What the stages of all kinds of install tests share: reading one observation, the possible results of a stage, and why
// pods do not run and who must act.
import {
  addClusterTestEvent,
  createFailedClusterTestProgress,
  createFinalClusterTestProgress,
  type ClusterTestDeadlines,
  type ClusterTestProgress,
  type ClusterTestState,
  type ClusterTestFailure,
  type ClusterTestOutcome,
  transientErrorPattern,
  type ClusterTestFailureCode,
  findFailureCode,
  type FailurePatterns,
} from './cluster-test-state.ts'
import { createTestNamespace } from './cluster-test-objects.ts'
import type { ClusterTestPlan } from './cluster-test-plan.ts'
import {
  getObservedKubeObjects,
  toKubeObjectQuery,
  type ClusterAction,
  type ClusterObservation,
  type KubeObject,
  type KubeQuery,
  getKubeCondition,
  getKubeConditions,
  getListAtPath,
  getNumberAtPath,
  getStringAtPath,
  getValueAtPath,
  parseKubeTimestamp,
} from './kube-object.ts'

interface ClusterTestSetup<Queries> {
  readonly plan: ClusterTestPlan
  readonly deadlines: ClusterTestDeadlines
  readonly queries: Queries
}

/** The Deployments of the Operator under test, and their pods. */
export interface ObservedWorkloads {
  readonly deployments: readonly KubeObject[]
  readonly pods: readonly KubeObject[]
  readonly unavailable: readonly KubeObject[]
  readonly failure: ClusterTestFailure | undefined
}

/** The stages of one kind of install test, at one observation. */
export class ClusterTestStageRunner<
  Stage extends string,
  Queries extends { readonly namespace: KubeQuery; readonly crds: readonly KubeQuery[] },
> {
  protected readonly plan: ClusterTestPlan
  protected readonly deadlines: ClusterTestDeadlines
  protected readonly queries: Queries
  protected readonly state: ClusterTestState<Stage>
  protected readonly observation: ClusterObservation
  protected readonly now: number

  constructor(
    { plan, deadlines, queries }: ClusterTestSetup<Queries>,
    state: ClusterTestState<Stage>,
    observation: ClusterObservation,
    now: number,
  ) {
    this.plan = plan
    this.deadlines = deadlines
    this.queries = queries
    this.state = state
    this.observation = observation
    this.now = now
  }

  protected get expectedStep() {
    return this.plan.steps[this.state.step]
  }

  /** Milliseconds since the stage began. */
  protected get waited(): number {
    return this.now - this.state.since
  }

  protected find(query: KubeQuery): KubeObject | undefined {
    return this.list(query)[0]
  }

  protected list(query: KubeQuery): readonly KubeObject[] {
    return getObservedKubeObjects(this.observation, query)
  }

  protected wait(
    waitsFor: string,
    actions: readonly ClusterAction[] = [],
    state = this.state,
  ): ClusterTestProgress<Stage> {
    return { state, actions, waitsFor }
  }

  protected fail(failure: ClusterTestFailure, state = this.state) {
    return createFailedClusterTestProgress(state, this.now, failure)
  }

  protected finish(outcome: ClusterTestOutcome, state = this.state) {
    return createFinalClusterTestProgress(state, this.now, outcome)
  }

  protected moveTo(
    stage: Stage,
    message: string,
    actions: readonly ClusterAction[] = [],
    memory: ClusterTestState['memory'] = {},
    state = this.state,
  ): ClusterTestProgress<Stage> {
    const after = addClusterTestEvent(state, this.now, message)
    return {
      state: { ...after, stage, since: this.now, memory: { ...state.memory, ...memory } },
      actions,
      waitsFor: message,
    }
  }

  /** Fails if the test would change existing objects. `consequence`: what would happen to an existing CRD. */
  protected rejectExistingCrds(consequence: string): ClusterTestProgress<Stage> | undefined {
    const there = this.queries.crds.find((query) => this.find(query) !== undefined)
    return there && !this.find(this.queries.namespace)
      ? this.fail({
          code: 'crd-preexists',
          says: `the cluster already has the CRD ${there.name ?? ''}. ${consequence}`,
        })
      : undefined
  }

  protected createNamespace(next: Stage, consequence: string, memory?: ClusterTestState['memory']) {
    const existing = this.rejectExistingCrds(consequence)
    if (existing) return existing
    const namespace = this.find(this.queries.namespace)
    return namespace
      ? this.moveTo(next, `namespace ${namespace.metadata.name} exists`, [], memory)
      : this.wait('waiting for the namespace', [{ kind: 'create', object: createTestNamespace(this.plan) }])
  }

  protected createMissing(expected: readonly KubeObject[]): ClusterTestProgress<Stage> | undefined {
    const missing = expected.filter((object) => this.find(toKubeObjectQuery(object)) === undefined)
    return missing.length === 0
      ? undefined
      : this.wait(
          'waiting for the prerequisites of the install test',
          missing.map((object) => ({ kind: 'create', object })),
        )
  }

  protected observeWorkloads(
    deployments: readonly KubeObject[],
    pods: readonly KubeObject[],
  ): ObservedWorkloads {
    return {
      deployments,
      pods,
      unavailable: deployments.filter((one) => !isDeploymentAvailable(one)),
      failure:
        findDeploymentFailure(deployments) ??
        findPodFailure(findDeploymentPods(deployments, pods), operatorPodFailureCodes),
    }
  }

  /**
   * Blames the Operator for Deployments that are unavailable at their deadline if a container has run for
   * `retryWindow`; otherwise the cluster was too slow.
   */
  protected classifyTimedOutWorkloads(
    { deployments, pods }: Pick<ObservedWorkloads, 'deployments' | 'pods'>,
    label: string,
  ): ClusterTestFailure {
    const lastStart = this.now - this.deadlines.retryWindow
    const hasRun = findDeploymentPods(deployments, pods)
      .flatMap((pod) => getListAtPath(pod.status, 'containerStatuses'))
      .map((one) => parseKubeTimestamp(getStringAtPath(one, 'state', 'running', 'startedAt')) ?? Infinity)
      .some((startedAt) => startedAt <= lastStart)
    return {
      code: hasRun ? 'deployment-not-available' : 'too-slow',
      says: `the install test timed out (last status: ${label})`,
    }
  }
}

interface PodFailureCodes {
  /** Used in messages, such as `the catalog pod`. */
  readonly label: string
  readonly imageMissing: ClusterTestFailureCode
  readonly crash: ClusterTestFailureCode
}

/** By then kubelet has waited 10, 20 and 40 seconds between its attempts. */
const maxContainerRestarts = 3

/** Failures that might be temporary, such as a registry error or a crash. The stage waits until its deadline. */
const transientClusterTestFailureCodes: ReadonlySet<ClusterTestFailureCode> = new Set<ClusterTestFailureCode>(
  [
    'registry-failing',
    'api-unreachable',
    'unschedulable',
    'deployment-not-available',
    'crash-loop',
    'catalog-crash',
    'unpack-failed',
  ],
)

const imagePullFailureReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
])
/** Reasons that the manifests cause. */
const containerConfigErrorReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

export function isPermanentFailure(failure: ClusterTestFailure | undefined): failure is ClusterTestFailure {
  return failure !== undefined && !transientClusterTestFailureCodes.has(failure.code)
}

/** Returns the first permanent failure, or else the first temporary failure. */
export function findPodFailure(pods: readonly KubeObject[], role: PodFailureCodes) {
  const found = pods.flatMap((pod) => classifyPodFailure(pod, role) ?? [])
  return found.find(isPermanentFailure) ?? found[0]
}

function classifyPodFailure(pod: KubeObject, role: PodFailureCodes): ClusterTestFailure | undefined {
  const name = `${role.label} ${pod.metadata.name}`
  for (const container of listContainerStatuses(pod)) {
    const waiting = getStringAtPath(container, 'state', 'waiting', 'reason')
    const message = getStringAtPath(container, 'state', 'waiting', 'message')
    const image = getStringAtPath(container, 'image')
    if (waiting === 'InvalidImageName')
      return { code: role.imageMissing, says: `${name}: ${image} is not a valid image reference` }
    if (imagePullFailureReasons.has(waiting)) {
      const code = classifyImagePullFailure(message, role)
      if (code) return { code, says: `${name} cannot pull ${image}: ${message}` }
      continue
    }
    if (containerConfigErrorReasons.has(waiting))
      return { code: role.crash, says: `${name}: ${waiting}: ${message}` }
    const restarts = getNumberAtPath(container, 'restartCount')
    if (waiting === 'CrashLoopBackOff' && restarts >= maxContainerRestarts)
      return classifyContainerCrash(container, name, role)
    const ended = getStringAtPath(container, 'state', 'terminated', 'reason')
    if (
      ended !== '' &&
      restarts >= maxContainerRestarts &&
      getNumberAtPath(container, 'state', 'terminated', 'exitCode') !== 0
    )
      return classifyContainerCrash(container, name, role)
  }
  const stopped =
    getStringAtPath(pod.status, 'phase') === 'Failed' ? getStringAtPath(pod.status, 'reason') : ''
  if (stopped !== '') return { code: 'unschedulable', says: `${name} was stopped by the cluster: ${stopped}` }
  const scheduled = getKubeCondition(pod, 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable')
    return {
      code: /architecture|kubernetes\.io\/arch/.test(scheduled.message) ? 'arch-mismatch' : 'unschedulable',
      says: `${name} cannot be scheduled: ${scheduled.message}`,
    }
  return undefined
}

function classifyContainerCrash(
  container: unknown,
  name: string,
  { crash }: PodFailureCodes,
): ClusterTestFailure {
  const last = ['lastState', 'state'].find(
    (field) => getStringAtPath(container, field, 'terminated', 'reason') !== '',
  )
  const reason = getStringAtPath(container, last ?? '', 'terminated', 'reason')
  const exitCode = getNumberAtPath(container, last ?? '', 'terminated', 'exitCode')
  const message = getStringAtPath(container, last ?? '', 'terminated', 'message')
  const description = `${name} restarted ${getNumberAtPath(container, 'restartCount')} times: ${reason === '' ? 'Error' : reason}, exit code ${exitCode}`
  // The kernel reports a wrong processor architecture even if the registry did not.
  if (/exec format error/.test(message)) return { code: 'arch-mismatch', says: `${description}: ${message}` }
  const code = transientErrorPattern.test(message) ? 'api-unreachable' : crash
  return { code, says: message === '' ? description : `${description}: ${message}` }
}

/** Registries report a missing image explicitly. A back-off alone does not show the cause. */
export function classifyImagePullFailure(
  message: string,
  { imageMissing }: Pick<PodFailureCodes, 'imageMissing'>,
): ClusterTestFailureCode | undefined {
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

export function listContainerStatuses(pod: KubeObject): readonly unknown[] {
  return [
    ...getListAtPath(pod.status, 'initContainerStatuses'),
    ...getListAtPath(pod.status, 'containerStatuses'),
  ]
}

/** Uses the same criteria as OLM and `kubectl rollout status`. */
export function isDeploymentAvailable(deployment: KubeObject): boolean {
  const { status, spec, metadata } = deployment
  const replicas = getNumberAtPath(spec, 'replicas')
  return (
    getNumberAtPath(status, 'observedGeneration') >= (metadata.generation ?? 0) &&
    getNumberAtPath(status, 'updatedReplicas') >= replicas &&
    getKubeCondition(deployment, 'Available')?.status === 'True'
  )
}

const replicaFailurePatterns: FailurePatterns = [
  ['quota', /exceeded quota|must specify (?:limits|requests)/],
  ['policy', /violates PodSecurity|admission webhook|security context constraint/],
  ['deployment-not-available', /serviceaccount ".*" not found/i],
  ['policy', /forbidden/],
]

/** Finds rejections by the cluster that do not appear in the status of any pod. */
function findDeploymentFailure(deployments: readonly KubeObject[]): ClusterTestFailure | undefined {
  for (const deployment of deployments) {
    const rejected = getKubeConditions(deployment).find(
      ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
    )
    if (!rejected) continue
    const message = `Deployment ${deployment.metadata.name} cannot create its pods: ${rejected.message}`
    const code = findFailureCode(replicaFailurePatterns, rejected.message)
    if (code) return { code, says: message }
  }
  return undefined
}

/** Matches `matchLabels` only. */
function findDeploymentPods(
  deployments: readonly KubeObject[],
  pods: readonly KubeObject[],
): readonly KubeObject[] {
  return pods.filter((pod) =>
    deployments.some(({ spec }) => {
      const labels = Object.entries(getValueAtPath(spec, 'selector', 'matchLabels') ?? {})
      return labels.length > 0 && labels.every(([key, value]) => pod.metadata.labels?.[key] === value)
    }),
  )
}

const operatorPodFailureCodes: PodFailureCodes = {
  label: 'the Operator pod',
  imageMissing: 'operator-image-missing',
  crash: 'crash-loop',
}
export const catalogPodFailureCodes: PodFailureCodes = {
  label: 'the catalog pod',
  imageMissing: 'catalog-image-missing',
  crash: 'catalog-crash',
}
export const bundleUnpackPodFailureCodes: PodFailureCodes = {
  label: 'the unpack pod',
  imageMissing: 'bundle-image-missing',
  crash: 'unpack-failed',
}
