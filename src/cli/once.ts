// `once`: sweeps a repository once. The token is no argument, and is not passed to child processes.
import pino from 'pino'
import { sweepOnce, type SweepOnceResult, type SweepOncePullResult } from '../server/sweep-once/sweep-once.ts'
import type { Job } from '../ports/jobs.ts'
import { readSettings } from '../jobs/settings.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { setExitCode, printToStdout, printJson, printToStderr, withProgress } from './output.ts'
import { parseRepository } from './options.ts'

interface OnceCommandOptions {
  readonly repository: string
  readonly data?: string
  readonly tokenVariable: string
  readonly output: 'text' | 'json'
}

export async function runSweepOnceCommand(options: OnceCommandOptions): Promise<void> {
  const repository = parseRepository(options.repository)
  const token = takeTokenFromEnvironment(options.tokenVariable)
  const environment = { ...process.env }
  const settings = readSettings({
    LOG_LEVEL: 'warn',
    // Of GitHub Enterprise Server in workflows. GITHUB_API_URL already has the name that settings use.
    GITHUB_URL: environment['GITHUB_SERVER_URL'],
    ...environment,
    // The command uses only its token, not the App's credentials.
    APP_ID: undefined,
    PRIVATE_KEY: undefined,
    PRIVATE_KEY_PATH: undefined,
  })
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop)
  const swept = await withProgress(`Sweeping ${options.repository}`, (report) =>
    sweepOnce({
      repository,
      token,
      settings,
      folder: options.data,
      environment,
      log: pino({ level: settings.logLevel }, process.stderr),
      signal: stopping.signal,
      onJob: (job) => report(`Sweeping ${options.repository}: ${formatJobName(job)}`),
    }),
  )
  if (options.output === 'json') printJson(toSweepResultJson(swept))
  else printSweepResult(swept)
  setExitCode(isSweepFullySuccessful(swept) ? 0 : 1)
}

/** Removes the token so that child processes don't inherit it. */
function takeTokenFromEnvironment(variable: string): string {
  const token = process.env[variable]
  delete process.env[variable]
  if (token === undefined || token === '')
    throw new Error(`the environment variable ${variable} does not contain a token`)
  return token
}

const isSweepFullySuccessful = ({ left, failed, stops, pulls }: SweepOnceResult): boolean =>
  left.length === 0 &&
  failed.length === 0 &&
  stops.length === 0 &&
  pulls.every(({ outcome }) => outcome !== 'unknown')

function toSweepResultJson({ pulls, stops, left, failed }: SweepOnceResult): unknown {
  return { pulls, stops, left, failed: failed.map(({ job }) => job) }
}

const labelBySweepOutcome: Readonly<Record<SweepOncePullResult['outcome'], string>> = {
  merged: 'merged',
  merge: 'ready to merge',
  wait: 'waiting',
  blocked: 'blocked',
  unknown: 'inconclusive',
}

function printSweepResult({ pulls, stops, left, failed }: SweepOnceResult): void {
  if (pulls.length === 0) printToStdout('No pull requests were processed.')
  for (const { pull, outcome, reasons } of pulls) {
    const why =
      reasons.length === 0
        ? ''
        : `: ${reasons.map((reason) => escapeNonPrintableCharacters(reason)).join('; ')}`
    printToStdout(`#${pull} ${labelBySweepOutcome[outcome]}${why}`)
  }
  for (const { branch, reason } of stops)
    printToStdout(
      `Merging is frozen on ${branch === undefined ? 'every branch' : escapeNonPrintableCharacters(branch)}: ${escapeNonPrintableCharacters(reason)}`,
    )
  for (const { job } of failed)
    printToStderr(`Failed: ${formatJobName(job)}. For the cause, see the log above.`)
  for (const job of left) printToStderr(`Left for the next run: ${formatJobName(job)}`)
}

function formatJobName(job: Job): string {
  if ('pull' in job) return `pull request ${job.pull}`
  return 'branch' in job ? `${job.kind} ${escapeNonPrintableCharacters(job.branch)}` : job.kind
}
