// What two instances use at a moment: memory, descriptors, disk, rows; and whether any of it grows without limit.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runSqlQuery } from '../../adapters/store/local-postgres.ts'
import { countOpenFileDescriptors, readResidentMemoryBytes, listProcessTree } from '../../processes.ts'
import type { BotInstance, TwoBotsEnvironment } from './two-bots.ts'

export interface InstanceResourceSample {
  readonly resident: number
  /** The V8 heap, as the process reports it in its metrics. */
  readonly heap: number
  readonly descriptors: number
  /** The total of its child processes. */
  readonly children: number
  readonly childrenResident: number
  readonly childrenDescriptors: number
  /** Bytes of files in its data directory. */
  readonly disk: number
}

export interface SoakSample {
  readonly seconds: number
  /** Pull requests that were opened until then. */
  readonly pulls: number
  readonly instances: readonly InstanceResourceSample[]
  /** Bytes. */
  readonly database: number
  readonly rows: Readonly<Record<string, number>>
}

export async function takeSoakSample(
  bots: TwoBotsEnvironment,
  seconds: number,
  pulls: number,
): Promise<SoakSample> {
  const [size] = await runSqlQuery(
    bots.database,
    'SELECT pg_database_size(current_database())::float8 AS bytes',
  )
  return {
    seconds,
    pulls,
    instances: await Promise.all(bots.instances.map(sampleInstanceResources)),
    database: Number(size?.['bytes']),
    rows: await countDatabaseRows(bots.database),
  }
}

async function sampleInstanceResources({
  running,
  dataDirectory,
}: BotInstance): Promise<InstanceResourceSample> {
  if (running?.process.pid === undefined) throw new Error('an instance is gone')
  const [main = 0, ...children] = listProcessTree(running.process.pid)
  const metrics = await (await fetch(`${running.url}/metrics`)).text()
  const sum = (of: (id: number) => number) => children.reduce((all, id) => all + of(id), 0)
  return {
    resident: readResidentMemoryBytes(main),
    heap: Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1] ?? NaN),
    descriptors: countOpenFileDescriptors(main),
    children: children.length,
    childrenResident: sum(readResidentMemoryBytes),
    childrenDescriptors: sum(countOpenFileDescriptors),
    disk: await measureDirectoryBytes(dataDirectory),
  }
}

async function measureDirectoryBytes(directory: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true }))
    // A file may be removed during the walk.
    if (entry.isFile())
      bytes += await stat(join(entry.parentPath, entry.name)).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      )
  return bytes
}

async function countDatabaseRows(database: string): Promise<Readonly<Record<string, number>>> {
  const tables = await runSqlQuery(
    database,
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema = 'catalog_bot' OR (table_schema, table_name) = ('catalog_bot_jobs', 'job_common') ORDER BY 1`,
  )
  const names = tables.map(({ name }) => String(name))
  const [row] = await runSqlQuery(
    database,
    `SELECT ${names.map((name) => `(SELECT count(*)::float8 FROM ${name}) AS "${name}"`).join(', ')}`,
  )
  return Object.fromEntries(names.map((name) => [name.replace(/^catalog_bot\./, ''), Number(row?.[name])]))
}

/** When growth is a leak: from the median of the second third of a soak to the median of the last third. */
export const resourceLeakThresholds = {
  /** Resident memory and heap of the process itself, and of its children. */
  memoryShare: 0.15,
  memoryBytes: 24 * 1024 * 1024,
  descriptors: 6,
} as const

export interface ResourceGrowthTrend {
  readonly name: string
  readonly before: number
  readonly after: number
  readonly perHour: number
  readonly isWithin: boolean
}

const sampledResourceNames = [
  'resident',
  'heap',
  'descriptors',
  'childrenResident',
  'childrenDescriptors',
] as const

/** The mean for children: their number follows the work, up to the size of the pools, and they stay warm. */
function getSampledResource(
  seat: InstanceResourceSample | undefined,
  what: (typeof sampledResourceNames)[number],
): number {
  if (seat === undefined) return NaN
  return what.startsWith('children') ? seat[what] / Math.max(1, seat.children) : seat[what]
}

/** The first third is warm-up: caches fill, code is compiled, and readers start. */
export function computeGrowthTrends(samples: readonly SoakSample[]): readonly ResourceGrowthTrend[] {
  const warm = samples.slice(Math.floor(samples.length / 3))
  const half = Math.floor(warm.length / 2)
  const seats = warm[0]?.instances.length ?? 0
  return Array.from({ length: seats }, (_, seat) =>
    sampledResourceNames.map((what) => {
      const series = warm.map((sample) => ({
        at: sample.seconds,
        value: getSampledResource(sample.instances[seat], what),
      }))
      const before = computeMedian(series.slice(0, half).map(({ value }) => value))
      const after = computeMedian(series.slice(half).map(({ value }) => value))
      const maxAfter = /escriptors/.test(what)
        ? before + resourceLeakThresholds.descriptors
        : before * (1 + resourceLeakThresholds.memoryShare) + resourceLeakThresholds.memoryBytes
      return {
        name: `${seat + 1}. ${what.startsWith('children') ? `${what}, each` : what}`,
        before,
        after,
        perHour: computeSlope(series) * 3600,
        isWithin: after <= maxAfter,
      }
    }),
  ).flat()
}

function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

/** Slope of the least-squares line, per second. */
function computeSlope(series: readonly { readonly at: number; readonly value: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const at = mean(series.map((one) => one.at))
  const value = mean(series.map((one) => one.value))
  const spread = series.reduce((sum, one) => sum + (one.at - at) ** 2, 0)
  return series.reduce((sum, one) => sum + (one.at - at) * (one.value - value), 0) / (spread || 1)
}
