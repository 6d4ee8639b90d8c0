// Runs one trial until it ends, gathers evidence and always cleans up, also after a stop request.
import {
  cleanUpLooks,
  nextCleanUp,
  startCleanUp,
  type CleanUpState,
} from '../checks/install/trial/clean-up.ts'
import { usualDeadlines, type Deadlines } from '../checks/install/trial/deadlines.ts'
import {
  lookKey,
  type Action,
  type Look,
  type RefusedAction,
  type Seen,
  type Sighting,
} from '../checks/install/trial/kube-object.ts'
import { nextProgress, trialKind, type Discovered } from '../checks/install/trial/try-on-cluster.ts'
import type { TrialOutcome } from '../checks/install/trial/trial-outcome.ts'
import { failed } from '../checks/install/trial/trial-outcome.ts'
import { namespaceOf, type TrialPlan } from '../checks/install/trial/trial-plan.ts'
import type { Evidence, TrialReport } from '../checks/install/trial/trial-report.ts'
import { startState, type TrialEvent } from '../checks/install/trial/trial-state.ts'
import type { Clock } from '../ports/clock.ts'
import type { Cluster } from './cluster.ts'
import { ClusterError } from './cluster-error.ts'
import { gatherEvidence } from './gather-evidence.ts'

export interface RunOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly deadlines?: Deadlines
  /** Called whenever the text changes. */
  readonly onProgress?: (says: string) => void
  readonly signal?: AbortSignal
  readonly force?: boolean
  /** Milliseconds between looks. */
  readonly every?: number
}

const usualEvery = 2000
/** Limit on parallel looks. */
const atOnce = 4

export async function runTrial(plan: TrialPlan, options: RunOptions): Promise<TrialReport> {
  const { clock, cluster, deadlines = usualDeadlines } = options
  const started = clock.now()
  let events: readonly TrialEvent[] = []
  let outcome: TrialOutcome
  let evidence: readonly Evidence[] = []
  let leftovers: readonly string[] = []
  let discovered: Discovered | undefined
  let isClean = true
  try {
    discovered = await cluster.discover()
    const kind = trialKind(plan, deadlines, discovered)
    if ('code' in kind) outcome = failed(kind.code, kind.says)
    else {
      isClean = false
      const ended = await walk(kind, deadlines, options)
      outcome = ended.outcome
      events = ended.events
      if (outcome.verdict !== 'installs') evidence = await gatherEvidence(cluster, plan)
    }
  } catch (error) {
    outcome = failedBy(error)
  }
  if (!isClean) {
    const cleaned = await cleanUp(plan.id, options)
    leftovers = cleaned.leftovers
    events = [...events, ...cleaned.events]
  }
  return {
    id: plan.id,
    target: plan.target,
    package: plan.package,
    channel: plan.channel,
    mode: plan.mode,
    steps: plan.steps.map(({ root }) => root),
    namespace: namespaceOf(plan),
    ...(plan.network && { isNetworkClosed: true }),
    cluster: discovered === undefined ? [] : describeCluster(discovered),
    outcome,
    started,
    ended: clock.now(),
    events,
    evidence,
    leftovers,
  }
}

function failedBy(error: unknown): TrialOutcome {
  if (!(error instanceof ClusterError)) throw error
  return failed(error.code === 'unreachable' ? 'api-unreachable' : 'forbidden', error.message)
}

async function walk(
  kind: Exclude<ReturnType<typeof trialKind>, { readonly code: unknown }>,
  deadlines: Deadlines,
  { cluster, clock, signal, onProgress, every = usualEvery }: RunOptions,
): Promise<{ readonly outcome: TrialOutcome; readonly events: readonly TrialEvent[] }> {
  let state = startState(kind.first, clock.now())
  let refused: readonly RefusedAction[] = []
  let said = ''
  for (;;) {
    if (signal?.aborted === true)
      return { outcome: failed('killed', 'the trial was told to stop'), events: state.events }
    const seen = await lookAround(cluster, kind.looks(state), refused)
    const progress = nextProgress(kind, state, seen, clock.now(), deadlines)
    ;({ state } = progress)
    if (progress.waitsFor !== said) onProgress?.((said = progress.waitsFor))
    if (progress.outcome) return { outcome: progress.outcome, events: state.events }
    refused = await actAll(cluster, progress.actions)
    await clock.sleep(every, signal)
  }
}

/**
 * Removes everything of one trial and returns what is left. Never rejects: a failed clean-up does not change the
 * verdict, and the janitor retries it.
 */
export async function cleanUp(
  id: string,
  { cluster, clock, deadlines = usualDeadlines, force = false, onProgress, every = usualEvery }: RunOptions,
): Promise<Pick<CleanUpState, 'leftovers' | 'events'>> {
  let state = startCleanUp(id, clock.now())
  for (;;) {
    const seen = await lookAround(cluster, cleanUpLooks(state), [])
    const {
      state: next,
      actions,
      isDone,
      waitsFor,
    } = nextCleanUp(state, seen, clock.now(), { deadlines, force })
    const isFurther = next.group > state.group
    state = next
    if (isDone) return state
    // An empty group needs no wait.
    if (isFurther) continue
    onProgress?.(`clean-up: ${waitsFor}`)
    await actAll(cluster, actions)
    await clock.sleep(every)
  }
}

/** Skips duplicates and runs a few looks at a time. */
export async function lookAround(
  cluster: Pick<Cluster, 'look'>,
  looks: readonly Look[],
  refused: readonly RefusedAction[],
): Promise<Seen> {
  const left = new Map(looks.map((look) => [lookKey(look), look]))
  const sightings = new Map<string, Sighting>()
  const queue = [...left]
  await Promise.all(
    Array.from({ length: Math.min(atOnce, queue.length) }, async () => {
      for (let next = queue.shift(); next; next = queue.shift())
        sightings.set(next[0], await cluster.look(next[1]))
    }),
  )
  return { sightings, refused }
}

/** In order, because some actions depend on earlier ones. */
async function actAll(
  cluster: Pick<Cluster, 'act'>,
  actions: readonly Action[],
): Promise<readonly RefusedAction[]> {
  const refused: RefusedAction[] = []
  for (const action of actions) {
    const answer = await cluster.act(action)
    if (answer) refused.push(answer)
  }
  return refused
}

function describeCluster({ version, groupVersions }: Discovered): readonly string[] {
  const wanted = groupVersions.filter((one) =>
    /^(?:operators\.coreos\.com|olm\.operatorframework\.io|core\.rukpak\.io)\//.test(one),
  )
  return [`Kubernetes ${version}`, ...wanted]
}
