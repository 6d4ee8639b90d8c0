// Runs one process from start to end, and measures its elapsed time, the processor time of all its threads, and its
// peak memory.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ProcessMeasurement {
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakMB: number
  readonly status: number | null
  /** Its standard output, up to a limit. */
  readonly output: string
}

const gnuTimeCommandPath = '/usr/bin/time'

/** A process that prints more is stopped. */
const maxProcessOutputBytes = 256 * 1024 * 1024

/** Runs a command to completion. Throws if it cannot be started or measured. */
export function measureProcess(
  command: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): ProcessMeasurement {
  if (!existsSync(gnuTimeCommandPath))
    throw new Error(`${gnuTimeCommandPath} (GNU time) measures processes here; install the package "time"`)
  const folder = mkdtempSync(join(tmpdir(), 'measure-'))
  try {
    const report = join(folder, 'report')
    const started = process.hrtime.bigint()
    const run = spawnSync(gnuTimeCommandPath, ['-q', '-o', report, '-f', '%U %S %M', ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment,
      maxBuffer: maxProcessOutputBytes,
      encoding: 'utf8',
    })
    const wallMs = Number(process.hrtime.bigint() - started) / 1e6
    const [user = NaN, system = NaN, peak = NaN] = readFileSync(report, 'utf8').trim().split(' ').map(Number)
    if (run.error) throw run.error
    return {
      wallMs,
      cpuMs: (user + system) * 1000,
      peakMB: peak / 1024,
      status: run.status,
      output: run.stdout,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** The median of each number over several runs. */
export function measureProcessMedian(
  runs: number,
  run: (index: number) => ProcessMeasurement,
): ProcessMeasurement {
  const all = Array.from({ length: runs }, (_, index) => run(index))
  const status = all.find((one) => one.status !== 0)?.status ?? 0
  return {
    wallMs: computeMedian(all.map((one) => one.wallMs)),
    cpuMs: computeMedian(all.map((one) => one.cpuMs)),
    peakMB: computeMedian(all.map((one) => one.peakMB)),
    status,
    output: all[0]?.output ?? '',
  }
}

export function computeMedian(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}
