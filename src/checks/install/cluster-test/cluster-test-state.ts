import type { ClusterAction, KubeQuery, ClusterObservation } from './kube-object.ts'

const msPerSecond = 1000

const msPerMinute = 60 * msPerSecond

/** Time limits for the stages of an install test, in milliseconds. OLM has no limit for most of them. */
export interface ClusterTestDeadlines {
  /** Until the catalog is ready, including the image pull. */
  readonly catalog: number
  /** From the time when the catalog is ready until the Subscription is resolved. */
  readonly resolution: number
  /** OLM gives the unpacking Job five minutes (`bundleUnpackTimeoutGoDuration`). */
  readonly unpacking: number
  readonly plan: number
  /** OLM gives a ClusterServiceVersion five minutes from the start of its installation. */
  readonly operator: number
  /** For pulling, unpacking, and installing with RukPak or OLM v1. */
  readonly extension: number
  /**
   * How long a failure must last to be final. Controllers retry: controller-runtime (OLM v1, RukPak) waits 5 ms, 10 ms,
   * 20 ms and so on, about fifteen attempts in three minutes; OLM v0 retries an InstallPlan for one minute; kubelet
   * tries a pull four times.
   */
  readonly retryWindow: number
  readonly unreachable: number
  readonly whole: number
  readonly cleanUp: number
  readonly namespace: number
}

export const defaultClusterTestDeadlines: ClusterTestDeadlines = {
  catalog: 4 * msPerMinute,
  resolution: 90 * msPerSecond,
  unpacking: 6 * msPerMinute,
  plan: 3 * msPerMinute,
  operator: 8 * msPerMinute,
  extension: 6 * msPerMinute,
  retryWindow: 3 * msPerMinute,
  unreachable: 2 * msPerMinute,
  whole: 20 * msPerMinute,
  cleanUp: 5 * msPerMinute,
  namespace: 3 * msPerMinute,
}

/** In the format of the OperatorGroup annotation. */
export const bundleUnpackTimeoutGoDuration = '5m'

export interface ClusterTestEvent {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly says: string
}

export interface ClusterTestState<Stage extends string = string> {
  readonly stage: Stage
  readonly started: number
  /** The start of the stage. */
  readonly since: number
  /** Index of the current step in the plan. */
  readonly step: number
  readonly events: readonly ClusterTestEvent[]
  /** Times, names, and strings that persist between observations. */
  readonly memory: Readonly<Record<string, string | number>>
}

export interface ClusterTestProgress<Stage extends string = string> {
  readonly state: ClusterTestState<Stage>
  readonly actions: readonly ClusterAction[]
  /** For display, as the object of "Waiting for …". */
  readonly waitsFor: string
  readonly outcome?: ClusterTestOutcome
}

export interface ClusterTestStateMachine<Stage extends string = string> {
  readonly first: Stage
  readonly queries: (state: ClusterTestState<Stage>) => readonly KubeQuery[]
  readonly next: (
    state: ClusterTestState<Stage>,
    seen: ClusterObservation,
    now: number,
  ) => ClusterTestProgress<Stage>
}

export function createInitialClusterTestState<Stage extends string>(
  stage: Stage,
  now: number,
): ClusterTestState<Stage> {
  return { stage, started: now, since: now, step: 0, events: [], memory: {} }
}

export function createFinalClusterTestProgress<Stage extends string>(
  state: ClusterTestState<Stage>,
  now: number,
  outcome: ClusterTestOutcome,
): ClusterTestProgress<Stage> {
  const message = 'says' in outcome ? outcome.says : 'it installs'
  return { state: addClusterTestEvent(state, now, message), actions: [], waitsFor: message, outcome }
}

export function createFailedClusterTestProgress<Stage extends string>(
  state: ClusterTestState<Stage>,
  now: number,
  { code, says }: { readonly code: ClusterTestFailureCode; readonly says: string },
): ClusterTestProgress<Stage> {
  return createFinalClusterTestProgress(state, now, createFailedClusterTestOutcome(code, says))
}

export function updateClusterTestState<Stage extends string>(
  state: ClusterTestState<Stage>,
  memory: ClusterTestState['memory'],
): ClusterTestState<Stage> {
  return { ...state, memory: { ...state.memory, ...memory } }
}

/**
 * Returns how long a controller has reported the same class of failure in every observation. The messages can differ.
 * An observation without the failure resets the time.
 */
export function measureFailureDuration<Stage extends string>(
  state: ClusterTestState<Stage>,
  code: ClusterTestFailureCode | undefined,
  now: number,
): { readonly state: ClusterTestState<Stage>; readonly milliseconds: number } {
  if ((state.memory['failure'] ?? '') !== (code ?? ''))
    return {
      state: updateClusterTestState(state, { failure: code ?? '', failingSince: now }),
      milliseconds: 0,
    }
  return { state, milliseconds: now - Number(state.memory['failingSince'] ?? now) }
}

