// One run of a plan: the world, the bot's processes in it, and the oracles that look on. The same plan gives the same run.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CommitSha } from '../src/change/ids.ts'
import type { MergePermit } from '../src/gate/merge-permit.ts'
import type { Job } from '../src/ports/jobs.ts'
import { ForgeError } from '../src/github/forge-error.ts'
import { GitError } from '../src/git/git-error.ts'
import type { AskRegistries } from '../src/examine/registries.ts'
import type { ImageAnswer } from '../src/checks/questions.ts'
import { leaseName } from '../src/landing/lease-name.ts'
import { jobKey } from '../src/store/jobs.ts'
import { StoreError } from '../src/store/store-error.ts'
import { act, furnish } from './act.ts'
import { simulatedSettings, startInstance, type Instance } from './bot/instance.ts'
import { openMemoryForge } from './ports/memory-forge.ts'
import { openMemoryMerging } from './ports/memory-merging.ts'
import { openMemoryRepository, type KeptRefs, type Turn } from './ports/memory-repository.ts'
import { openMemoryStore, putJob, silence, Tables, type JobRow } from './ports/memory-store.ts'
import { describe, type Event, type Fault, type Plan } from './plan.ts'
import { isMissingImage, knownBundle } from './world/contents.ts'
import { Scheduler, type Call, type Choice, type Injury, type Process } from './scheduler.ts'
import { installation, Server, type Delivery } from './world/server.ts'
import { NotModelled } from './git/merge.ts'
import { judgeEnd } from './oracles/judge-end.ts'
import { judgeLanding } from './oracles/judge-landing.ts'
import type { Observed, Violation } from './oracles/observed.ts'

export interface RunResult {
  readonly plan: Plan
  /** None where the world came to something that is not modelled: nothing can be said of it. */
  readonly violations: readonly Violation[]
  readonly isModelled: boolean
  readonly trace: readonly string[]
  readonly steps: number
  readonly landings: number
  /** When each event came, and whether it left the world as it was. */
  readonly taken: readonly { readonly event: Event; readonly step: number; readonly isVain: boolean }[]
  /** The step from which on nothing happened that did not come of itself. */
  readonly idleAt: number
}

/** One run of a job. */
interface JobAtWork {
  readonly name: string
  /** The step as of which it knows its pull request. */
  readAt?: number
  /** It may have ended early, and be tried again. */
  isInjured: boolean
}

export interface RunOptions {
  /** Writes down each step; a run for itself is then twice as long. */
  readonly isTraced?: boolean
}

const start = Date.parse('2026-01-01T00:00:00Z')
/** Milliseconds after the last thing that went wrong within which everything has come to its end: rights, parked pull requests and what was swept are looked at again within an hour. */
const settlingTime = 2.2 * 3600_000
/**
 * Milliseconds between sweeps then, but for the first, which comes at its time: they find nothing new, and were half of all
 * steps. Whoever waits for one has a few of them.
 */
const rareSweep = 40 * 60_000
/** A run that takes more steps than this does not come to an end. */
const mostSteps = 15_000
/** Jobs that one process does at once. */
const places = 3
/** Milliseconds until a process that ended is there again. */
const restart = 4000
/** The most that one delivery is late where nothing is lost, in steps of choice: they come in any order. */
const deliveriesAtHand = 4

