// T24, from delivery to verdict: the pusher of a head comes from recorded webhook deliveries in a real store.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { evaluatePullSnapshot } from '../../../src/evaluate/evaluate.ts'
import { parsePushFromDelivery } from '../../../src/server/edge/push-of-delivery.ts'
import { toPullNumber, type CommitSha } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../../src/pull-request/snapshot.ts'
import type { Store } from '../../../src/ports/store.ts'
import { openPreparedStore } from '../../adapters/store/prepared-store.ts'
import { createSnapshot } from '../../policy/gate-builders.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { systemTestClock } from '../../adapters/store/sample-records.ts'
import { openOwnershipScenario, type OwnershipScenario } from './ownership-scenario.ts'

let scenario: OwnershipScenario
let store: Store
beforeAll(async () => {
  scenario = await openOwnershipScenario('pushers')
  store = await openPreparedStore({ clock: systemTestClock })
}, 180_000)
afterAll(async () => {
  await store.close()
  await scenario.close()
})

let lastPullNumber = 0
let baseCommit: CommitSha
let headCommit: CommitSha
const confirmUnknownPushesConfig = { '.github/catalog-bot.yml': 'approvals: {confirmUnknownPushes: true}\n' }
const baseFiles: OriginFiles = {
  'config.yaml': 'maintainers: [maria]\n',
  'operators/mine/ci.yaml': 'reviewers: [alice, alan]\n',
  'operators/mine/notes.md': '1\n',
}
const createPull = (more: OriginFiles = {}) => {
  lastPullNumber += 1
  baseCommit = scenario.origin.commit({ ...baseFiles, ...more })
  headCommit = scenario.origin.commit(
    { ...baseFiles, ...more, 'operators/mine/notes.md': `${lastPullNumber}\n` },
    [baseCommit],
  )
}
beforeEach(() => createPull())

function createPayload(action: string, sender: GitHubAccount, more: object = {}): unknown {
  const { repository } = createSnapshot()
  return {
    action,
    repository: { name: repository.name, owner: { login: repository.owner } },
    installation: { id: 1 },
    pull_request: { number: lastPullNumber, head: { sha: headCommit } },
    sender: { id: sender.id, login: sender.login, type: sender.kind === 'bot' ? 'Bot' : 'User' },
    ...more,
  }
}
const deliverPullEvent = async (action: string, login: string) => {
  const push = parsePushFromDelivery(
    'pull_request',
    createPayload(action, scenario.fakeAccounts.person(login)),
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
const evaluateFindingRules = async () => {
  scenario.origin.branch('main', baseCommit)
  scenario.origin.pull(lastPullNumber, headCommit)
  await scenario.mirror.fetch('main', toPullNumber(lastPullNumber))
  const author = scenario.fakeAccounts.person('alice')
  const { verdict } = await evaluatePullSnapshot(
    createSnapshot({ pull: toPullNumber(lastPullNumber), author, base: baseCommit, head: headCommit }),
    {
      repository: scenario.mirror,
      loader: { load: async () => undefined },
      ask: async (question) => scenario.fakeAccounts.answer(question),
      memory: store,
    },
  )
  return verdict.outcomes.find(({ check }) => check === 'ownership')?.findings.map(({ rule }) => rule)
}

describe('T24: a head', () => {
  test('that its author opened the pull request with, or pushed, needs no confirmation', async () => {
    await deliverPullEvent('opened', 'alice')
    expect(await evaluateFindingRules()).toEqual([])
    createPull()
    await deliverPullEvent('synchronize', 'alice')
    expect(await evaluateFindingRules()).toEqual([])
  })
  test('waits if a person without ownership pushed it, but not if an owner or a maintainer did', async () => {
    await deliverPullEvent('synchronize', 'mallory')
    expect(await evaluateFindingRules()).toEqual(['foreign-push'])
    for (const login of ['alan', 'maria']) {
      createPull()
      await deliverPullEvent('synchronize', login)
      expect(await evaluateFindingRules()).toEqual([])
    }
  })
  test('that the author pushed needs no confirmation even if another person pushes it again', async () => {
    await deliverPullEvent('synchronize', 'alice')
    await deliverPullEvent('synchronize', 'mallory')
    expect(await evaluateFindingRules()).toEqual([])
  })
  test('is not attributed to the author after reopening, labeling, or retargeting', async () => {
    await deliverPullEvent('synchronize', 'mallory')
    for (const action of ['reopened', 'labeled', 'edited']) await deliverPullEvent(action, 'alice')
    expect(await evaluateFindingRules()).toEqual(['foreign-push'])
  })
  test('without any delivery waits only if the configuration requires confirmation', async () => {
    expect(await evaluateFindingRules()).toEqual([])
    createPull(confirmUnknownPushesConfig)
    expect(await evaluateFindingRules()).toEqual(['foreign-push'])
    await deliverPullEvent('synchronize', 'alice')
    expect(await evaluateFindingRules()).toEqual([])
  })
  test('with a lost delivery waits if the pull request had an earlier delivery', async () => {
    await deliverPullEvent('opened', 'alice')
    expect(await evaluateFindingRules()).toEqual([])
    const previousHead = headCommit
    headCommit = scenario.origin.commit(
      { ...baseFiles, 'operators/mine/notes.md': `stranger ${lastPullNumber}\n` },
      [previousHead],
    )
    expect(await evaluateFindingRules()).toEqual(['foreign-push'])
    // The delivery arrives late.
    await deliverPullEvent('synchronize', 'mallory')
    expect(await evaluateFindingRules()).toEqual(['foreign-push'])
    headCommit = scenario.origin.commit(
      { ...baseFiles, 'operators/mine/notes.md': `author ${lastPullNumber}\n` },
      [headCommit],
    )
    expect(await evaluateFindingRules()).toEqual(['foreign-push'])
    await deliverPullEvent('synchronize', 'alice')
    expect(await evaluateFindingRules()).toEqual([])
  })
  test('does not make another pull request wait', async () => {
    await deliverPullEvent('synchronize', 'mallory')
    createPull()
    expect(await evaluateFindingRules()).toEqual([])
  })
  test('uses the configuration of the base, not of the pull request', async () => {
    baseCommit = scenario.origin.commit({ ...baseFiles, ...confirmUnknownPushesConfig })
    headCommit = scenario.origin.commit({ ...baseFiles, 'operators/mine/notes.md': `x${lastPullNumber}\n` }, [
      baseCommit,
    ])
    expect(await evaluateFindingRules()).toContain('foreign-push')
  })
})

describe('a delivery', () => {
  test('does not report a push if its fields are missing or inconsistent', () => {
    const alice = scenario.fakeAccounts.person('alice')
    const whole = createPayload('synchronize', alice, { after: headCommit })
    expect(parsePushFromDelivery('pull_request', whole)).toMatchObject({
      head: headCommit,
      pusher: alice,
      pull: lastPullNumber,
    })
    for (const [event, body] of [
      ['push', whole],
      ['pull_request_review', whole],
      ['pull_request', createPayload('synchronize', alice, { after: '0'.repeat(40) })],
      ['pull_request', createPayload('synchronize', alice, { sender: undefined })],
      ['pull_request', createPayload('synchronize', alice, { sender: { id: '7', login: 'alice' } })],
      ['pull_request', createPayload('synchronize', alice, { pull_request: { number: 1 } })],
      ['pull_request', createPayload('closed', alice)],
      ['pull_request', null],
    ] as const)
      expect(parsePushFromDelivery(event, body)).toBeUndefined()
  })
})
