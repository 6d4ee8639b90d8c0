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

/** Bash reports milliseconds of processor time, but GNU time only hundredths of a second. */
const timedCommandScript = `TIMEFORMAT='%3U %3S'
{ time ${gnuTimeCommandPath} -q -o "$0" -f %M "$@" 2>&3; } 3>&2 2>"$0.times"
status=$?; cat "$0.times" >>"$0"; exit $status`

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
    const run = spawnSync('bash', ['-c', timedCommandScript, report, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment,
      maxBuffer: maxProcessOutputBytes,
      encoding: 'utf8',
    })
    const wallMs = Number(process.hrtime.bigint() - started) / 1e6
    const [peak = NaN, user = NaN, system = NaN] = readFileSync(report, 'utf8')
      .trim()
      .split(/\s+/)
      .map(Number)
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
