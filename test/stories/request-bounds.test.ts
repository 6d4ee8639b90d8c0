// What one delivery, and many of them, cost of GitHub's hour: counted on a pull request with thousands of comments, and held
// against the table in docs/request-costs.md.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { repositoryName } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { allowances } from '../../src/app/jobs/job-allowance.ts'
import { openStoryWorld, until, type StoryWorld } from './world.ts'

interface Bound {
  readonly events: readonly string[]
  readonly one: number
  readonly job: keyof typeof allowances | undefined
}

/** The rows of the table: which deliveries, the most requests of one of them, and the job whose allowance holds many. */
const bounds = new Map(
  readFileSync('docs/request-costs.md', 'utf8')
    .split('\n')
    .flatMap((line): [string, Bound][] => {
      const [, delivery = '', one = '', job = ''] = line.split('|').map((cell) => cell.trim())
      const names = [...delivery.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? '')
      return names.length === 0 || !/^\d+$/.test(one)
        ? []
        : [
            [
              delivery,
              { events: names, one: Number(one), job: job === '' ? undefined : (job as Bound['job']) },
            ],
          ]
    }),
)

test('the table has every event that the App subscribes to', () => {
  const { default_events: events } = parse(readFileSync('app.yml', 'utf8')) as { default_events: string[] }
  const told = new Set([...bounds.values()].flatMap(({ events: some }) => some[0]))
  expect([...told].toSorted()).toEqual([...events].toSorted())
})

test('the table says what the allowances are', () => {
  const text = readFileSync('docs/request-costs.md', 'utf8')
  for (const [kind, [burst, perHour]] of Object.entries(allowances))
    expect(text).toMatch(new RegExp(`\\| ${kind} +\\| ${burst} +\\| ${perHour} +\\|`))
})

let world: StoryWorld
let talkative: Pull
let busy: Pull
const comments = 2400
beforeAll(async () => {
  world = await openStoryWorld({ sweepSeconds: 600 })
  const { github } = world.coast
  const story = stories.find(({ id }) => id === "stranger's update")
  if (story === undefined) throw new Error('the demo has no such story')
  const opened: Pull[] = []
  for (let count = 0; count < 2; count += 1) {
    const pull = await github.openPull(story.open(world.coast))
    for (let at = 0; at < comments; at += 1) github.comment(pull, 'mallory', `word ${at}`)
    // Over days, as such pull requests have them.
    for (const [at, comment] of pull.comments.entries()) {
      const then = new Date(Date.now() - (comments - at) * 60_000).toISOString()
      Object.assign(comment, { createdAt: then, updatedAt: then })
    }
    for (let at = 0; at < 150; at += 1) github.review(pull, 'mallory', 'comment', `word ${at}`)
    for (let at = 0; at < 10; at += 1) await github.pushToPull(pull, { [`notes/${at}.md`]: `${at}\n` })
    opened.push(pull)
  }
  ;[talkative, busy] = opened as [Pull, Pull]
  await world.start()
  await until('both are told', () => opened.every((it) => it.comments.length > comments), 90, world.log)
  await quiet()
}, 180_000)
afterAll(() => world.close())

/** Those that count against the installation's hour. */
const paid = () =>
  world.coast.github.requests.filter(
    ({ status, template }) =>
      status !== 304 && !template.startsWith('/{owner}/') && !template.startsWith('/app'),
  )

async function quiet(): Promise<void> {
  for (let times = 0, before = -1; times < 3;) {
    await pause(500)
    const { length } = world.coast.github.requests
    times = length === before ? times + 1 : 0
    before = length
  }
}

/** What `act` made the bot ask. */
async function asked(act: () => unknown): Promise<readonly string[]> {
  const before = paid().length
  await act()
  await world.coast.github.webhooks.settled()
  await quiet()
  return paid()
    .slice(before)
    .map(({ method, template, operation = template }) => `${method} ${operation}`)
}

const boundOf = (row: string): Bound => {
  const found = bounds.get(row)
  if (found === undefined) throw new Error(`the table has no row ${row}`)
  return found
}

/** Sends the bot what GitHub would, without that anything has happened. */
function tell(event: string, action: string | null, payload: object): void {
  const { github, repository } = world.coast
  github.webhooks.emit(
    event,
    action,
    repository,
    github.account('mallory'),
    payload as Record<string, unknown>,
  )
}

