// Runs one plan: the simulated GitHub, the catalog-bot processes, and the oracles that observe them. The same plan
// always produces the same run.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CommitSha } from '../src/pull-request/ids.ts'
import type { MergePermit } from '../src/policy/merge-permit.ts'
import type { Job } from '../src/ports/jobs.ts'
import { ForgeError } from '../src/adapters/github/forge-error.ts'
import { GitError } from '../src/adapters/git/git-error.ts'
import type { RegistryLookupResolver } from '../src/catalogs/registries.ts'
import type { ImageLookupResult } from '../src/checks/lookups.ts'
import { toMergeLeaseName } from '../src/jobs/auto-renewing-lease.ts'
import { toJobKey } from '../src/adapters/store/jobs.ts'
import { StoreError } from '../src/adapters/store/database.ts'
import { applyUserAction, seedRepository } from './apply-user-action.ts'
import { simulatedBotSettings, startBotInstance, type BotInstance } from './bot/bot-instance.ts'
import { createInMemoryForge } from './ports/memory-forge.ts'
import { createInMemoryMergeApi } from './ports/memory-merging.ts'
import {
  createInMemoryRepository,
  type GitMirrorRefs,
  type SimulatedCallScheduler,
} from './ports/memory-repository.ts'
import {
  createInMemoryStore,
  enqueueJob,
  workerHeartbeatTimeoutMs,
  InMemoryStoreTables,
  type JobRow,
} from './ports/memory-store.ts'
import {
  formatPlannedEvent,
  type PlannedEvent,
  type InjectedFault,
  type SimulationPlan,
} from './simulation-plan.ts'
import { isReferenceToMissingImage, findBundleImageContents } from './world/repository-contents.ts'
import {
  Scheduler,
  type PendingCall,
  type SchedulerChoice,
  type CallFault,
  type SimulatedProcess,
} from './scheduler.ts'
import { installationId, SimulatedGitHub, type SimulatedWebhookDelivery } from './world/simulated-github.ts'
import { UnmodeledBehaviorError } from './git/merge.ts'
import { checkFinalSimulationState } from './oracles/check-final-state.ts'
import { checkMergeInvariants } from './oracles/check-merge.ts'
import type { ObservedSimulationRun, InvariantViolation } from './oracles/observed-run.ts'

export interface SimulationResult {
  readonly plan: SimulationPlan
  /** Empty when the run reached behavior that is not modeled: such a run proves nothing. */
  readonly violations: readonly InvariantViolation[]
  readonly isModelled: boolean
  readonly trace: readonly string[]
  readonly steps: number
  readonly landings: number
  /** When each event happened, and whether it changed anything. */
  readonly taken: readonly { readonly event: PlannedEvent; readonly step: number; readonly isVain: boolean }[]
  /** The step after which everything that happened was automatic. */
  readonly idleAt: number
}

/** One run of a job. */
interface RunningJob {
  readonly name: string
  /** The step as of which it knows its pull request. */
  readAt?: number
  /** It may have ended early, and may run again. */
  isInjured: boolean
}

export interface SimulationOptions {
  /** Records each step. A run takes twice as long with it. */
  readonly isTraced?: boolean
}

const startTimeMs = Date.parse('2026-01-01T00:00:00Z')
/**
 * The number of milliseconds after the last fault within which everything must settle. Permissions, parked pull
 * requests, and swept items are checked again within an hour.
 */
const settlingTimeMs = 2.2 * 3600_000
/**
 * The number of milliseconds between sweeps after the last fault, except for the first one, which runs on time.
 * They find nothing new, and they would be half of all steps. Anything that waits for a sweep gets a few of them.
 *
 */
const rareSweepIntervalMs = 40 * 60_000
/** A run that takes more steps than this never ends. */
const maxSimulationSteps = 15_000
/** The number of jobs that one process runs concurrently. */
const maxConcurrentJobs = 3
/** The number of milliseconds until a terminated process is running again. */
const processRestartDelayMs = 4000
/** The maximum delay of a delivery that is not lost, in steps. Deliveries can arrive in any order. */
const maxDeliveryDelaySteps = 4