export async function run(plan: Plan, { isTraced = false }: RunOptions = {}): Promise<RunResult> {
  const trace: string[] = []
  const violations: Violation[] = []
  const events = [...plan.events]
  const pending: { fault: Fault; times: number }[] = []
  const tables = new Tables()
  const current = new AsyncLocalStorage<JobAtWork>()
  const instances: (Instance | undefined)[] = []
  const restarts = new Map<number, number>()
  /** Since when dead processes say nothing. */
  const deaths = new Map<Process, number>()
  const mirrors: KeptRefs[] = []
  const server = new Server(() => ({ step: scheduler.step, now: scheduler.now }))
  const taken: RunResult['taken'][number][] = []
  let idleAt = 0
  let isHealed = false
  let healedAt = Infinity
  let nextSweep = start + 1000
  const say = (line: string) => void (isTraced && trace.push(line))
  const violate = (violation: Violation) => {
    say(`   VIOLATION ${violation.invariant}: ${violation.what}`)
    if (
      !violations.some(({ invariant, what }) => invariant === violation.invariant && what === violation.what)
    )
      violations.push(violation)
  }
  const observed: Observed = {
    server,
    tables,
    landings: [],
    freshLooks: new Map(),
    looks: [],
    leasesTaken: new Map(),
    ownFailures: [],
    hadTwins: false,
  }

  const scheduler = new Scheduler(
    {
      seed: plan.seed,
      others,
      injure,
      before,
      nextEvent,
      ...(isTraced && { onStep: say }),
    },
    start,
  )
  furnish(server)
  for (let at = 0; at < plan.instances; at++) {
    mirrors.push({ branches: new Map(), pulls: new Map() })
    boot(at)
  }
  await scheduler.run(
    () => healedAt + settlingTime,
    () => scheduler.step > mostSteps,
  )
  if (scheduler.step > mostSteps) violate({ invariant: 'I21', what: `no end after ${mostSteps} steps` })
  const isModelled = judgeAll(observed, violate)
  const { step: steps } = scheduler
  const landings = observed.landings.length
  return { plan, violations: isModelled ? violations : [], isModelled, trace, steps, landings, taken, idleAt }

  function boot(at: number): void {
    const process: Process = { name: `bot ${at + 1}`, isAlive: true, pausedUntil: 0, skew: 0 }
    const turn: Turn = (to, label, doIt) => {
      const job = current.getStore()
      if (job === undefined) return scheduler.call({ process, to, label }, doIt)
      const onInjury = () => (job.isInjured = true)
      return scheduler.call({ process, to, label: `[${job.name}] ${label}`, onInjury }, doIt)
    }
    const store = openMemoryStore({
      tables,
      now: () => scheduler.now,
      turn: (label, doIt) => turn('store', label, doIt),
    })
    const acquireLease: typeof store.acquireLease = async (name, seconds) => {
      const lease = await store.acquireLease(name, seconds)
      // Leases have other uses, under names of their own.
      const isForLanding = [...server.branches.keys()].some(
        (branch) => name === leaseName(server.name, branch),
      )
      if (lease !== undefined && isForLanding) observed.leasesTaken.set(process, scheduler.step)
      return lease
    }
    const mirror = mirrors[at]
    if (mirror === undefined) throw new Error('no mirror')
    instances[at] = startInstance(process, scheduler, {
      store: { ...store, acquireLease },
      forge: openMemoryForge(server, turn, {
        onFreshLook: (pull, step) => void observed.freshLooks.set(`${process.name} ${pull}`, step),
        onRead: (step) => {
          const job = current.getStore()
          if (job !== undefined) job.readAt = Math.min(job.readAt ?? step, step)
        },
        lag,
        clock: scheduler.clockOf(process),
      }),
      merging: openMemoryMerging(server, turn, {
        onMerging: (permit) =>
          record(process, permit, 'merge', permit.landing.commit, server.mustTip(permit.landing.baseRef)),
      }),
      repository: openMemoryRepository(server, mirror, turn, {
        onLanding: (permit, commit, on) => record(process, permit, 'push', commit, on),
      }),
      registries: {
        forOneLook: () =>
          ((question) => askRegistry(turn, question.kind, question.reference)) as AskRegistries,
        lookAgain: (reference) => askRegistry(turn, 'image', reference) as Promise<ImageAnswer>,
        close: () => Promise.resolve(),
      },
    })
    restarts.delete(at)
  }

  function record(
    process: Process,
    permit: MergePermit,
    by: 'push' | 'merge',
    commit: CommitSha,
    on: CommitSha,
  ): void {
    const { pull } = permit.landing
    const landing = { process, pull, permit, by, commit, on, step: scheduler.step, at: scheduler.now }
    observed.landings.push(landing)
    say(`   LANDS #${pull} as ${commit.slice(0, 7)} by ${by}`)
    for (const violation of judgeLanding(observed, landing)) violate(violation)
  }

  function lag(): number {
    const stale = pending.find(({ fault }) => fault.fault === 'stale')
    if (stale?.fault.fault !== 'stale') return 0
    stale.times -= 1
    if (stale.times <= 0) pending.splice(pending.indexOf(stale), 1)
    return stale.fault.steps
  }

  function injure(call: Call): Injury | 'crash' | undefined {
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
      say(`   FAULT ${JSON.stringify(fault)}`)
      if (fault.fault === 'crash') {
        const at = instances.findIndex((instance) => instance?.process === call.process)
        restarts.set(at, scheduler.now + restart)
        return 'crash'
      }
      call.onInjury?.()
      if (fault.fault === 'limited') return { when: 'before', error: () => limited(fault.seconds) }
      if (fault.fault === 'fails') return { when: fault.when, error: () => failure(to) }
    }
    return undefined
  }

  /** Lets everything happen that is due before the next choice. */
  function before(step: number): void {
    while (events[0] !== undefined && events[0].at <= step) takeNext()
    if (events.length > 0 && isIdle()) {
      takeNext()
      // Where nobody tells the bot, it looks by itself.
      if (!plan.webhooks) nextSweep = scheduler.now
    }
    for (const [at, when] of restarts) if (when <= scheduler.now) boot(at)
    recoverJobs()
    if (scheduler.now >= nextSweep) {
      nextSweep = scheduler.now + (isHealed ? rareSweep : simulatedSettings.sweepSeconds * 1000)
      putJob(tables, { kind: 'sweep', installation, repository: server.name }, scheduler.now)
    }
    if (!plan.webhooks) server.deliveries.length = 0
    if (events.length === 0 && !isHealed && isIdle()) {
      isHealed = true
      idleAt = scheduler.step
      healedAt = scheduler.now
      pending.length = 0
      server.rules = { ...server.rules, locked: false }
      say('   nothing goes wrong any more')
    }
  }

  function takeNext(): void {
    const event = events.shift()
    if (event === undefined) return
    const { state } = server
    take(event)
    // A fault shows with the call that it meets.
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

  function take(event: Event): void {
    say(`   ${describe(event)}`)
    if ('do' in event) return act(server, event)
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

  function others(): readonly Choice[] {
    const alive = instances.flatMap((instance) =>
      instance?.process.isAlive === true && instance.process.pausedUntil <= scheduler.now ? [instance] : [],
    )
    const [first] = alive
    if (first === undefined) return []
    const deliveries = server.deliveries.slice(0, deliveriesAtHand).map((delivery) => ({
      label: `delivery ${delivery.event}`,
      take: () => arrive(delivery, first),
    }))
    const jobs = tables.jobs
      .filter(
        ({ state, startAfter, key }) => state === 'waiting' && startAfter <= scheduler.now && !isActive(key),
      )
      .toSorted((a, b) => a.order - b.order)
    const taking = alive.flatMap((instance) => {
      const busy = tables.jobs.filter((row) => row.by === instance.process && row.state === 'active').length
      if (busy >= places) return []
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

  function arrive(delivery: Delivery, instance: Instance): void {
    server.deliveries.splice(server.deliveries.indexOf(delivery), 1)
    const one = pending.find(
      ({ fault }) => fault.fault === 'lose-delivery' || fault.fault === 'double-delivery',
    )
    if (one !== undefined) {
      one.times -= 1
      if (one.times <= 0) pending.splice(pending.indexOf(one), 1)
      say(`   FAULT ${one.fault.fault}`)
      if (one.fault.fault === 'lose-delivery') return
      server.deliveries.push(delivery)
    }
    // GitHub hears of a failure and sends it again, some day.
    instance.receive(delivery).catch(() => undefined)
  }

  function work(row: JobRow, instance: Instance): void {
    row.state = 'active'
    row.by = instance.process
    row.runs += 1
    const { runs, job } = row
    const isOurs = () => row.state === 'active' && row.runs === runs && tables.jobs.includes(row)
    const settle = (after?: number) => {
      if (!isOurs() || !instance.process.isAlive) return
      tables.jobs.splice(tables.jobs.indexOf(row), 1)
      if (after !== undefined) putBack(row, scheduler.now + after, runs)
    }
    const work: JobAtWork = { name: nameOf(job), isInjured: false }
    void current.run(work, async () => {
      try {
        await instance.run(job)
        const { readAt, isInjured } = work
        if (job.kind === 'pull' && readAt !== undefined && !isInjured)
          observed.looks.push({ pull: job.pull, since: readAt, until: scheduler.step })
        settle()
      } catch (error) {
        // What GitHub refuses for good is the world's, too; the queue brings it again.
        if (!(error instanceof StoreError && error.retryable) && !(error instanceof ForgeError))
          observed.ownFailures.push({ job: jobKey(job), error: error as Error })
        say(`   the job ${row.key} failed: ${String(error)}`)
        settle(Math.min(300_000, 2000 * 2 ** Math.min(8, runs)))
      }
    })
  }

  function putBack({ job, key }: JobRow, startAfter: number, runs = 0): void {
    putJob(tables, job, startAfter)
    for (const row of tables.jobs) if (row.key === key && row.state === 'waiting') row.runs = runs
  }

  /** Jobs of processes that are dead, or say nothing for too long, wait again. */
  function recoverJobs(): void {
    for (const row of tables.jobs.filter(({ state }) => state === 'active')) {
      const { by } = row
      if (by === undefined) continue
      const silentSince = deaths.get(by) ?? (by.isAlive ? undefined : scheduler.now)
      if (silentSince !== undefined && !deaths.has(by)) deaths.set(by, silentSince)
      const pausedFor = by.isAlive ? by.pausedUntil - scheduler.now : 0
      const isSilent = by.isAlive
        ? pausedFor > silence
        : scheduler.now - (silentSince ?? scheduler.now) >= silence
      if (!isSilent) continue
      if (by.isAlive) observed.hadTwins = true
      tables.jobs.splice(tables.jobs.indexOf(row), 1)
      putBack(row, scheduler.now)
    }
  }

  function nextEvent(): number | undefined {
    const moments = [
      nextSweep,
      ...restarts.values(),
      ...tables.jobs
        .filter(({ state, key }) => state === 'waiting' && !isActive(key))
        .map(({ startAfter }) => startAfter),
      ...[...deaths.values()].map((at) => at + silence),
    ].filter((moment) => moment > scheduler.now)
    return moments.length === 0 ? undefined : Math.min(...moments)
  }
}

function limited(seconds: number): ForgeError {
  return new ForgeError('rate-limited', "GitHub's rate limit is reached", { retryAfter: seconds })
}

/** What the adapters make of a failure on the way. */
function failure(to: Call['to']): Error {
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

async function askRegistry(turn: Turn, question: 'image' | 'bundle' | 'install', reference: string) {
  try {
    return await turn('registry', `ask for ${question} ${reference.slice(0, 40)}`, () =>
      answerOf(question, reference),
    )
  } catch (error) {
    return { kind: 'unknown', reason: (error as Error).message, retryAfter: 10 }
  }
}

function answerOf(question: 'image' | 'bundle' | 'install', reference: string): object {
  const content = knownBundle(reference)
  if (isMissingImage(reference) || content === undefined)
    return { kind: 'missing', reason: 'the registry does not have it' }
  const digest = reference.split('@')[1] ?? ''
  if (question === 'image')
    return { kind: 'ok', digest, mediaType: 'application/vnd.oci.image.manifest.v1+json', size: 1 }
  if (question === 'install') return { kind: 'unsupported', reason: 'installing is not simulated' }
  return { kind: 'bundle', digest, format: 'registry+v1', content, findings: [] }
}

/** As a trace names a job. */
function nameOf(job: Job): string {
  return job.kind === 'pull' ? `#${job.pull}` : job.kind
}

/** False where a job or an oracle came to something that is not modelled. */
function judgeAll(observed: Observed, violate: (violation: Violation) => void): boolean {
  if (observed.ownFailures.some(({ error }) => error instanceof NotModelled)) return false
  try {
    for (const violation of judgeEnd(observed)) violate(violation)
    return true
  } catch (error) {
    if (error instanceof NotModelled) return false
    throw error
  }
}