/** Skips a message equal to the last one. */
export function addClusterTestEvent<State extends { readonly events: readonly ClusterTestEvent[] }>(
  state: State,
  now: number,
  message: string,
): State {
  if (state.events.at(-1)?.says === message) return state
  return { ...state, events: [...state.events, { at: now, says: message }].slice(-maxClusterTestEvents) }
}

const maxClusterTestEvents = 200

export const clusterTestFailureClassByCode = {
  // The bundles and their requirements.
  'resolution-unsatisfiable': 'content',
  'resolver-mismatch': 'content',
  'no-upgrade-edge': 'content',
  'unpack-failed': 'content',
  'unpack-too-large': 'content',
  'unpack-invalid': 'content',
  'bundle-image-missing': 'content',
  'unsupported-kind': 'content',
  'unsupported-install-mode': 'content',
  'requirements-not-met': 'content',
  'crd-incompatible': 'content',
  'plan-failed': 'content',
  'csv-failed': 'content',
  'deployment-not-available': 'content',
  'crash-loop': 'content',
  'operator-image-missing': 'content',
  'webhook-invalid': 'content',
  'refused-by-olm-v1': 'content',
  'refused-by-rukpak': 'content',
  'not-immutable': 'environment',
  'no-pivot': 'infra',
  // The catalog image.
  'catalog-image-missing': 'catalog',
  'catalog-crash': 'catalog',
  'catalog-invalid': 'catalog',
  // The cluster does not meet the requirements of the test.
  'api-absent': 'environment',
  'api-missing-for-bundle': 'environment',
  'crd-preexists': 'environment',
  occupied: 'environment',
  forbidden: 'environment',
  quota: 'environment',
  policy: 'environment',
  unschedulable: 'environment',
  'arch-mismatch': 'environment',
  'kube-version': 'environment',
  'image-unauthorized': 'environment',
  'certificate-provider-absent': 'environment',
  'olm-silent': 'environment',
  // The network or a server failed, so a retry might succeed.
  'api-unreachable': 'infra',
  'registry-failing': 'infra',
  'catalog-not-connected': 'infra',
  'too-slow': 'infra',
  killed: 'infra',
  internal: 'infra',
} as const

export type ClusterTestFailureCode = keyof typeof clusterTestFailureClassByCode
type ClusterTestFailureClass = (typeof clusterTestFailureClassByCode)[ClusterTestFailureCode]

type ClusterTestVerdict = 'installs' | 'does not install' | 'could not be found out'

export interface ClusterTestFailure {
  readonly code: ClusterTestFailureCode
  /** One sentence that can contain untrusted text. The renderer escapes it. */
  readonly says: string
}

export type ClusterTestOutcome =
  { readonly verdict: 'installs' } | (ClusterTestFailure & { readonly verdict: ClusterTestVerdict })

const verdictByFailureClass: Readonly<Record<ClusterTestFailureClass, ClusterTestVerdict>> = {
  content: 'does not install',
  catalog: 'does not install',
  environment: 'could not be found out',
  infra: 'could not be found out',
}

export function createFailedClusterTestOutcome(
  code: ClusterTestFailureCode,
  message: string,
): ClusterTestOutcome & ClusterTestFailure {
  return {
    verdict: verdictByFailureClass[clusterTestFailureClassByCode[code]],
    code,
    says: message.slice(0, maxFailureMessageLength),
  }
}

/** Messages of network errors, busy servers and restarts. The author did not cause them, and a retry may succeed. */
export const transientErrorPattern =
  /\bEOF\b|i\/o timeout|timed out|deadline exceeded|Client\.Timeout|TLS handshake|context canceled|connection (?:refused|reset|lost)|reset by peer|broken pipe|no route to host|no such host|network is unreachable|no endpoints available|too ?many ?requests|rate limit|etcdserver|object has been modified|server is currently unable|server was unable|\b50[0234] (?:Internal|Bad Gateway|Service|Gateway)|status ?(?:code)?:? ?5\d\d|x509/i

export type FailurePatterns = readonly (readonly [ClusterTestFailureCode, RegExp])[]

/** The code of the first pattern that matches. */
export function findFailureCode(patterns: FailurePatterns, message: string) {
  return patterns.find(([, pattern]) => pattern.test(message))?.[0]
}

/** Whether the author must act. Call it only for a failure that is final or that has lasted. */
export function isAuthorCausedFailureCode(code: ClusterTestFailureCode): boolean {
  return verdictByFailureClass[clusterTestFailureClassByCode[code]] === 'does not install'
}

/** Returns true only for infrastructure failures. */
export function isRetryableClusterTestOutcome(outcome: ClusterTestOutcome): boolean {
  return 'code' in outcome && clusterTestFailureClassByCode[outcome.code] === 'infra'
}

/** In characters. OLM's messages can list long chains of constraints. */
const maxFailureMessageLength = 2000
