import type { ClusterAction, KubeQuery, ClusterObservation } from './kube-object.ts'
import {
  createFailedTestOutcome,
  type ClusterTestFailureCode,
  type ClusterTestOutcome,
} from './cluster-test-outcome.ts'

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
  /** Times, names, and strings that are kept between observations. */
  readonly memory: Readonly<Record<string, string | number>>
}

export interface ClusterTestProgress<Stage extends string = string> {
  readonly state: ClusterTestState<Stage>
  readonly actions: readonly ClusterAction[]
  /** For display, as the object of "Waiting for …". */
  readonly waitsFor: string
  readonly outcome?: ClusterTestOutcome
}

export interface ClusterTestDriver<Stage extends string = string> {
  readonly first: Stage
  readonly queries: (state: ClusterTestState<Stage>) => readonly KubeQuery[]
  readonly next: (
    state: ClusterTestState<Stage>,
    seen: ClusterObservation,
    now: number,
  ) => ClusterTestProgress<Stage>
}

export function createInitialTestState<Stage extends string>(
  stage: Stage,
  now: number,
): ClusterTestState<Stage> {
  return { stage, started: now, since: now, step: 0, events: [], memory: {} }
}

export function createWaitingTestProgress<Stage extends string>(
  state: ClusterTestState<Stage>,
  waitsFor: string,
  actions: readonly ClusterAction[] = [],
): ClusterTestProgress<Stage> {
  return { state, actions, waitsFor }
}

export function transitionToStage<Stage extends string>(
  state: ClusterTestState<Stage>,
  stage: Stage,
  now: number,
  message: string,
  actions: readonly ClusterAction[] = [],
  memory: ClusterTestState['memory'] = {},
): ClusterTestProgress<Stage> {
  return {
    state: {
      ...addClusterTestEvent(state, now, message),
      stage,
      since: now,
      memory: { ...state.memory, ...memory },
    },
    actions,
    waitsFor: message,
  }
}

export function createFinalTestProgress<Stage extends string>(
  state: ClusterTestState<Stage>,
  now: number,
  outcome: ClusterTestOutcome,
): ClusterTestProgress<Stage> {
  const message = 'says' in outcome ? outcome.says : 'it installs'
  return { state: addClusterTestEvent(state, now, message), actions: [], waitsFor: message, outcome }
}

export function createFailedTestProgress<Stage extends string>(
  state: ClusterTestState<Stage>,
  now: number,
  { code, says }: { readonly code: ClusterTestFailureCode; readonly says: string },
): ClusterTestProgress<Stage> {
  return createFinalTestProgress(state, now, createFailedTestOutcome(code, says))
}

export function updateTestStateVariables<Stage extends string>(
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
      state: updateTestStateVariables(state, { failure: code ?? '', failingSince: now }),
      milliseconds: 0,
    }
  return { state, milliseconds: now - Number(state.memory['failingSince'] ?? now) }
}

/** Skips a message equal to the last one. */
function addClusterTestEvent<Stage extends string>(
  state: ClusterTestState<Stage>,
  now: number,
  message: string,
): ClusterTestState<Stage> {
  if (state.events.at(-1)?.says === message) return state
  return { ...state, events: [...state.events, { at: now, says: message }].slice(-maxClusterTestEvents) }
}

const maxClusterTestEvents = 200
