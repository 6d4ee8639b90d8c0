// T24, from delivery to verdict: the pusher of a head comes from recorded webhook deliveries in a real store.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { parsePushFromDelivery } from '../../../src/server/deliveries.ts'
import { toPullNumber, type CommitSha } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../../src/pull-request/snapshot.ts'
import { openPreparedStore } from '../../adapters/store/prepared-store.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { realTimeClock } from '../../adapters/store/sample-records.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('pushers')
const store = await openPreparedStore({ clock: realTimeClock })
afterAll(async () => {
  await store.close()
  await scenario.close()
})

let lastPullNumber = 0
let baseCommit: CommitSha
let headCommit: CommitSha
const confirmUnknownPushesConfig = { '.github/catalog-bot.yml': 'approvals: {confirmUnknownPushes: true}\n' }
const baseBranchFiles: OriginFiles = {
  'config.yaml': 'maintainers: [maria]\n',
  'operators/mine/ci.yaml': 'reviewers: [alice, alan]\n',
  'operators/mine/notes.md': '1\n',
}
const createPullCommits = (more: OriginFiles = {}) => {
  lastPullNumber += 1
  baseCommit = scenario.origin.commit({ ...baseBranchFiles, ...more })
  headCommit = scenario.origin.commit(
    { ...baseBranchFiles, ...more, 'operators/mine/notes.md': `${lastPullNumber}\n` },
    [baseCommit],
  )
}
beforeEach(() => createPullCommits())

function createPullEventPayload(action: string, sender: GitHubAccount, more: object = {}): unknown {
  const { repository } = createTestPullSnapshot()
  return {
    action,
    repository: { name: repository.name, owner: { login: repository.owner } },
    installation: { id: 1 },
    pull_request: { number: lastPullNumber, head: { sha: headCommit } },
    sender: { id: sender.id, login: sender.login, type: sender.kind === 'bot' ? 'Bot' : 'User' },
    ...more,
  }
}
const deliverPullRequestEvent = async (action: string, login: string) => {
  const push = parsePushFromDelivery(
    'pull_request',
    createPullEventPayload(action, scenario.fakeAccounts.person(login)),
  )
  await store.accept(
    {
      guid: `${lastPullNumber} ${action} ${login} ${headCommit}`,
      event: 'pull_request',
      body: new Uint8Array(),
    },
    [],
    push,
  )
}
const evaluateAndListFindingRules = async () => {
  await scenario.fetchPull(baseCommit, headCommit, lastPullNumber)
  const author = scenario.fakeAccounts.person('alice')
  const { verdict } = await scenario.evaluateSnapshot(
    createTestPullSnapshot({
      pull: toPullNumber(lastPullNumber),
      author,
      base: baseCommit,
      head: headCommit,
    }),
    { memory: store },
  )
  return verdict.outcomes.find(({ check }) => check === 'ownership')?.findings.map(({ rule }) => rule)
}

describe('T24: a head', () => {
  test('that its author opened the pull request with, or pushed, needs no confirmation', async () => {
    await deliverPullRequestEvent('opened', 'alice')
    expect(await evaluateAndListFindingRules()).toEqual([])
    createPullCommits()
    await deliverPullRequestEvent('synchronize', 'alice')
    expect(await evaluateAndListFindingRules()).toEqual([])
  })
  test('waits if a person without ownership pushed it, but not if an owner or a maintainer did', async () => {
    await deliverPullRequestEvent('synchronize', 'mallory')
    expect(await evaluateAndListFindingRules()).toEqual(['foreign-push'])
    for (const login of ['alan', 'maria']) {
      createPullCommits()
      await deliverPullRequestEvent('synchronize', login)
      expect(await evaluateAndListFindingRules()).toEqual([])
    }
  })
  test('that the author pushed needs no confirmation even if another person pushes it again', async () => {
    await deliverPullRequestEvent('synchronize', 'alice')
    await deliverPullRequestEvent('synchronize', 'mallory')
    expect(await evaluateAndListFindingRules()).toEqual([])
  })
  test('is not attributed to the author after reopening, labeling, or retargeting', async () => {
    await deliverPullRequestEvent('synchronize', 'mallory')
    for (const action of ['reopened', 'labeled', 'edited']) await deliverPullRequestEvent(action, 'alice')
    expect(await evaluateAndListFindingRules()).toEqual(['foreign-push'])
  })
  test('without any delivery waits only if the configuration requires confirmation', async () => {
    expect(await evaluateAndListFindingRules()).toEqual([])
    createPullCommits(confirmUnknownPushesConfig)
    expect(await evaluateAndListFindingRules()).toEqual(['foreign-push'])
    await deliverPullRequestEvent('synchronize', 'alice')
    expect(await evaluateAndListFindingRules()).toEqual([])
  })
  test('with a lost delivery waits if the pull request had an earlier delivery', async () => {
    await deliverPullRequestEvent('opened', 'alice')
    expect(await evaluateAndListFindingRules()).toEqual([])
    const previousHead = headCommit
    headCommit = scenario.origin.commit(
      { ...baseBranchFiles, 'operators/mine/notes.md': `pushed by an outsider ${lastPullNumber}\n` },
      [previousHead],
    )
    expect(await evaluateAndListFindingRules()).toEqual(['foreign-push'])
    // The delivery arrives late.
    await deliverPullRequestEvent('synchronize', 'mallory')
    expect(await evaluateAndListFindingRules()).toEqual(['foreign-push'])
    headCommit = scenario.origin.commit(
      { ...baseBranchFiles, 'operators/mine/notes.md': `author ${lastPullNumber}\n` },
      [headCommit],
    )
    expect(await evaluateAndListFindingRules()).toEqual(['foreign-push'])
    await deliverPullRequestEvent('synchronize', 'alice')
    expect(await evaluateAndListFindingRules()).toEqual([])
  })
  test('does not make another pull request wait', async () => {
    await deliverPullRequestEvent('synchronize', 'mallory')
    createPullCommits()
    expect(await evaluateAndListFindingRules()).toEqual([])
  })
  test('uses the configuration of the base, not of the pull request', async () => {
    baseCommit = scenario.origin.commit({ ...baseBranchFiles, ...confirmUnknownPushesConfig })
    headCommit = scenario.origin.commit(
      { ...baseBranchFiles, 'operators/mine/notes.md': `x${lastPullNumber}\n` },
      [baseCommit],
    )
    expect(await evaluateAndListFindingRules()).toContain('foreign-push')
  })
})

test('a delivery does not report a push if its fields are missing or inconsistent', () => {
  const alice = scenario.fakeAccounts.person('alice')
  const payload = createPullEventPayload('synchronize', alice, { after: headCommit })
  expect(parsePushFromDelivery('pull_request', payload)).toMatchObject({
    head: headCommit,
    pusher: alice,
    pull: lastPullNumber,
  })
  for (const [event, body] of [
    ['push', payload],
    ['pull_request_review', payload],
    ['pull_request', createPullEventPayload('synchronize', alice, { after: '0'.repeat(40) })],
    ['pull_request', createPullEventPayload('synchronize', alice, { sender: undefined })],
    ['pull_request', createPullEventPayload('synchronize', alice, { sender: { id: '7', login: 'alice' } })],
    ['pull_request', createPullEventPayload('synchronize', alice, { pull_request: { number: 1 } })],
    ['pull_request', createPullEventPayload('closed', alice)],
    ['pull_request', null],
  ] as const)
    expect(parsePushFromDelivery(event, body)).toBeUndefined()
})