export async function runSimulation(
  plan: SimulationPlan,
  { isTraced = false }: SimulationOptions = {},
): Promise<SimulationResult> {
  const trace: string[] = []
  const violations: InvariantViolation[] = []
  const events = [...plan.events]
  const pending: { fault: InjectedFault; times: number }[] = []
  const tables = new InMemoryStoreTables()
  const current = new AsyncLocalStorage<RunningJob>()
  const instances: (BotInstance | undefined)[] = []
  const restarts = new Map<number, number>()
  /** Since when dead processes have been silent. */
  const deaths = new Map<SimulatedProcess, number>()
  const mirrors: GitMirrorRefs[] = []
  const server = new SimulatedGitHub(() => ({ step: scheduler.step, now: scheduler.now }))
  const taken: SimulationResult['taken'][number][] = []
  let idleAt = 0
  let isHealed = false
  let healedAt = Infinity
  let nextSweep = startTimeMs + 1000
  const traceLine = (line: string) => void (isTraced && trace.push(line))
  const violate = (violation: InvariantViolation) => {
    traceLine(`   VIOLATION ${violation.invariant}: ${violation.what}`)
    if (
      !violations.some(({ invariant, what }) => invariant === violation.invariant && what === violation.what)
    )
      violations.push(violation)
  }
  const observed: ObservedSimulationRun = {
    server,
    tables,
    merges: [],
    freshReads: new Map(),
    evaluations: [],
    leasesTaken: new Map(),
    ownFailures: [],
    hadTwins: false,
  }

  const scheduler = new Scheduler(
    {
      seed: plan.seed,
      others,
      injure: injectFault,
      before: beforeStep,
      nextEvent,
      ...(isTraced && { onStep: traceLine }),
    },
    startTimeMs,
  )
  seedRepository(server)
  for (let at = 0; at < plan.instances; at++) {
    mirrors.push({ branches: new Map(), pulls: new Map() })
    boot(at)
  }
  await scheduler.run(
    () => healedAt + settlingTimeMs,
    () => scheduler.step > maxSimulationSteps,
  )
  if (scheduler.step > maxSimulationSteps)
    violate({ invariant: 'I21', what: `no end after ${maxSimulationSteps} steps` })
  const isModelled = checkInvariants(observed, violate)
  const { step: steps } = scheduler
  return {
    plan,
    violations: isModelled ? violations : [],
    isModelled,
    trace,
    steps,
    landings: observed.merges.length,
    taken,
    idleAt,
  }

  function boot(at: number): void {
    const process: SimulatedProcess = { name: `bot ${at + 1}`, isAlive: true, pausedUntil: 0, skew: 0 }
    const schedule: SimulatedCallScheduler = (to, label, doIt) => {
      const job = current.getStore()
      if (job === undefined) return scheduler.call({ process, to, label }, doIt)
      const onInjury = () => (job.isInjured = true)
      return scheduler.call({ process, to, label: `[${job.name}] ${label}`, onInjury }, doIt)
    }
    const store = createInMemoryStore({
      tables,
      now: () => scheduler.now,
      turn: (label, doIt) => schedule('store', label, doIt),
    })
    const acquireLease: typeof store.acquireLease = async (name, seconds) => {
      const lease = await store.acquireLease(name, seconds)
      // Leases have other uses, under separate names.
      const isMergeLease = [...server.branches.keys()].some(
        (branch) => name === toMergeLeaseName(server.name, branch),
      )
      if (lease !== undefined && isMergeLease) observed.leasesTaken.set(process, scheduler.step)
      return lease
    }
    const mirror = mirrors[at]
    if (mirror === undefined) throw new Error('no mirror')
    instances[at] = startBotInstance(process, scheduler, {
      store: { ...store, acquireLease },
      forge: createInMemoryForge(server, schedule, {
        onFreshRead: (pull, step) => void observed.freshReads.set(`${process.name} ${pull}`, step),
        onRead: (step) => {
          const job = current.getStore()
          if (job !== undefined) job.readAt = Math.min(job.readAt ?? step, step)
        },
        lag,
        clock: scheduler.clockOf(process),
      }),
      merging: createInMemoryMergeApi(server, schedule, {
        onMerging: (permit) =>
          record(process, permit, 'merge', permit.merge.commit, server.mustTip(permit.merge.baseRef)),
      }),
      repository: createInMemoryRepository(server, mirror, schedule, {
        onMerge: (permit, commit, on) => record(process, permit, 'push', commit, on),
      }),
      registries: {
        forEvaluation: () =>
          ((question) =>
            queryRegistry(schedule, question.kind, question.reference)) as RegistryLookupResolver,
        refreshImage: (reference) =>
          queryRegistry(schedule, 'image', reference) as Promise<ImageLookupResult>,
        close: () => Promise.resolve(),
      },
    })
    restarts.delete(at)
  }

  function record(
    process: SimulatedProcess,
    permit: MergePermit,
    by: 'push' | 'merge',
    commit: CommitSha,
    on: CommitSha,
  ): void {
    const { pull } = permit.merge
    const merge = { process, pull, permit, by, commit, on, step: scheduler.step, at: scheduler.now }
    observed.merges.push(merge)
    traceLine(`   MERGES #${pull} as ${commit.slice(0, 7)} by ${by}`)
    for (const violation of checkMergeInvariants(observed, merge)) violate(violation)
  }

  function lag(): number {
    const stale = pending.find(({ fault }) => fault.fault === 'stale')
    if (stale?.fault.fault !== 'stale') return 0
    stale.times -= 1
    if (stale.times <= 0) pending.splice(pending.indexOf(stale), 1)
    return stale.fault.steps
  }

  function injectFault(call: PendingCall): CallFault | 'crash' | undefined {
    const { to } = call
    for (const one of pending) {
      const { fault } = one
      const isMeant =
        (fault.fault === 'fails' && fault.to === to) ||
        (fault.fault === 'crash' && (fault.to === undefined || fault.to === to)) ||
        (fault.fault === 'limited' && (to === 'github' || to === 'merge'))
      if (!isMeant) continue
      one.times -= 1
      if (one.times <= 0) pending.splice(pending.indexOf(one), 1)
      traceLine(`   FAULT ${JSON.stringify(fault)}`)
      if (fault.fault === 'crash') {
        const at = instances.findIndex((instance) => instance?.process === call.process)
        restarts.set(at, scheduler.now + processRestartDelayMs)
        return 'crash'
      }
      call.onInjury?.()
      if (fault.fault === 'limited')
        return { when: 'before', error: () => createRateLimitError(fault.seconds) }
      if (fault.fault === 'fails') return { when: fault.when, error: () => createConnectionFailureError(to) }
    }
    return undefined
  }

  /** Runs everything that is due before the next choice. */
  function beforeStep(step: number): void {
    while (events[0] !== undefined && events[0].at <= step) takeNext()
    if (events.length > 0 && isIdle()) {
      takeNext()
      // Without webhooks, catalog-bot checks on a schedule.
      if (!plan.webhooks) nextSweep = scheduler.now
    }
    for (const [at, when] of restarts) if (when <= scheduler.now) boot(at)
    recoverJobs()
    if (scheduler.now >= nextSweep) {
      nextSweep = scheduler.now + (isHealed ? rareSweepIntervalMs : simulatedBotSettings.sweepSeconds * 1000)
      enqueueJob(
        tables,
        { kind: 'sweep', installation: installationId, repository: server.name },
        scheduler.now,
      )
    }
    if (!plan.webhooks) server.deliveries.length = 0
    if (events.length === 0 && !isHealed && isIdle()) {
      isHealed = true
      idleAt = scheduler.step
      healedAt = scheduler.now
      pending.length = 0
      server.rules = { ...server.rules, locked: false }
      traceLine('   no more faults')
    }
  }

  function takeNext(): void {
    const event = events.shift()
    if (event === undefined) return
    const { state } = server
    take(event)
    // A fault is traced when it affects a call.
    const isVain = 'do' in event && server.state === state
    taken.push({ event, step: scheduler.step, isVain })
  }

  function isIdle(): boolean {
    return (
      (plan.webhooks ? server.deliveries.length === 0 : true) &&
      restarts.size === 0 &&
      tables.jobs.every(({ state, startAfter }) => state === 'waiting' && startAfter > scheduler.now) &&
      instances.every((instance) => instance === undefined || !scheduler.isBusy(instance.process))
    )
  }

  function take(event: PlannedEvent): void {
    traceLine(`   ${formatPlannedEvent(event)}`)
    if ('do' in event) return applyUserAction(server, event)
    const alive = instances.filter((instance) => instance?.process.isAlive === true)
    const victim = alive[event.at % Math.max(1, alive.length)]
    switch (event.fault) {
      case 'fails':
      case 'limited':
      case 'stale':
      case 'lose-delivery':
      case 'double-delivery':
        pending.push({ fault: event, times: event.times })
        return
      case 'crash':
        pending.push({ fault: event, times: 1 })
        return
      case 'pause':
        if (victim) victim.process.pausedUntil = scheduler.now + event.seconds * 1000
        return
      case 'clock':
        if (victim) victim.process.skew += event.seconds * 1000
        return
      case 'lose-cache':
        tables.cache.clear()
        return
      case 'lose-mirror':
        for (const { branches, pulls } of mirrors) {
          branches.clear()
          pulls.clear()
        }
    }
  }

  function others(): readonly SchedulerChoice[] {
    const alive = instances.flatMap((instance) =>
      instance?.process.isAlive === true && instance.process.pausedUntil <= scheduler.now ? [instance] : [],
    )
    const [first] = alive
    if (first === undefined) return []
    const deliveries = server.deliveries
      .slice(0, maxDeliveryDelaySteps)
      .map((delivery) => ({ label: `delivery ${delivery.event}`, take: () => arrive(delivery, first) }))
    const jobs = tables.jobs
      .filter(
        ({ state, startAfter, key }) => state === 'waiting' && startAfter <= scheduler.now && !isActive(key),
      )
      .toSorted((a, b) => a.order - b.order)
    const taking = alive.flatMap((instance) => {
      const busy = tables.jobs.filter((row) => row.by === instance.process && row.state === 'active').length
      if (busy >= maxConcurrentJobs) return []
      return jobs.map((row) => ({
        label: `${instance.process.name} takes ${row.key}`,
        take: () => work(row, instance),
      }))
    })
    return [...deliveries, ...taking]
  }

  function isActive(key: string): boolean {
    return tables.jobs.some((row) => row.key === key && row.state === 'active')
  }

  function arrive(delivery: SimulatedWebhookDelivery, instance: BotInstance): void {
    server.deliveries.splice(server.deliveries.indexOf(delivery), 1)
    const one = pending.find(
      ({ fault }) => fault.fault === 'lose-delivery' || fault.fault === 'double-delivery',
    )
    if (one !== undefined) {
      one.times -= 1
      if (one.times <= 0) pending.splice(pending.indexOf(one), 1)
      traceLine(`   FAULT ${one.fault.fault}`)
      if (one.fault.fault === 'lose-delivery') return
      server.deliveries.push(delivery)
    }
    // GitHub records the failure and may redeliver later.
    instance.receive(delivery).catch(() => undefined)
  }

  function work(row: JobRow, instance: BotInstance): void {
    row.state = 'active'
    row.by = instance.process
    row.runs += 1
    const { runs, job } = row
    const isOurs = () => row.state === 'active' && row.runs === runs && tables.jobs.includes(row)
    const finishJob = (after?: number) => {
      if (!isOurs() || !instance.process.isAlive) return
      tables.jobs.splice(tables.jobs.indexOf(row), 1)
      if (after !== undefined) requeueJob(row, scheduler.now + after, runs)
    }
    const work: RunningJob = { name: formatJobName(job), isInjured: false }
    void current.run(work, async () => {
      try {
        await instance.run(job)
        const { readAt, isInjured } = work
        if (job.kind === 'pull' && readAt !== undefined && !isInjured)
          observed.evaluations.push({ pull: job.pull, since: readAt, until: scheduler.step })
        finishJob()
      } catch (error) {
        // A permanent rejection by GitHub is a simulated fault, too. The queue runs the job again.
        if (!(error instanceof StoreError && error.retryable) && !(error instanceof ForgeError))
          observed.ownFailures.push({ job: toJobKey(job), error: error as Error })
        traceLine(`   the job ${row.key} failed: ${String(error)}`)
        finishJob(Math.min(300_000, 2000 * 2 ** Math.min(8, runs)))
      }
    })
  }

  function requeueJob({ job, key }: JobRow, startAfter: number, runs = 0): void {
    enqueueJob(tables, job, startAfter)
    for (const row of tables.jobs) if (row.key === key && row.state === 'waiting') row.runs = runs
  }

  /** Jobs of processes that are dead or silent for too long wait again. */
  function recoverJobs(): void {
    for (const row of tables.jobs.filter(({ state }) => state === 'active')) {
      const { by } = row
      if (by === undefined) continue
      const silentSince = deaths.get(by) ?? (by.isAlive ? undefined : scheduler.now)
      if (silentSince !== undefined && !deaths.has(by)) deaths.set(by, silentSince)
      const pausedFor = by.isAlive ? by.pausedUntil - scheduler.now : 0
      const isSilent = by.isAlive
        ? pausedFor > workerHeartbeatTimeoutMs
        : scheduler.now - (silentSince ?? scheduler.now) >= workerHeartbeatTimeoutMs
      if (!isSilent) continue
      if (by.isAlive) observed.hadTwins = true
      tables.jobs.splice(tables.jobs.indexOf(row), 1)
      requeueJob(row, scheduler.now)
    }
  }

  function nextEvent(): number | undefined {
    const moments = [
      nextSweep,
      ...restarts.values(),
      ...tables.jobs
        .filter(({ state, key }) => state === 'waiting' && !isActive(key))
        .map(({ startAfter }) => startAfter),
      ...[...deaths.values()].map((at) => at + workerHeartbeatTimeoutMs),
    ].filter((moment) => moment > scheduler.now)
    return moments.length === 0 ? undefined : Math.min(...moments)
  }
}

