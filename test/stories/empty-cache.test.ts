// The cache is emptied between any two steps of a pull request, a rebuild, a scan, and a sweep. Nothing is lost, and
// nothing is reported or done twice. The App's jobs run here one by one, on a manual clock.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { runJob } from '../../src/server/jobs/run-job.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { createCatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'
import { createEvaluationPool } from '../../src/evaluate/worker/evaluation-pool.ts'
import { createInMemoryCache } from '../../src/catalogs/memory-cache.ts'
import { createRegistryLookupService } from '../../src/catalogs/registries.ts'
import { GitHubApp } from '../../src/adapters/github/github-app.ts'
import type { Cache } from '../../src/ports/cache.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { Store } from '../../src/ports/store.ts'
import { openPreparedStore } from '../adapters/store/prepared-store.ts'
import { startDemoEnvironment, type DemoEnvironment } from '../../sandbox/demo/demo-environment.ts'
import { findBotComment } from '../../sandbox/demo/story-outcome.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { realTimeClock as realClock } from '../adapters/store/sample-records.ts'
import { createTestAppServices, openRepositoryContext, silentLog } from '../jobs/job-context.ts'

const repository = { owner: 'coast', name: 'operators' }
const baseJobFields = { installation: 0, repository }

interface InProcessBot {
  /**
   * Sweeps and runs all following jobs. The cache is emptied before each job, and at each call that reads several
   * values.
   */
  sweep(): Promise<void>
  /** Advances the clock. */
  wait(seconds: number): void
  /** How often the cache contained something to lose. */
  readonly countEmptied: () => number
  close(): Promise<void>
}

async function startInProcessBot(coast: DemoEnvironment, directory: string): Promise<InProcessBot> {
  let later = 0
  const clock = { ...realClock, now: () => Date.now() + later }
  const settings = readSettings({ ...coast.environment, SCAN_SECONDS: '3600', SECOND_LOOK_SECONDS: '60' })
  if (settings.credentials === undefined) throw new Error('no credentials')
  const real = await openPreparedStore({ clock: realClock })

  let cache = createInMemoryCache(clock)
  let held = 0
  let emptied = 0
  const forgetting: Cache = {
    getCached: (space, keys) => cache.getCached(space, keys),
    putCached: (space, values, seconds) => {
      held += values.size
      return cache.putCached(space, values, seconds)
    },
  }
  const empty = () => {
    if (held > 0) emptied++
    held = 0
    cache = createInMemoryCache(clock)
  }
  const queue = new Map<string, Job>()
  const store: Store = {
    ...real,
    ...forgetting,
    enqueue: async (job) => void queue.set(JSON.stringify(job), job),
  }

  const github = new GitHubApp({
    ...settings.credentials,
    apiUrl: settings.apiUrl,
    throttle: false,
    clock,
    log: silentLog,
  })
  const [installed] = await github.installedRepositories()
  if (installed === undefined) throw new Error('not installed')
  const { installation } = installed
  const context = await openRepositoryContext(
    coast.github,
    github,
    installation,
    repository,
    join(directory, 'mirror.git'),
  )
  const pool = createCatalogFileReaderPool(1)
  const registries = await createRegistryLookupService({
    clock,
    store,
    environment: {},
    insecure: settings.insecureRegistries,
  })
  const evaluationPool = createEvaluationPool(settings.budget, 1)
  const app = createTestAppServices({
    settings,
    store,
    registries,
    evaluationPool,
    clock,
    loader: createCatalogLoader(pool, store),
  })
  const failures: unknown[] = []
  const run = async (job: Job) => {
    empty()
    await runJob(job, {
      app,
      isInstalled: async () => true,
      onDone: (done, outcome) => void (outcome === 'done' || failures.push([done.kind, outcome])),
      openJobContext: async () => ({ ...context, app }),
    })
  }
  return {
    countEmptied: () => emptied,
    wait: (seconds) => void (later += seconds * 1000),
    async sweep() {
      queue.set('sweep', { kind: 'sweep', ...baseJobFields, installation })
      // As many rounds as anything here needs; a job that requeues itself forever isn't waited for.
      for (let round = 0; round < 12 && queue.size > 0; round++) {
        const jobs = [...queue.values()]
        queue.clear()
        for (const job of jobs) await run(job)
        // The sandbox's workflow takes a moment.
        if (queue.size > 0) await pause(100)
      }
      queue.clear()
      expect(failures).toEqual([])
    },
    async close() {
      await Promise.all([
        context.repository.close(),
        pool.close(),
        registries.close(),
        evaluationPool.close(),
      ])
      await real.close()
    },
  }
}

