// What one delivery, and many of them, cost of GitHub's hourly limit: counted on a pull request with thousands of
// comments, and compared with the table in docs/dev/performance.md.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { requestQuotaByJobKind } from '../../src/server/jobs/run-job.ts'
import { startStoryEnvironment } from './story-environment.ts'

interface RequestCountBound {
  readonly events: readonly string[]
  readonly one: number
  readonly job: keyof typeof requestQuotaByJobKind | undefined
}

/** The rows of the table: deliveries, the most requests of one of them, and the job that has the allowance for many. */
const requestBoundByDeliveryName = new Map(
  readFileSync('docs/dev/performance.md', 'utf8')
    .split('\n')
    .flatMap((line): [string, RequestCountBound][] => {
      const [, delivery = '', one = '', job = ''] = line.split('|').map((cell) => cell.trim())
      const names = [...delivery.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? '')
      return names.length === 0 || !/^\d+$/.test(one)
        ? []
        : [
            [
              delivery,
              {
                events: names,
                one: Number(one),
                job: job === '' ? undefined : (job as RequestCountBound['job']),
              },
            ],
          ]
    }),
)

test('the table has every event that the App subscribes to', () => {
  const { default_events: events } = parse(readFileSync('app.yml', 'utf8')) as { default_events: string[] }
  const told = new Set([...requestBoundByDeliveryName.values()].flatMap(({ events: some }) => some[0]))
  expect([...told].toSorted()).toEqual([...events].toSorted())
})

test('the table lists the current allowances', () => {
  const text = readFileSync('docs/dev/performance.md', 'utf8')
  for (const [kind, [burst, perHour]] of Object.entries(requestQuotaByJobKind))
    expect(text).toMatch(new RegExp(`\\| ${kind} +\\| ${burst} +\\| ${perHour} +\\|`))
})

const commentCount = 2400
const story = await startStoryEnvironment({ sweepSeconds: 600 })
const { github } = story.demo
const openedPulls: MockPull[] = []
for (let count = 0; count < 2; count += 1) {
  const { pull } = await openDemoStory(story.demo, 'update by a non-owner')
  for (let at = 0; at < commentCount; at += 1) github.comment(pull, 'mallory', `word ${at}`)
  // Spread over days, as in real pull requests.
  for (const [at, comment] of pull.comments.entries()) {
    const then = new Date(Date.now() - (commentCount - at) * 60_000).toISOString()
    Object.assign(comment, { createdAt: then, updatedAt: then })
  }
  for (let at = 0; at < 150; at += 1) github.review(pull, 'mallory', 'comment', `word ${at}`)
  for (let at = 0; at < 10; at += 1) await github.pushToPull(pull, { [`notes/${at}.md`]: `${at}\n` })
  openedPulls.push(pull)
}
const [pullWithManyComments, pullWithManyEvents] = openedPulls as [MockPull, MockPull]
await story.start()
await story.waitUntil('both answered', () => openedPulls.every((it) => it.comments.length > commentCount))
await waitUntilBotIdle()
afterAll(() => story.close())

/** The requests that count against the installation's hourly limit. */
const listRequestsCountedByRateLimit = () =>
  story.demo.github.requests.filter(
    ({ status, template }) =>
      status !== 304 && !template.startsWith('/{owner}/') && !template.startsWith('/app'),
  )

async function waitUntilBotIdle(): Promise<void> {
  for (let times = 0, before = -1; times < 3;) {
    await pause(500)
    const { length } = story.demo.github.requests
    times = length === before ? times + 1 : 0
    before = length
  }
}

/** The requests that `act` made the bot send. */
async function captureBotRequests(act: () => unknown): Promise<readonly string[]> {
  const before = listRequestsCountedByRateLimit().length
  await act()
  await story.demo.github.webhooks.settled()
  await waitUntilBotIdle()
  return listRequestsCountedByRateLimit()
    .slice(before)
    .map(({ method, template, operation = template }) => `${method} ${operation}`)
}

const getRequestBoundForDelivery = (row: string): RequestCountBound => {
  const found = requestBoundByDeliveryName.get(row)
  if (found === undefined) throw new Error(`the table has no row ${row}`)
  return found
}

/** Sends the bot a delivery of GitHub without an actual event. */
function sendWebhook(event: string, action: string | null, payload: object): void {
  const { github, repository } = story.demo
  github.webhooks.emit(
    event,
    action,
    repository,
    github.account('mallory'),
    payload as Record<string, unknown>,
  )
}