function createRateLimitError(seconds: number): ForgeError {
  return new ForgeError('rate-limited', "GitHub's rate limit is reached", { retryAfter: seconds })
}

/** The error that the adapters return for a connection failure. */
function createConnectionFailureError(to: PendingCall['to']): Error {
  switch (to) {
    case 'store':
      return new StoreError('unreachable', 'the database went away')
    case 'git':
      return new GitError('unreachable', 'git fetch: the server hung up')
    case 'push':
      return new GitError('outcome-unknown', 'git push: the server hung up; the branch may have moved')
    case 'registry':
      return new Error('the registry answered 503')
    case 'github':
    case 'merge':
      return new ForgeError('unavailable', 'GitHub answered 502', { retryAfter: 5 })
  }
}

async function queryRegistry(
  schedule: SimulatedCallScheduler,
  question: 'image' | 'bundle' | 'install',
  reference: string,
) {
  try {
    return await schedule('registry', `ask for ${question} ${reference.slice(0, 40)}`, () =>
      createRegistryLookupResult(question, reference),
    )
  } catch (error) {
    return { kind: 'unknown', reason: (error as Error).message, retryAfter: 10 }
  }
}

function createRegistryLookupResult(question: 'image' | 'bundle' | 'install', reference: string): object {
  const content = findBundleImageContents(reference)
  if (isReferenceToMissingImage(reference) || content === undefined)
    return { kind: 'missing', reason: 'the registry does not have it' }
  const digest = reference.split('@')[1] ?? ''
  if (question === 'image')
    return { kind: 'ok', digest, mediaType: 'application/vnd.oci.image.manifest.v1+json', size: 1 }
  if (question === 'install') return { kind: 'unsupported', reason: 'installing is not simulated' }
  return { kind: 'bundle', digest, format: 'registry+v1', content, findings: [] }
}

/** The name of a job in a trace. */
function formatJobName(job: Job): string {
  return job.kind === 'pull' ? `#${job.pull}` : job.kind
}

/** False when a job or an oracle reached behavior that is not modeled. */
function checkInvariants(
  observed: ObservedSimulationRun,
  violate: (violation: InvariantViolation) => void,
): boolean {
  if (observed.ownFailures.some(({ error }) => error instanceof UnmodeledBehaviorError)) return false
  try {
    for (const violation of checkFinalSimulationState(observed)) violate(violation)
    return true
  } catch (error) {
    if (error instanceof UnmodeledBehaviorError) return false
    throw error
  }
}
