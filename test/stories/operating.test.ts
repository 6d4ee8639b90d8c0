// What operators of the bot see and do: probes, metrics, a stop that ends, and a failing start with the wrong key.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { evaluateDemoStory } from '../../sandbox/demo/story-outcome.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { generatePrivateKey } from '../../sandbox/github/github-admin.ts'
import {
  findPrometheusQueryProblems,
  parseMetricLabels,
  readPrometheusQueries,
} from '../deploy/prometheus-queries.ts'
import { startStoryEnvironment, startStoryBot, type StoryEnvironment } from './story-environment.ts'

describe('the bot in operation', () => {
  let story: StoryEnvironment
  const get = async (path: string) => {
    const reply = await fetch(`${story.bot().url}${path}`)
    return { status: reply.status, text: await reply.text() }
  }
  beforeAll(async () => {
    story = await startStoryEnvironment({ sweepSeconds: 300 })
    await story.start({ STOP_SECONDS: '2', PUBLIC_URL: 'https://bot.example.com' })
  })
  afterAll(() => story.close())

  test('reports that it is alive and ready', async () => {
    expect(await get('/livez')).toEqual({ status: 200, text: 'ok\n' })
    expect(await get('/readyz')).toEqual({ status: 200, text: 'ok\n' })
  })

  test('counts its merges', async () => {
    const opened = await openDemoStory(story.demo, 'good update')
    const { pull } = opened
    await story.waitUntil(
      'the pull request is merged',
      () => evaluateDemoStory(opened, [opened], story.demo).isExpected,
    )
    // The branch moves before the merge is settled and announced.
    await story.waitUntil('the merge is counted', async () =>
      /^catalog_bot_landings_total\{outcome="landed"\} 1$/m.test((await get('/metrics')).text),
    )
    await story.waitUntil('the merge is reported', () =>
      pull.comments.some(({ body }) => /Merged as/.test(body)),
    )
    const page = `/r/coast/operators/pull/${pull.number}`
    const comment = pull.comments.find(({ body }) => body.includes('https://bot.example.com'))
    expect(comment?.body).toContain(`https://bot.example.com${page}`)
    const [run] = story.demo.github.checkRuns(pull)
    expect(run?.detailsUrl).toBe(`https://bot.example.com${page}`)
    const { status, text } = await get(page)
    expect([status, /Why it was merged/.test(text)]).toEqual([200, true])
    expect(text).toContain('<code>1.2.0</code> added to channel')
  })

  test('shows the catalogs that it merged into, with their owners', async () => {
    const path = '/r/coast/operators/catalog/v4.20/lighthouse'
    await story.waitUntil('the new version is recorded', async () =>
      (await get(path)).text.includes('lighthouse.v1.2.0'),
    )
    expect((await get(`${path}.json`)).text).toMatch(/"owners":\[[^\]]*"alice"/)
  })

  test('exports every metric that the alert rules and the dashboard use', async () => {
    const metrics = parseMetricLabels((await get('/metrics')).text)
    // Healthy metrics have no value and so no labels. test/server/store-metrics.test.ts and the scan tests cover them.
    const well = [
      ['catalog_bot_stopped_branches', ['repository', 'kind']],
      ['catalog_bot_open_pulls', ['repository', 'verdict']],
      ['catalog_bot_unpublished_images', ['repository']],
      ['catalog_bot_scan_missing_references', ['repository']],
    ] as const
    for (const [name] of well) expect([...metrics.keys()]).toContain(name)
    const known = new Map([...metrics, ...well.map(([name, labels]) => [name, new Set(labels)] as const)])
    const faults = readPrometheusQueries().flatMap(({ where, query }) =>
      findPrometheusQueryProblems(query, known).map((fault) => `${where}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  test('logs its configuration before it opens the store', () => {
    const at = (text: string) => story.log.findIndex((line) => line.includes(text))
    expect(at('"starting"')).toBeGreaterThanOrEqual(0)
    expect(at('"opening the store"')).toBeGreaterThan(at('"starting"'))
    expect(at('"the store is open"')).toBeGreaterThan(at('"opening the store"'))
    expect(story.log.join('\n')).not.toContain('BEGIN')
  })

  test('fails to start with a key of another App, and reports why', async () => {
    await expect(
      startStoryBot({
        environment: {
          ...story.demo.environment,
          DATA_DIR: `${story.demo.environment['DATA_DIR']}-other`,
          PRIVATE_KEY: generatePrivateKey(),
        },
      }),
    ).rejects.toThrow(/GitHub rejected the App's credentials/)
  })

  test('ends in time while a server blocks a fetch, and resumes after a restart', async () => {
    const { github } = story.demo
    const release = github.fail(({ path }) => path.endsWith('/git-upload-pack'), { timeout: true }, 100)
    const hanging = () =>
      github.requests.filter(({ path, status }) => path.endsWith('/git-upload-pack') && status === 0).length
    const opened = await openDemoStory(story.demo, 'update by a non-owner')
    await story.waitUntil('a fetch hangs', () => hanging() > 0)
    const stopped = performance.now()
    const bot = story.bot()
    await bot.kill('SIGTERM')
    expect(await bot.exited).toBe('0')
    expect(performance.now() - stopped).toBeLessThan(10_000)
    release()
    await story.start()
    await story.waitUntil(
      'the pull request comes to its end',
      () => evaluateDemoStory(opened, [opened], story.demo).isExpected,
    )
  })

  test('ends in time, without errors, while GitHub blocks a request and clients wait for pages', async () => {
    const { github } = story.demo
    await story.bot().kill('SIGKILL')
    const release = github.fail(({ path }) => path === '/app/installations', { timeout: true }, 100)
    const bot = await story.start({ STOP_SECONDS: '2' })
    await story.waitUntil('the sweep hangs', () =>
      github.requests.some(({ path, status }) => path === '/app/installations' && status === 0),
    )
    const before = story.log.length
    const pages = Array.from({ length: 20 }, () => get('/r/coast/operators').catch(() => undefined))
    const stopped = performance.now()
    await bot.kill('SIGTERM')
    expect(await bot.exited).toBe('0')
    expect(performance.now() - stopped).toBeLessThan(10_000)
    release()
    await Promise.all(pages)
    expect(story.log.slice(before).filter((line) => line.includes('"level":50'))).toEqual([])
  })
})
