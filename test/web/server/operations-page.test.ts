// The operations page: what is broken, charts, GitHub's limits, and published images.
import { afterAll, expect, test } from '@jest/globals'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import { parsePublicationId } from '../../../src/publish/publication-state.ts'
import { recordRateLimitWait } from '../../../src/jobs/rate-limit-waits.ts'
import { createEvaluationRecord, fillPagesStore, publicRepository } from './fill-pages-store.ts'
import { startPagesFixture, startTimeMs } from './pages-fixture.ts'

const path = '/r/coast/operators/operations'
const msPerDay = 24 * 3600_000
const today = new Date(startTimeMs).toISOString().slice(0, 10)
const pagesFixture = await startPagesFixture()
const { store } = pagesFixture
await fillPagesStore(store)
await store.recordEvaluation(
  createEvaluationRecord(90, 'wait', {
    openedAt: startTimeMs - 3 * msPerDay,
    at: startTimeMs - 3 * msPerDay + 90_000,
  }),
)
await store.parkPull(publicRepository, {
  pull: toPullNumber(13),
  reason: 'a required check is missing',
  state: 'one',
  times: 1,
  tryAgainAt: startTimeMs,
})
await recordRateLimitWait(
  { kind: 'sweep', installation: 1, repository: publicRepository },
  1800,
  startTimeMs,
  store,
)
afterAll(() => pagesFixture?.close())

const fetchModel = async (): Promise<unknown> => (await fetch(`${pagesFixture.url}${path}.json`)).json()
const fetchPage = async () => (await fetch(`${pagesFixture.url}${path}`)).text()

test('everything that needs attention is listed, with links', async () => {
  const { failures } = (await fetchModel()) as { failures: { title: string; to?: string }[] }
  expect(failures.map(({ title, to }) => [title, to])).toEqual([
    ['registry.example/coast/catalog:v4.21 is not published', undefined],
    ['The publishing configuration has a problem', undefined],
    ['Merging is frozen', '/r/coast/operators'],
    ['GitHub rejected the merge of #13', '/r/coast/operators/pull/13'],
    ['Images are missing', '/r/coast/operators/overview'],
    ['Checks are inconclusive', '/r/coast/operators?state=unknown'],
    ["GitHub's rate limit is reached", undefined],
  ])
  const page = (await fetchPage()).replaceAll(/<[^>]+>/g, '')
  expect(page).toMatch(/The registry rejected the credentials.*catalog-bot retries in 20 minutes/)
  expect(page).toMatch(/Some jobs are waiting.*catalog-bot retries in 30 minutes/)
})

test('the charts show each day, and a table shows the same', async () => {
  const { days } = (await fetchModel()) as { days: { day: string; merges: number }[] }
  expect(days).toHaveLength(28)
  expect(days.at(-1)).toMatchObject({ day: today, merges: 1 })
  expect(days.at(-4)).toMatchObject({ merges: 0, medianVerdictMs: 90_000 })
  const page = await fetchPage()
  expect(page.match(/<svg class="chart" role="img" aria-label="[^"]+"/g)).toHaveLength(3)
  expect(page).toContain(`Merges per day, ${days[0]?.day} to ${today}: at most 1, on ${today}`)
  expect(page).toMatch(new RegExp(`<th scope="row">${days.at(-4)?.day}</th>.*1 minute`))
})

test('each earlier image has the exact command that restores it', async () => {
  const page = await fetchPage()
  for (const digit of ['b', 'c'])
    expect(page).toContain(
      `<code>/rollback registry.example/coast/catalog:v4.20 sha256:${digit.repeat(64)}</code>`,
    )
  expect(page).not.toContain(`/rollback registry.example/coast/catalog:v4.20 sha256:${'a'.repeat(64)}`)
  expect(page).not.toMatch(/<script>alert|<img|\u202E/)
  expect(page).toMatch(/<meter aria-label="core requests left" max="5000" low="500" value="4321">/)
  expect(Buffer.byteLength(page)).toBeLessThan(100 * 1024)
})

test.each([
  ['main catalogs/v4.20 quay.io/a/b:v1', { branch: 'main', root: 'catalogs/v4.20', image: 'quay.io/a/b:v1' }],
  ['main  quay.io/a/b:v1', { branch: 'main', root: '', image: 'quay.io/a/b:v1' }],
  ['a/b my catalog x quay.io:5/a:v1', { branch: 'a/b', root: 'my catalog x', image: 'quay.io:5/a:v1' }],
])('the ID %j of a publication is read as it was written', (id, parts) =>
  expect(parsePublicationId(id)).toEqual(parts),
)

test('no page of a private repository is visible without access', async () => {
  const reply = await fetch(`${pagesFixture.url}/r/coast/secret-operators/operations`)
  expect(reply.status).toBe(404)
})
