import { describe, expect, test } from '@jest/globals'
import { runJob, type JobRunnerOptions } from '../../../src/server/jobs/run-job.ts'
import { ForgeError } from '../../../src/adapters/github/forge-error.ts'
import type { Job } from '../../../src/ports/store.ts'

const job: Job = {
  kind: 'branch',
  installation: 1,
  repository: { owner: 'coast', name: 'catalog' },
  branch: 'main',
}

/** Runs a duty whose repository cannot be opened, and says what became of it. */
async function runFailingJob(failure: Error, isInstalled: JobRunnerOptions['isInstalled']) {
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

describe('a duty that cannot be done', () => {
  test('is dropped where the App is not installed any more', async () => {
    expect(await runFailingJob(notFoundError, async () => false)).toEqual({
      outcome: 'dropped',
      rejected: false,
      enqueued: [],
      noted: [],
    })
  })
  test('is taken again by the queue where the App is installed: the fault is ours', async () => {
    expect(await runFailingJob(notFoundError, async () => true)).toMatchObject({
      outcome: 'failed',
      rejected: true,
    })
  })
  test('is taken again where nobody can say whether the App is installed', async () => {
    const silent = () => Promise.reject(new ForgeError('unavailable', 'GitHub answered 503'))
    expect(await runFailingJob(notFoundError, silent)).toMatchObject({ outcome: 'failed', rejected: true })
  })
  test('is taken again where something else than GitHub failed, and GitHub is not asked', async () => {
    let wasAsked = false
    const ask = async () => (wasAsked = true)
    expect(await runFailingJob(new Error('a fault'), ask)).toMatchObject({
      outcome: 'failed',
      rejected: true,
    })
    expect(wasAsked).toBe(false)
  })
  test('is postponed while GitHub is not responding', async () => {
    const limited = new ForgeError('rate-limited', 'limit', { retryAfter: 7 })
    expect(await runFailingJob(limited, async () => false)).toEqual({
      outcome: 'postponed',
      rejected: false,
      enqueued: [7],
      // For the pages, as long as it lasts.
      noted: [[['coast/catalog branch main', { since: 1000, until: 8000 }]], 7],
    })
  })
  test('waits for GitHub, and not for its limit, where no limit is the reason', async () => {
    const silent = new ForgeError('unavailable', 'GitHub answered 503')
    expect(await runFailingJob(silent, async () => true)).toMatchObject({ enqueued: [60], noted: [] })
  })
})
