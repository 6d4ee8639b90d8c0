// Metrics of the store on scrape, at most every few seconds. Without an answer, others still work.
import { Gauge, type Registry } from 'prom-client'
import { toRepositoryKey } from '../pull-request/snapshot.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobQueueStatistics } from '../ports/jobs.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { StatusPageStore } from '../ports/status-page-store.ts'
import { findActiveFreezes } from '../policy/merge-freeze.ts'
import { doesPromiseSettleWithin } from '../adapters/system-clock.ts'
import { jobKinds } from './jobs/run-job.ts'
import { readFile, readdir } from 'node:fs/promises'

/** Milliseconds for which values are reused. */
const storeGaugeCacheTtlMs = 5_000
/** Milliseconds for the store; Prometheus gives up after ten seconds. */
const storeMetricsTimeoutMs = 2_000
const verdictKinds = ['merge', 'wait', 'blocked', 'unknown'] as const
const freezeKinds = ['frozen', 'audit', 'refused'] as const

type MetricsStore = JobQueueStatistics & MergeFreezeStore & Pick<StatusPageStore, 'countOpenPulls'>

/** Returns a function that updates the gauges. */
export function createStoreMetrics(
  registry: Registry,
  store: MetricsStore,
  clock: Clock,
): () => Promise<void> {
  const gauges = createStoreGauges(registry)
  const { failed } = gauges
  failed.set(0)
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  return async () => {
    if (clock.now() - readAt < storeGaugeCacheTtlMs) return
    reading ??= updateStoreGauges(gauges, store, clock)
      .then(() => {
        failed.set(0)
        readAt = clock.now()
      })
      .catch(() => failed.set(1))
      .finally(() => {
        reading = undefined
      })
    if (!(await doesPromiseSettleWithin(reading, storeMetricsTimeoutMs, clock))) failed.set(1)
  }
}

function createStoreGauges(registry: Registry) {
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers })
  const waiting = gauge('catalog_bot_queue_jobs', 'Jobs that are running or ready to run', ['kind', 'state'])
  const oldest = gauge(
    'catalog_bot_queue_oldest_seconds',
    'How long the oldest job that is ready to run has been waiting',
    ['kind'],
  )
  const open = gauge('catalog_bot_open_pulls', 'Open pull requests by latest verdict', [
    'repository',
    'verdict',
  ])
  const stopped = gauge('catalog_bot_stopped_branches', 'Active merge freezes by kind', [
    'repository',
    'kind',
  ])
  const failed = gauge(
    'catalog_bot_store_unread',
    '1 if the store does not respond, in which case the other store metrics are out of date',
    [],
  )
  return { waiting, oldest, open, stopped, failed }
}

async function updateStoreGauges(
  { waiting, oldest, open, stopped }: ReturnType<typeof createStoreGauges>,
  store: MetricsStore,
  clock: Clock,
): Promise<void> {
  const [jobs, pulls, stops] = await Promise.all([
    store.waitingJobs(),
    store.countOpenPulls(),
    store.listFreezes(),
  ])
  // Export zeros too, for alerts that compare.
  for (const kind of jobKinds) {
    const found = jobs.find((one) => one.kind === kind)
    waiting.set({ kind, state: 'waiting' }, found?.waiting ?? 0)
    waiting.set({ kind, state: 'running' }, found?.running ?? 0)
    oldest.set({ kind }, found?.oldestSeconds ?? 0)
  }
  open.reset()
  for (const repository of new Set(pulls.map((one) => one.repository)))
    for (const verdict of verdictKinds)
      open.set(
        { repository, verdict },
        pulls.find((one) => one.repository === repository && one.verdict === verdict)?.pulls ?? 0,
      )
  stopped.reset()
  const named = Map.groupBy(stops, (stop) => toRepositoryKey(stop.repository))
  for (const [repository, its] of named)
    for (const kind of freezeKinds) {
      const freezes = its.filter((stop) => stop.kind === kind)
      const inForce = freezes.filter(
        (stop) => findActiveFreezes([stop], stop.branch ?? '', clock.now()).length > 0,
      )
      stopped.set({ repository, kind }, inForce.length)
    }
}

/**
 * Bytes of memory that this process and all processes below it use. A page that several processes share is divided among them
 * (Linux: `Pss`). Undefined on other systems.
 */
export async function readProcessTreeMemory(pid = process.pid): Promise<number | undefined> {
  const own = await readProportionalSetSize(pid)
  if (own === undefined) return undefined
  const children = await listChildProcesses(pid)
  const sizes = await Promise.all(children.map(readProcessTreeMemory))
  return sizes.reduce<number>((sum, bytes = 0) => sum + bytes, own)
}

async function readProportionalSetSize(pid: number): Promise<number | undefined> {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    // The process has ended, or the system has no such file.
    return undefined
  }
}

/** A child belongs to the thread that started it. */
async function listChildProcesses(pid: number): Promise<readonly number[]> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const lists = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
    )
    return lists.flatMap((list) => list.split(' ').flatMap((id) => (id === '' ? [] : [Number(id)])))
  } catch {
    return []
  }
}