describe('with a cache that is emptied between any two steps', () => {
  let directory: string
  let coast: DemoEnvironment
  let bot: InProcessBot
  let pull: MockPull
  const wrote = (method: string, template: RegExp) =>
    coast.github.requests.filter((request) => request.method === method && template.test(request.template))
      .length
  const issues = () => [...coast.repository.issues.values()]
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'empty-cache-'))
    coast = await startDemoEnvironment({ directory })
    bot = await startInProcessBot(coast, directory)
    await bot.sweep()
  })
  afterAll(async () => {
    await bot.close()
    await coast.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  })

  test('requests one review from an owner, in one comment', async () => {
    ;({ pull } = await openDemoStory(coast, 'update by a non-owner'))
    for (let times = 0; times < 3; times++) await bot.sweep()
    expect(pull.state).toBe('open')
    expect(findBotComment(pull)).toContain('bob')
    expect(pull.comments).toHaveLength(1)
    expect(wrote('POST', /requested_reviewers/)).toBe(1)
  })

  test('merges a pull request once after its approval, and runs each earlier command once', async () => {
    coast.github.comment(pull, 'harbormaster', '/hold')
    await bot.sweep()
    coast.github.review(pull, 'bob', 'approve')
    await bot.sweep()
    expect(pull.state).toBe('open')
    coast.github.comment(pull, 'harbormaster', '/unhold')
    await bot.sweep()
    expect([pull.state, pull.merged === null]).toEqual(['closed', false])
    expect(wrote('POST', /reactions/)).toBe(2)
    expect(pull.comments.filter(({ body }) => body.startsWith('<!-- catalog-bot'))).toHaveLength(1)
    expect(wrote('POST', /requested_reviewers/)).toBe(1)
  })

  test('rebuilds its catalogs once, and reports the outcome on the commit', async () => {
    for (let times = 0; times < 2; times++) await bot.sweep()
    expect(wrote('POST', /dispatches/)).toBe(1)
    const runs = coast.github
      .checkRuns({ repo: coast.repository, headSha: pull.merged?.sha ?? '' })
      .filter(({ name }) => name === 'catalog-bot / rebuild')
    expect(runs.map(({ conclusion }) => conclusion)).toEqual(['success'])
  })

  test('reports a missing image once, in one issue, and closes the issue when the image is back', async () => {
    const [image, tag] = ['lighthouse/lighthouse-bundle', 'v1.0.0']
    const digest = coast.registry.manifest(image, tag)?.digest ?? ''
    coast.registry.removeTag(image, tag)
    for (let times = 0; times < 3; times++) {
      bot.wait(3600)
      await bot.sweep()
    }
    expect(issues().map(({ state }) => state)).toEqual(['open'])
    expect(issues()[0]?.body).toContain(`${image}:${tag}`)
    coast.registry.setTag(image, tag, digest)
    for (let times = 0; times < 3; times++) {
      bot.wait(3600)
      await bot.sweep()
    }
    expect(issues().map(({ state }) => state)).toEqual(['closed'])
    // Opened, then closed after a comment with the reason. Nothing else was written.
    expect(wrote('POST', /\/issues$/)).toBe(1)
    expect(wrote('PATCH', /\/issues\/\{issue_number\}$/)).toBe(1)
    expect(issues()[0]?.comments).toHaveLength(1)
  })

  test('the cache contained something to lose each time', () => {
    expect(bot.countEmptied()).toBeGreaterThan(10)
    expect(wrote('POST', /dispatches/)).toBe(1)
    expect(wrote('POST', /requested_reviewers/)).toBe(1)
  })
})
