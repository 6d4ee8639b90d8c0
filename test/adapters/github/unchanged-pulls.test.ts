// One request finds which of many pull requests are still identical to their snapshots.
import { afterAll, expect, test } from '@jest/globals'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import { MergeFixture } from '../../merge/merge-fixture.ts'
import { createPullOptions } from '../../sandbox/github/github-fixture.ts'

const mergeFixture = await MergeFixture.open()
const mergeScenario = await mergeFixture.openScenario({ behind: false })
afterAll(async () => {
  await mergeScenario.close()
  await mergeFixture.stop()
})

async function openPullRequest(title: string): Promise<MockPull> {
  const pull = await mergeScenario.github.openPull(
    createPullOptions(title, { [`${title}.yaml`]: 'x: 1\n' }, { repository: mergeScenario.full }),
  )
  await mergeScenario.github.label(pull, 'catalog')
  mergeScenario.github.comment(pull, 'bob', '/hold')
  mergeScenario.github.review(pull, 'bob', 'approve')
  return pull
}

const readPullSnapshot = async ({ number }: MockPull): Promise<PullSnapshot> => {
  const snapshot = await mergeScenario.options.forge.readSnapshot(toPullNumber(number))
  if (snapshot === null) throw new Error('no pull request')
  return snapshot
}

const findUnchanged = async (...snapshots: readonly PullSnapshot[]) =>
  (await mergeScenario.options.forge.findUnchanged?.(snapshots)) ?? new Map()

const pullChangeCases: readonly (readonly [string, (pull: MockPull) => unknown])[] = [
  ['a push', (pull) => mergeScenario.github.pushToPull(pull, { 'more.yaml': 'y: 1\n' })],
  ['a label', (pull) => mergeScenario.github.label(pull, 'wait')],
  ['a removed label', (pull) => mergeScenario.github.unlabel(pull, 'catalog')],
  ['a comment', (pull) => mergeScenario.github.comment(pull, 'bob', '/unhold')],
  ['another title', (pull) => (pull.title = 'Other')],
  ['a draft', (pull) => (pull.draft = true)],
  ['another base', (pull) => (pull.baseRef = 'other')],
  ['an edited comment', ({ comments }) => comments.forEach((it) => (it.body = '/help'))],
  ['a deleted comment', (pull) => (pull.comments = [])],
  ['a dismissed review', ({ reviews }) => reviews.forEach((it) => (it.state = 'DISMISSED'))],
  ['another review', (pull) => mergeScenario.github.review(pull, 'bob', 'changes')],
  ['a deleted fork', (pull) => (pull.headRepo = null)],
  [
    'more than a page',
    (pull) => {
      for (let count = 0; count < 31; count++) mergeScenario.github.comment(pull, 'bob', `${count}`)
    },
  ],
  ['a close', (pull) => (pull.state = 'closed')],
]

test('a pull request with any change is not returned, and an unchanged one is', async () => {
  const quiet = await openPullRequest('quiet')
  const before = await readPullSnapshot(quiet)
  const changed: (readonly [string, PullSnapshot])[] = []
  for (const [index, [name, change]] of pullChangeCases.entries()) {
    const pull = await openPullRequest(`changed-${index}`)
    changed.push([name, await readPullSnapshot(pull)])
    await change(pull)
  }
  const requestCount = mergeFixture.githubFixture.github.requests.length
  const same = await findUnchanged(before, ...changed.map(([, snapshot]) => snapshot))
  expect(mergeFixture.githubFixture.github.requests.length - requestCount).toBe(1)
  expect(changed.filter(([, { pull }]) => same.has(pull)).map(([name]) => name)).toEqual([])
  expect([...same]).toEqual([[quiet.number, quiet.updatedAt]])
})

test('a new comment after a full page of comments is found', async () => {
  const pull = await openPullRequest('talkative')
  for (let count = 1; count < 30; count++) mergeScenario.github.comment(pull, 'bob', `${count}`)
  const before = await readPullSnapshot(pull)
  expect(before.comments).toHaveLength(30)
  expect([...(await findUnchanged(before)).keys()]).toEqual([pull.number])
  mergeScenario.github.comment(pull, 'bob', '/hold')
  expect([...(await findUnchanged(before))]).toEqual([])
})

test('nothing is returned without a response from GitHub', async () => {
  const snapshot = await readPullSnapshot(await openPullRequest('unanswered'))
  mergeFixture.githubFixture.github.fail('POST /graphql', { status: 502 })
  expect([...(await findUnchanged(snapshot))]).toEqual([])
  expect([...(await findUnchanged({ ...snapshot, stacked: true }))]).toEqual([])
})
