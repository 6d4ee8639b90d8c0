// With a small rate limit, important work goes first, other work waits, pages report it, and no request exceeds it.
import { afterAll, expect, test } from '@jest/globals'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { startStoryEnvironment } from './story-environment.ts'

const hourlyRequestLimit = 30
const story = await startStoryEnvironment({ sweepSeconds: 2, environment: { SCAN_SECONDS: '1' } })
const appInstallation = story.demo.github.installationOn(demoRepositoryName)
// It is too small for eight evaluations.
story.demo.github.setLimits(appInstallation, { hourly: hourlyRequestLimit, windowSeconds: 2 })
await story.start()
afterAll(() => story.close())

const openStoryPull = async (id: string) => (await openDemoStory(story.demo, id)).pull

const fetchBotPageText = async (path: string) => (await fetch(`${story.bot().url}${path}`)).text()
const listRateLimitedRequests = () =>
  story.demo.github.requests.filter(({ status }) => status === 403 || status === 429)

/** How many requests of a class were held back so far. */
async function readDelayedRequestCount(work: string): Promise<number> {
  const line = new RegExp(`budget_requests_total\\{class="${work}",outcome="held"\\} (\\d+)`)
  return Number(line.exec(await fetchBotPageText('/metrics'))?.[1])
}

test('eight pull requests that wait for the limit cause no rejected request, and each gets its report', async () => {
  const pulls: MockPull[] = []
  for (let count = 0; count < 8; count += 1) pulls.push(await openStoryPull('update by a non-owner'))
  await story.waitUntil('all answered', () => pulls.every(({ comments }) => comments.length === 1))
  expect(listRateLimitedRequests()).toEqual([])
  const spent = story.demo.github.requests.filter(({ status, path }) => status < 300 && !path.startsWith('/app') && !path.includes('.git/')) // prettier-ignore
  expect(spent.length).toBeGreaterThan(hourlyRequestLimit)
})

test('with less left, scans wait first and then the sweep, and a pull request is still evaluated and merged', async () => {
  const { github } = story.demo
  github.setLimits(appInstallation, { hourly: 1000, windowSeconds: 3600 })
  github.setRemaining(appInstallation, 400)
  const before = {
    scan: await readDelayedRequestCount('scan'),
    sweep: await readDelayedRequestCount('sweep'),
  }
  await story.waitUntil('scans wait', async () => (await readDelayedRequestCount('scan')) > before.scan)
  expect(await readDelayedRequestCount('sweep')).toBe(before.sweep)
  github.setRemaining(appInstallation, 200)
  await story.waitUntil(
    'the sweep waits',
    async () => (await readDelayedRequestCount('sweep')) > before.sweep,
  )
  const pull = await openStoryPull('good update')
  await story.waitUntil('it is merged', () => pull.merged !== null)
  expect(await fetchBotPageText('/readyz')).toMatch(
    /^to stay within GitHub's rate limit .*: sweeps, image scans$/m,
  )
  const { limited } = JSON.parse(await fetchBotPageText(`/r/${demoRepositoryName}.json`)) as {
    limited: { kind: string }[]
  }
  expect(limited.map(({ kind }) => kind)).toContain('sweep')
  expect(listRateLimitedRequests()).toEqual([])
})
