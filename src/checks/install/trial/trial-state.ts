import type { Action, Look, Seen } from './kube-object.ts'
import { failed, type FailureCode, type TrialOutcome } from './trial-outcome.ts'

export interface TrialEvent {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly says: string
}

export interface TrialState<Stage extends string = string> {
  readonly stage: Stage
  readonly started: number
  /** Start of the stage. */
  readonly since: number
  /** Index of the current step in the plan. */
  readonly step: number
  readonly events: readonly TrialEvent[]
  /** Times, names and texts kept between looks. */
  readonly memory: Readonly<Record<string, string | number>>
}

export interface Progress<Stage extends string = string> {
  readonly state: TrialState<Stage>
  readonly actions: readonly Action[]
  /** For people. */
  readonly waitsFor: string
  readonly outcome?: TrialOutcome
}

export interface TrialKind<Stage extends string = string> {
  readonly first: Stage
  readonly looks: (state: TrialState<Stage>) => readonly Look[]
  readonly next: (state: TrialState<Stage>, seen: Seen, now: number) => Progress<Stage>
}

export function startState<Stage extends string>(stage: Stage, now: number): TrialState<Stage> {
  return { stage, started: now, since: now, step: 0, events: [], memory: {} }
}

export function waits<Stage extends string>(
  state: TrialState<Stage>,
  waitsFor: string,
  actions: readonly Action[] = [],
): Progress<Stage> {
  return { state, actions, waitsFor }
}

export function enter<Stage extends string>(
  state: TrialState<Stage>,
  stage: Stage,
  now: number,
  says: string,
  actions: readonly Action[] = [],
  memory: TrialState['memory'] = {},
): Progress<Stage> {
  return {
    state: {
      ...noted(state, now, says),
      stage,
      since: now,
      memory: { ...state.memory, ...memory },
    },
    actions,
    waitsFor: says,
  }
}

export function ends<Stage extends string>(
  state: TrialState<Stage>,
  now: number,
  outcome: TrialOutcome,
): Progress<Stage> {
  const says = 'says' in outcome ? outcome.says : 'it installs'
  return { state: noted(state, now, says), actions: [], waitsFor: says, outcome }
}

export function fails<Stage extends string>(
  state: TrialState<Stage>,
  now: number,
  { code, says }: { readonly code: FailureCode; readonly says: string },
): Progress<Stage> {
  return ends(state, now, failed(code, says))
}

export function remember<Stage extends string>(
  state: TrialState<Stage>,
  memory: TrialState['memory'],
): TrialState<Stage> {
  return { ...state, memory: { ...state.memory, ...memory } }
}

/**
 * How long a controller has reported the same class of failure in every look. Messages may differ; a look without the
 * failure resets the time.
 */
export function lasting<Stage extends string>(
  state: TrialState<Stage>,
  code: FailureCode | undefined,
  now: number,
): { readonly state: TrialState<Stage>; readonly milliseconds: number } {
  if ((state.memory['failure'] ?? '') !== (code ?? ''))
    return { state: remember(state, { failure: code ?? '', failingSince: now }), milliseconds: 0 }
  return { state, milliseconds: now - Number(state.memory['failingSince'] ?? now) }
}

/** Skips a message equal to the last one. */
function noted<Stage extends string>(state: TrialState<Stage>, now: number, says: string): TrialState<Stage> {
  if (state.events.at(-1)?.says === says) return state
  return { ...state, events: [...state.events, { at: now, says }].slice(-mostEvents) }
}

const mostEvents = 200
