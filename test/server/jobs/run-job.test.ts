import { describe, expect, test } from '@jest/globals'
import { runJob, type JobRunnerOptions } from '../../../src/server/jobs/run-job.ts'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import { ForgeError } from '../../../src/adapters/github/forge-error.ts'
import type { Job } from '../../../src/ports/store.ts'

const branchJob: Job = {
  kind: 'branch',
  installation: 1,
  repository: { owner: 'coast', name: 'catalog' },
  branch: 'main',
}

/** Runs a job whose repository cannot be opened, and returns the outcome. */
async function runFailingJob(
  failure: Error,
  isInstalled: JobRunnerOptions['isInstalled'],
  job: Job = branchJob,
) {
  const enqueued: number[] = []
  const noted: unknown[] = []
  const log = { child: () => log, info: () => undefined, warn: () => undefined, error: () => undefined }
  const app = {
    log,
    clock: { now: () => 1000 },
    store: {
      enqueue: async (_job: Job, after?: number) => void enqueued.push(after ?? 0),
      putCached: async (_space: unknown, values: ReadonlyMap<string, unknown>, seconds: number) =>
        void noted.push([...values], seconds),
    },
  } as unknown as JobRunnerOptions['app']
  let outcome = ''
  const run = runJob(job, {
    app,
    isInstalled,
    openJobContext: () => Promise.reject(failure),
    onDone: (_job, became) => void (outcome = became),
  })
  const rejected = await run.then(
    () => false,
    () => true,
  )
  return { outcome, rejected, enqueued, noted }
}

const notFoundError = new ForgeError('not-found', 'read the repository: GitHub answered 404')

describe('a job that cannot run', () => {
  test('is dropped if the App is no longer installed', async () => {
    expect(await runFailingJob(notFoundError, async () => false)).toEqual({
      outcome: 'dropped',
      rejected: false,
      enqueued: [],
      noted: [],
    })
  })
  test('is forgotten by the sweep of pull requests if the App is no longer installed', async () => {
    const { repository, installation } = branchJob
    const pull = { kind: 'pull', repository, installation, pull: toPullNumber(7) } as const
    expect(await runFailingJob(notFoundError, async () => false, pull)).toMatchObject({
      outcome: 'dropped',
      noted: [[['coast/catalog#7', '']], 0],
    })
  })
  test('fails, so that the queue retries it, if the App is installed', async () => {
    expect(await runFailingJob(notFoundError, async () => true)).toMatchObject({
      outcome: 'failed',
      rejected: true,
    })
  })
  test('fails, too, if GitHub does not report whether the App is installed', async () => {
    const silent = () => Promise.reject(new ForgeError('unavailable', 'GitHub answered 503'))
    expect(await runFailingJob(notFoundError, silent)).toMatchObject({ outcome: 'failed', rejected: true })
  })
  test('fails without asking GitHub if the error did not come from GitHub', async () => {
    let wasAsked = false
    const ask = async () => (wasAsked = true)
    expect(await runFailingJob(new Error('a fault'), ask)).toMatchObject({
      outcome: 'failed',
      rejected: true,
    })
    expect(wasAsked).toBe(false)
  })
  test('is postponed with a rate limit note while GitHub limits requests', async () => {
    const limited = new ForgeError('rate-limited', 'limit', { retryAfter: 7 })
    expect(await runFailingJob(limited, async () => false)).toEqual({
      outcome: 'postponed',
      rejected: false,
      enqueued: [7],
      // Shown on the pages while it lasts.
      noted: [[['coast/catalog branch main', { since: 1000, until: 8000 }]], 7],
    })
  })
  test('is postponed without a rate limit note while GitHub is unavailable', async () => {
    const silent = new ForgeError('unavailable', 'GitHub answered 503')
    expect(await runFailingJob(silent, async () => true)).toMatchObject({ enqueued: [60], noted: [] })
  })
})