test('one delivery costs at most what the table says', async () => {
  const { github } = world.coast
  const first = talkative.comments[0]
  const told: Record<string, () => unknown> = {
    '`issue_comment` created': () => github.comment(talkative, 'mallory', 'one more'),
    '`issue_comment` edited': () => first && github.editComment(first, 'another', 'mallory'),
    '`issue_comment` deleted': () => first && github.deleteComment(first, 'mallory'),
    '`issue_comment` on an issue': () =>
      github.comment(github.openIssue(repositoryName, 'mallory', 'A question'), 'mallory', 'please'),
    '`pull_request_review`': () => github.review(talkative, 'mallory', 'comment', 'no'),
    '`pull_request_review_thread`': () =>
      tell('pull_request_review_thread', 'resolved', { pull_request: { number: talkative.number } }),
    '`pull_request` labeled, unlabeled': () => github.label(busy, 'question', 'harbormaster'),
    '`pull_request` edited': () => github.edit(busy, { title: 'Another title' }),
    '`pull_request` synchronize': () => github.pushToPull(busy, { 'notes/more.md': 'more\n' }),
    '`pull_request` of other kinds': () =>
      tell('pull_request', 'assigned', { pull_request: { number: busy.number } }),
    '`pull_request` closed': () => github.close(busy),
    '`pull_request` reopened': () => github.reopen(busy),
    '`status`': () =>
      github.setStatus(repositoryName, busy.headSha, 'harbormaster', { state: 'success', context: 'ci' }),
    '`check_run` completed': () =>
      tell('check_run', 'completed', {
        check_run: {
          name: 'ci',
          head_sha: busy.headSha,
          conclusion: 'success',
          pull_requests: [{ number: busy.number }],
        },
      }),
    '`check_run` rerequested': () =>
      tell('check_run', 'rerequested', { check_run: { name: 'x', pull_requests: [] } }),
    '`check_suite` rerequested': () =>
      tell('check_suite', 'rerequested', { check_suite: { pull_requests: [] } }),
    '`workflow_run`': () => tell('workflow_run', 'completed', { workflow_run: { head_branch: 'main' } }),
    '`push` to another branch': () =>
      github.pushToBase(repositoryName, { 'notes/x.md': 'x\n' }, { by: 'harbormaster', branch: 'elsewhere' }),
    '`push` to a branch with catalogs': () =>
      github.pushToBase(repositoryName, { 'notes/y.md': 'y\n' }, { by: 'harbormaster' }),
    '`merge_group`': () =>
      tell('merge_group', 'checks_requested', { merge_group: { base_ref: 'refs/heads/main' } }),
  }
  const seen: Record<string, readonly string[]> = {}
  for (const [row, act] of Object.entries(told)) seen[row] = await asked(act)
  if (process.env['SHOW_BOUNDS'])
    console.log(
      JSON.stringify(
        Object.fromEntries(Object.entries(seen).map(([k, v]) => [k, [v.length, ...new Set(v)].join(' ')])),
        null,
        1,
      ),
    )
  for (const [row, requests] of Object.entries(seen))
    expect({ row, requests, isWithin: requests.length <= boundOf(row).one }).toEqual({
      row,
      requests,
      isWithin: true,
    })
  expect(Object.keys(told).toSorted()).toEqual([...bounds.keys()].toSorted())
}, 240_000)

test('reports on commits that no pull request waits with cost nothing, however many there are', async () => {
  const { github, repository } = world.coast
  const requests = await asked(async () => {
    for (let at = 0; at < 300; at += 1) {
      const sha = at % 2 === 0 ? busy.headSha : (repository.known.get('refs/heads/main') ?? '')
      await github.setStatus(repositoryName, sha, 'harbormaster', {
        state: 'success',
        context: `ci ${at % 7}`,
      })
    }
  })
  expect(requests).toEqual([])
}, 60_000)

test('many deliveries cost no more than the allowance of what they are about', async () => {
  const { github } = world.coast
  const [burst = 0, perHour = 0] = allowances.pull ?? []
  const before = paid().length
  const began = Date.now()
  for (let times = 0; times < 40; times += 1) {
    for (const comment of talkative.comments.slice(0, 5)) github.deleteComment(comment, 'mallory')
    await github.webhooks.settled()
    await pause(100)
  }
  await quiet()
  const refilled = ((Date.now() - began) / 3600_000) * perHour
  const one = boundOf('`issue_comment` deleted').one
  expect(paid().length - before).toBeLessThanOrEqual(burst + refilled + one)
  // It waits for its allowance; others don't.
  expect(world.log.some((line) => line.includes('of the last hour are used up'))).toBe(true)
  const story = stories.find(({ id }) => id === 'good update')
  if (story === undefined) throw new Error('the demo has no such story')
  const other = await github.openPull(story.open(world.coast))
  await until('another is merged', () => other.merged !== null, 60, world.log)
}, 180_000)
