// The in-memory store ports, with the same answers as the tables behind the real ones. Each database transaction is
// one atomic turn. Timestamps come from the database clock, which is the simulated clock.
import type { PullNumber, UserId } from '../../src/pull-request/ids.ts'
import type { RepositoryName } from '../../src/pull-request/snapshot.ts'
import type { ReportedPullHead } from '../../src/policy/commands.ts'
import type { CommandRecord } from '../../src/policy/command-records.ts'
import type { MergeFreeze, FreezeAuthor, FreezeEvent, FreezeRequest } from '../../src/policy/merge-freeze.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { MergeIntent, RejectedPullRecord } from '../../src/ports/merge-records.ts'
import type { ObservedPullState, RecordedHeadPush } from '../../src/ports/pull-history.ts'
import type { Store, ReadyPull } from '../../src/ports/store.ts'
import type { ApprovalCoverage } from '../../src/checks/ownership/approvals.ts'
import { toJobKey } from '../../src/adapters/store/jobs.ts'
import type { SimulatedProcess } from '../scheduler.ts'
import { noopStatusPageStore } from './noop-page-records.ts'
import type { VerdictRecord } from '../../src/ports/status-page-store.ts'
import { StoreError, toStorableText } from '../../src/adapters/store/database.ts'

export type MergeIntentOutcome = 'landed' | 'abandoned' | 'mismatch'

export interface StoredMergeIntent {
  readonly intent: MergeIntent
  readonly lease: string
  outcome?: MergeIntentOutcome
}

export interface JobRow {
  readonly key: string
  job: Job
  startAfter: number
  state: 'waiting' | 'active'
  /** The process that works on the job, and the number of times it was taken. */
  by?: SimulatedProcess
  runs: number
  order: number
}

interface LeaseRow {
  fence: number
  expiresAt: number | undefined
}

/** All rows. All instances share them, and they outlive the instances. */
export class InMemoryStoreTables {
  readonly deliveries = new Set<string>()
  readonly jobs: JobRow[] = []
  readonly leases = new Map<string, LeaseRow>()
  readonly intents: StoredMergeIntent[] = []
  readonly stops: MergeFreeze[] = []
  readonly stopEvents: (FreezeEvent & { readonly comment?: number })[] = []
  readonly parked = new Map<string, RejectedPullRecord>()
  readonly ready = new Map<string, ReadyPull>()
  readonly epochs = new Map<string, ObservedPullState[]>()
  readonly shown = new Map<string, ReportedPullHead[]>()
  readonly commands = new Map<string, { readonly record: CommandRecord; readonly at: number }[]>()
  readonly reviews = new Map<string, Map<number, number>>()
  readonly approvals = new Map<string, Map<number, string>>()
  readonly changes = new Map<string, Map<string, ApprovalCoverage>>()
  readonly accounts = new Map<string, Map<string, UserId>>()
  readonly pushes: RecordedHeadPush[] = []
  readonly verdicts = new Map<string, VerdictRecord>()
  readonly state = new Map<string, { readonly version: number; readonly value: string }>()
  readonly cache = new Map<string, { readonly value: string; readonly until: number }>()
  orders = 0
}

const toRepositoryKey = ({ owner, name }: RepositoryName) => `${owner}/${name}`.toLowerCase()
const toPullKey = (repository: RepositoryName, pull: PullNumber) => `${toRepositoryKey(repository)}#${pull}`
const toVerdictKey = (
  repository: RepositoryName,
  pull: PullNumber,
  of: Pick<VerdictRecord, 'head' | 'base' | 'config'>,
) => `${toPullKey(repository, pull)} ${of.head} ${of.base} ${of.config}`
const deepClone = <T>(value: T): T => structuredClone(value)
const allBranchesKey = ''

/** An atomic turn at the store. */
export type StoreCallScheduler = <T>(label: string, act: () => T) => Promise<T>

/** The number of silent milliseconds after which the process that works on a job counts as dead. */
export const workerHeartbeatTimeoutMs = 15_000

export interface InMemoryStoreOptions {
  readonly tables: InMemoryStoreTables
  readonly now: () => number
  readonly turn: StoreCallScheduler
}

export function enqueueJob(tables: InMemoryStoreTables, job: Job, startAfter: number): void {
  const key = toJobKey(job)
  const waiting = tables.jobs.find((row) => row.key === key && row.state === 'waiting')
  if (waiting !== undefined) {
    waiting.job = job
    waiting.startAfter = Math.min(waiting.startAfter, startAfter)
    return
  }
  tables.jobs.push({ key, job, startAfter, state: 'waiting', runs: 0, order: (tables.orders += 1) })
}