test('one delivery costs at most what the table lists', async () => {
  const { github } = story.demo
  const first = pullWithManyComments.comments[0]
  const told: Record<string, () => unknown> = {
    '`issue_comment` created': () => github.comment(pullWithManyComments, 'mallory', 'one more'),
    '`issue_comment` edited': () => first && github.editComment(first, 'another', 'mallory'),
    '`issue_comment` deleted': () => first && github.deleteComment(first, 'mallory'),
    '`issue_comment` on an issue': () =>
      github.comment(github.openIssue(demoRepositoryName, 'mallory', 'A question'), 'mallory', 'please'),
    '`pull_request_review`': () => github.review(pullWithManyComments, 'mallory', 'comment', 'no'),
    '`pull_request_review_thread`': () =>
      sendWebhook('pull_request_review_thread', 'resolved', {
        pull_request: { number: pullWithManyComments.number },
      }),
    '`pull_request` labeled, unlabeled': () => github.label(pullWithManyEvents, 'question', 'harbormaster'),
    '`pull_request` edited': () => github.edit(pullWithManyEvents, { title: 'Another title' }),
    '`pull_request` synchronize': () => github.pushToPull(pullWithManyEvents, { 'notes/more.md': 'more\n' }),
    '`pull_request` of other kinds': () =>
      sendWebhook('pull_request', 'assigned', { pull_request: { number: pullWithManyEvents.number } }),
    '`pull_request` closed': () => github.close(pullWithManyEvents),
    '`pull_request` reopened': () => github.reopen(pullWithManyEvents),
    '`status`': () =>
      github.setStatus(demoRepositoryName, pullWithManyEvents.headSha, 'harbormaster', {
        state: 'success',
        context: 'ci',
      }),
    '`check_run` completed': () =>
      sendWebhook('check_run', 'completed', {
        check_run: {
          name: 'ci',
          head_sha: pullWithManyEvents.headSha,
          conclusion: 'success',
          pull_requests: [{ number: pullWithManyEvents.number }],
        },
      }),
    '`check_run` rerequested': () =>
      sendWebhook('check_run', 'rerequested', { check_run: { name: 'x', pull_requests: [] } }),
    '`check_suite` rerequested': () =>
      sendWebhook('check_suite', 'rerequested', { check_suite: { pull_requests: [] } }),
    '`workflow_run`': () =>
      sendWebhook('workflow_run', 'completed', { workflow_run: { head_branch: 'main' } }),
    '`push` to another branch': () =>
      github.pushToBase(
        demoRepositoryName,
        { 'notes/x.md': 'x\n' },
        { by: 'harbormaster', branch: 'elsewhere' },
      ),
    '`push` to a branch with catalogs': () =>
      github.pushToBase(demoRepositoryName, { 'notes/y.md': 'y\n' }, { by: 'harbormaster' }),
    '`merge_group`': () =>
      sendWebhook('merge_group', 'checks_requested', { merge_group: { base_ref: 'refs/heads/main' } }),
  }
  const seen: Record<string, readonly string[]> = {}
  for (const [row, act] of Object.entries(told)) seen[row] = await captureBotRequests(act)
  if (process.env['SHOW_BOUNDS'])
    console.log(
      JSON.stringify(
        Object.fromEntries(Object.entries(seen).map(([k, v]) => [k, [v.length, ...new Set(v)].join(' ')])),
        null,
        1,
      ),
    )
  for (const [row, requests] of Object.entries(seen))
    expect({ row, requests, isWithin: requests.length <= getRequestBoundForDelivery(row).one }).toEqual({
      row,
      requests,
      isWithin: true,
    })
  expect(Object.keys(told).toSorted()).toEqual([...requestBoundByDeliveryName.keys()].toSorted())
}, 240_000)

test('many reports on commits without a waiting pull request cost nothing', async () => {
  const { github, repository } = story.demo
  const requests = await captureBotRequests(async () => {
    for (let at = 0; at < 300; at += 1) {
      const sha =
        at % 2 === 0 ? pullWithManyEvents.headSha : (repository.knownRefs.get('refs/heads/main') ?? '')
      await github.setStatus(demoRepositoryName, sha, 'harbormaster', {
        state: 'success',
        context: `ci ${at % 7}`,
      })
    }
  })
  expect(requests).toEqual([])
})

test('many deliveries cost no more than the allowance of their pull request', async () => {
  const { github } = story.demo
  const [burst = 0, perHour = 0] = requestQuotaByJobKind.pull ?? []
  const before = listRequestsCountedByRateLimit().length
  const began = Date.now()
  const isUsedUp = () =>
    story.log.some((line) => line.includes('used up its GitHub request allowance for the last hour'))
  // How many deliveries one evaluation answers depends on the machine. The last rounds find the allowance used up.
  for (let left = 20, times = 0; left > 0 && times < 400; times += 1) {
    for (const comment of pullWithManyComments.comments.slice(0, 5)) github.deleteComment(comment, 'mallory')
    await github.webhooks.settled()
    await pause(100)
    if (isUsedUp()) left -= 1
  }
  await waitUntilBotIdle()
  const refilled = ((Date.now() - began) / 3600_000) * perHour
  const one = getRequestBoundForDelivery('`issue_comment` deleted').one
  expect(listRequestsCountedByRateLimit().length - before).toBeLessThanOrEqual(burst + refilled + one)
  // It waits for its allowance; others don't.
  expect(isUsedUp()).toBe(true)
  const { pull: other } = await openDemoStory(story.demo, 'good update')
  await story.waitUntil('another is merged', () => other.merged !== null)
})