export function createInMemoryStore({ tables, now, turn }: InMemoryStoreOptions): Store {
  const listAt = <K, V>(map: Map<K, V[]>, key: K): V[] => {
    const list = map.get(key) ?? []
    map.set(key, list)
    return list
  }
  const isIn = (row: { readonly repository: RepositoryName }, repository: RepositoryName) =>
    toRepositoryKey(row.repository) === toRepositoryKey(repository)
  const mapAt = <K, A, B>(map: Map<K, Map<A, B>>, key: K): Map<A, B> => {
    const inner = map.get(key) ?? new Map<A, B>()
    map.set(key, inner)
    return inner
  }
  const intents = (repository: RepositoryName) =>
    tables.intents.filter(({ intent }) => toRepositoryKey(intent.repository) === toRepositoryKey(repository))
  const mergedIntents = (repository: RepositoryName) =>
    intents(repository).filter(({ outcome }) => outcome === 'landed')
  const isValid = (lease: { name: string; fence: number }) => {
    const row = tables.leases.get(lease.name)
    return row?.fence === lease.fence && row.expiresAt !== undefined && row.expiresAt > now()
  }
  const isRepeated = (repository: RepositoryName, by: FreezeAuthor) =>
    by.kind === 'person' &&
    tables.stopEvents.some(
      (event) =>
        toRepositoryKey(event.repository) === toRepositoryKey(repository) && event.comment === by.comment,
    )
  const recordFreezeEvent = (
    {
      repository,
      branch,
      kind,
      reason,
      by,
    }: Pick<MergeFreeze, 'repository' | 'branch' | 'kind' | 'reason' | 'by'>,
    step: FreezeEvent['step'],
  ) =>
    tables.stopEvents.push({
      repository,
      ...(branch !== undefined && { branch }),
      step,
      kind,
      reason,
      by,
      at: now(),
      ...(by.kind === 'person' && { comment: by.comment }),
    })

  /** Since the last freeze of this kind ended. */
  const listFreezeRequests = ({ repository, branch, kind }: FreezeRequest) => {
    const events = tables.stopEvents.filter(
      (event) => isIn(event, repository) && event.branch === branch && event.kind === kind,
    )
    return events.slice(events.findLastIndex(({ step }) => step === 'resumed') + 1)
  }

  return {
    accept: ({ guid }, jobs, push) =>
      turn(`accept ${guid}`, () => {
        if (tables.deliveries.has(guid)) return 'duplicate'
        tables.deliveries.add(guid)
        if (push && !tables.pushes.some((seen) => areHeadPushesEqual(seen, push))) tables.pushes.push(push)
        for (const job of jobs) enqueueJob(tables, job, now())
        return 'new'
      }),
    enqueue: (job, afterSeconds = 0) =>
      turn(`enqueue ${toJobKey(job)} after ${afterSeconds} s`, () =>
        enqueueJob(tables, job, now() + afterSeconds * 1000),
      ),
    work: () => Promise.reject(new Error('the simulator takes jobs itself')),

    acquireLease: (name, seconds) =>
      turn(`acquire ${name}`, () => {
        const row = tables.leases.get(name)
        if (row?.expiresAt !== undefined && row.expiresAt > now()) return undefined
        const fence = (row?.fence ?? 0) + 1
        tables.leases.set(name, { fence, expiresAt: now() + seconds * 1000 })
        return { name, fence }
      }),
    renewLease: ({ name, fence }, seconds) =>
      turn(`renew ${name}`, () => {
        const row = tables.leases.get(name)
        if (row?.fence !== fence || row.expiresAt === undefined) return false
        row.expiresAt = now() + seconds * 1000
        return true
      }),
    releaseLease: ({ name, fence }) =>
      turn(`release ${name}`, () => {
        const row = tables.leases.get(name)
        if (row?.fence === fence) row.expiresAt = undefined
      }),

    startMerge: (lease, merge) =>
      turn(`begin merging #${merge.pull}`, () => {
        if (!isValid(lease)) return undefined
        const intent = { ...deepClone(merge), id: tables.intents.length + 1, fence: lease.fence }
        tables.intents.push({ intent, lease: lease.name })
        return deepClone(intent)
      }),
    finishMerge: ({ id, pull, commit }, outcome, as = commit) =>
      turn(`end merging #${pull} as ${outcome}`, () => {
        const row = tables.intents[id - 1]
        if (row?.outcome === outcome) return false
        // A push that was abandoned may have arrived after all.
        const isLate = row?.outcome === 'abandoned' && outcome === 'landed'
        if (row === undefined || (row.outcome !== undefined && !isLate))
          throw new StoreError('already-settled', `intent ${id} is ${row?.outcome ?? 'unknown'}`)
        const { intent } = row
        const before =
          outcome === 'landed' &&
          mergedIntents(intent.repository).find((it) => it.intent.pull === intent.pull)
        if (before && before.intent.commit !== as)
          throw new StoreError('already-landed', `pull request ${intent.pull} was already merged`)
        const ends = before ? 'abandoned' : outcome
        if (row.outcome === ends) return false
        tables.intents[id - 1] = { ...row, intent: { ...intent, commit: as }, outcome: ends }
        return ends === outcome
      }),
    listPendingMerges: (repository) =>
      turn('read open merges', () =>
        intents(repository)
          .filter(({ outcome }) => outcome === undefined)
          .map(({ intent }) => deepClone(intent)),
      ),
    listAbandonedMerges: (repository, pull) =>
      turn(`read what was given up of #${pull}`, () =>
        intents(repository)
          .filter(({ intent, outcome }) => intent.pull === pull && outcome === 'abandoned')
          .toReversed()
          .map(({ intent }) => deepClone(intent)),
      ),
    findMerge: (repository, pull) =>
      turn(`read the merge of #${pull}`, () =>
        deepClone(mergedIntents(repository).find(({ intent }) => intent.pull === pull)?.intent),
      ),
    findPullsOfCommits: (repository, commits, isPending = false) =>
      turn('read merged pull requests', () => {
        const pushed = intents(repository).filter(
          ({ outcome = isPending && 'landed' }) => outcome === 'landed',
        )
        const own = new Map(pushed.map(({ intent }) => [intent.commit, intent.pull]))
        return new Map(
          commits.flatMap((commit) => {
            const pull = own.get(commit)
            return pull === undefined ? [] : [[commit, pull] as const]
          }),
        )
      }),

    putReady: (snapshot) =>
      turn(`put #${snapshot.pull} among the ready`, () => {
        const key = toPullKey(snapshot.repository, snapshot.pull)
        const before = tables.ready.get(key)
        const isThere = before?.snapshot.baseRef === snapshot.baseRef
        tables.ready.set(key, {
          pull: snapshot.pull,
          snapshot: deepClone(snapshot),
          readyAt: isThere ? before.readyAt : now(),
        })
      }),
    readyPulls: (repository, branch) =>
      turn('read who is ready', () =>
        [...tables.ready.values()]
          .filter(({ snapshot }) => isIn(snapshot, repository) && snapshot.baseRef === branch)
          .toSorted((a, b) => a.readyAt - b.readyAt || a.pull - b.pull)
          .map(deepClone),
      ),
    dropReady: (repository, pulls) =>
      turn(`drop ${pulls.join(', ')} from the ready`, () => {
        for (const pull of pulls) tables.ready.delete(toPullKey(repository, pull))
      }),

    freezeMerges: (order) =>
      turn(`stop merging: ${order.kind}`, () => {
        const { repository, branch, kind, by } = order
        if (isRepeated(repository, by)) return undefined
        const branchKey = branch ?? allBranchesKey
        const isTakenBack =
          by.kind === 'person' &&
          tables.stopEvents.some(
            (event) =>
              isIn(event, repository) &&
              (event.branch ?? allBranchesKey) === branchKey &&
              event.step === 'resumed' &&
              event.kind === 'frozen' &&
              (event.comment ?? 0) > by.comment,
          )
        if (isTakenBack) return undefined
        const at = tables.stops.findIndex(
          (stop) =>
            isIn(stop, repository) && (stop.branch ?? allBranchesKey) === branchKey && stop.kind === kind,
        )
        const before = tables.stops[at]
        // A repeated rejection by GitHub is counted, not reported again. Another failed merge verification is.
        const isReported =
          kind !== 'audit' || listFreezeRequests(order).some(({ reason }) => reason === order.reason)
        if (before === undefined || by.kind !== 'bot' || !isReported) recordFreezeEvent(order, 'stopped')
        if (before === undefined) {
          const made: MergeFreeze = { ...deepClone(order), since: now(), times: 1 }
          tables.stops.push(made)
          return deepClone(made)
        }
        const { since } = before
        const times = before.times + 1
        tables.stops[at] = kind === 'refused' ? { ...deepClone(order), since, times } : { ...before, times }
        return deepClone(tables.stops[at])
      }),
    unfreezeMerges: ({ branch, kinds, by, reason, requestedAt = Infinity, repository }) =>
      turn(`resume merging: ${kinds.join(', ')}`, () => {
        if (isRepeated(repository, by)) return []
        const ended = tables.stops.filter((stop) => {
          if (!isIn(stop, repository)) return false
          if (branch !== undefined && (stop.branch ?? allBranchesKey) !== branch) return false
          if (!kinds.includes(stop.kind)) return false
          const repeated = listFreezeRequests(stop)
          return [stop, ...repeated.map((event) => ({ by: event.by, since: event.at }))].every((request) =>
            by.kind === 'person' && request.by.kind === 'person'
              ? request.by.comment < by.comment
              : request.since <= requestedAt,
          )
        })
        for (const stop of ended) {
          tables.stops.splice(tables.stops.indexOf(stop), 1)
          recordFreezeEvent({ ...stop, reason, by }, 'resumed')
        }
        return deepClone(ended)
      }),
    allowMergeAttempt: ({ repository, branch }) =>
      turn('retry merging', () => {
        for (const [at, stop] of tables.stops.entries())
          if (isIn(stop, repository) && stop.branch === branch && stop.kind === 'refused')
            tables.stops[at] = { ...stop, tryAgainAt: 0 }
      }),
    listFreezes: (repository) =>
      turn('read stops', () =>
        deepClone(tables.stops.filter((stop) => repository === undefined || isIn(stop, repository))),
      ),
    listFreezeEvents: (repository, limit) =>
      turn('read events', () =>
        tables.stopEvents
          .filter((event) => isIn(event, repository))
          .toReversed()
          .slice(0, limit)
          .map(({ comment: _, ...event }) => deepClone(event)),
      ),
    parkPull: (repository, parked) =>
      turn(`park #${parked.pull}`, () => {
        const storable = { ...parked, reason: toStorableText(parked.reason) }
        tables.parked.set(toPullKey(repository, parked.pull), storable)
      }),
    parkedPull: (repository, pull) =>
      turn(`read whether #${pull} is parked`, () => tables.parked.get(toPullKey(repository, pull))),
    parkedPulls: (repository) =>
      turn('read parked pulls', () =>
        [...tables.parked]
          .filter(([key]) => key.startsWith(`${toRepositoryKey(repository)}#`))
          .map(([, { pull }]) => pull)
          .toSorted((a, b) => a - b),
      ),
    unparkPull: (repository, pull) =>
      turn(`release #${pull}`, () => void tables.parked.delete(toPullKey(repository, pull))),

    observe: (repository, pull, state) =>
      turn(`observe #${pull}`, () => {
        const epochs = listAt(tables.epochs, toPullKey(repository, pull))
        const last = epochs.at(-1)
        const isSame =
          last?.head === state.head && last.baseRef === state.baseRef && last.config === state.config
        if (!isSame) epochs.push(deepClone(state))
        return epochs.length - 1
      }),
    recordShown: (repository, pull, shown) =>
      turn(`record what was shown on #${pull}`, () => {
        const all = listAt(tables.shown, toPullKey(repository, pull))
        const last = all.at(-1)
        if (last?.epoch === shown.epoch && last.head === shown.head && last.change === shown.change) return
        all.push(deepClone(shown))
      }),
    shownHeads: (repository, pull) =>
      turn(`read what was shown on #${pull}`, () =>
        deepClone(listAt(tables.shown, toPullKey(repository, pull))),
      ),
    recordCommand: (repository, pull, record) =>
      turn(`record command ${record.command} by ${record.login} on #${pull}: ${record.outcome}`, () => {
        const all = listAt(tables.commands, toPullKey(repository, pull))
        const ofAll = [...tables.commands].flatMap(([key, some]) =>
          key.startsWith(`${toRepositoryKey(repository)}#`) ? some : [],
        )
        if (ofAll.some((each) => each.record.comment === record.comment)) return 'duplicate'
        all.push({ record: deepClone(record), at: now() })
        all.sort((a, b) => a.record.comment - b.record.comment)
        return 'new'
      }),
    commands: (repository, pull) =>
      turn(`read the commands of #${pull}`, () =>
        listAt(tables.commands, toPullKey(repository, pull)).map(({ record }) => deepClone(record)),
      ),
    firstSeenReviews: (repository, pull, epoch, reviews) =>
      turn(`read when reviews of #${pull} were first evaluated`, () => {
        const seen = mapAt(tables.reviews, toPullKey(repository, pull))
        for (const review of reviews) if (!seen.has(review)) seen.set(review, epoch)
        return new Map([...seen].filter(([review]) => reviews.includes(review)))
      }),
    recordChange: (repository, pull, { id, covers }) =>
      turn(`keep what #${pull} does`, () => {
        const retained = mapAt(tables.changes, toPullKey(repository, pull))
        if (!retained.has(id)) retained.set(id, deepClone(covers))
      }),
    readChanges: (repository, pull, ids) =>
      turn(`read what #${pull} did`, () => {
        const retained = mapAt(tables.changes, toPullKey(repository, pull))
        return new Map([...retained].filter(([id]) => ids.includes(id)))
      }),
    firstSeenApprovals: (repository, pull, approvals) =>
      turn(`read what approvals of #${pull} were for`, () => {
        const seen = mapAt(tables.approvals, toPullKey(repository, pull))
        for (const [review, change] of approvals) if (!seen.has(review)) seen.set(review, change)
        return new Map(seen)
      }),
    firstSeenAccounts: (repository, accounts) =>
      turn('read accounts', () => {
        const seen = mapAt(tables.accounts, toRepositoryKey(repository))
        for (const [login, id] of accounts)
          if (!seen.has(login.toLowerCase())) seen.set(login.toLowerCase(), id)
        return new Map(seen)
      }),
    listPushers: (repository, pull, head) =>
      turn(`read who pushed #${pull}`, () =>
        tables.pushes
          .filter((push) => isIn(push, repository) && push.pull === pull && push.head === head)
          .map(({ pusher }) => pusher),
      ),
    hasSeenPushes: (repository, pull) =>
      turn(`read whether pushes of #${pull} are recorded`, () =>
        tables.pushes.some((push) => isIn(push, repository) && push.pull === pull),
      ),
    recentCommands: (repository) =>
      turn('count commands', () => {
        const counts = new Map<number, number>()
        for (const [key, all] of tables.commands)
          if (key.startsWith(`${toRepositoryKey(repository)}#`))
            for (const { record, at } of all)
              if (at > now() - 3600_000) counts.set(record.user, (counts.get(record.user) ?? 0) + 1)
        return counts
      }),

    recordVerdict: (record) =>
      turn(`record the verdict ${record.verdict} on #${record.pull}`, () => {
        const report = JSON.parse(JSON.stringify(record.report ?? null)) as unknown
        tables.verdicts.set(toVerdictKey(record.repository, record.pull, record), { ...record, report })
      }),
    // Only status pages read the newest.
    verdictReport: (repository, pull, of) =>
      turn(`read a verdict on #${pull}`, () => of && tables.verdicts.get(toVerdictKey(repository, pull, of))),

    readState: (space, repository, key) =>
      turn(`read state "${space.name}"`, () => {
        const row = tables.state.get(`${space.name}\n${toRepositoryKey(repository)}\n${key}`)
        if (row === undefined) return undefined
        const value = space.read(JSON.parse(row.value), row.version)
        if (value === undefined) throw new StoreError('unreadable', `the state "${space.name}" is invalid`)
        return value
      }),
    writeState: (space, repository, values) =>
      turn(`write state "${space.name}"`, () => {
        for (const [key, value] of values)
          tables.state.set(`${space.name}\n${toRepositoryKey(repository)}\n${key}`, {
            version: space.version,
            value: JSON.stringify(value),
          })
      }),
    retainState: (space, repository, keys) =>
      turn(`retain state "${space.name}"`, () => {
        const prefix = `${space.name}\n${toRepositoryKey(repository)}\n`
        for (const key of tables.state.keys())
          if (key.startsWith(prefix) && !keys.includes(key.slice(prefix.length))) tables.state.delete(key)
      }),
    getCached: (space, keys) =>
      turn(`look up "${space.name}"`, () => {
        const values = new Map<string, never>()
        for (const key of keys) {
          const row = tables.cache.get(`${space.name}\n${key}`)
          const value = row !== undefined && row.until > now() ? space.read(JSON.parse(row.value)) : undefined
          if (value !== undefined) values.set(key, value as never)
        }
        return values
      }),
    putCached: (space, values, seconds) =>
      turn(`remember "${space.name}"`, () => {
        for (const [key, value] of values)
          tables.cache.set(`${space.name}\n${key}`, {
            value: JSON.stringify(value),
            until: now() + seconds * 1000,
          })
      }),
    ...noopStatusPageStore,
    waitingJobs: () => Promise.resolve([]),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

function areHeadPushesEqual(a: RecordedHeadPush, b: RecordedHeadPush): boolean {
  return (
    toRepositoryKey(a.repository) === toRepositoryKey(b.repository) &&
    a.pull === b.pull &&
    a.head === b.head &&
    a.pusher.id === b.pusher.id
  )
}
