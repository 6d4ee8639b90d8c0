// T24, from delivery to verdict: who pushed a head is what our own deliveries said, kept in a real store.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { examine } from '../../../src/examine/examine.ts'
import { pushOfDelivery } from '../../../src/app/edge/push-of-delivery.ts'
import { pullNumber, type CommitSha } from '../../../src/change/ids.ts'
import type { Person } from '../../../src/change/snapshot.ts'
import type { Store } from '../../../src/ports/store.ts'
import { openMadeStore } from '../../store/made-store.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { clock } from '../../store/sample-records.ts'
import { openWorld, type World } from './world.ts'

let world: World
let store: Store
beforeAll(async () => {
  world = await openWorld('pushers')
  store = await openMadeStore({ clock })
}, 180_000)
afterAll(async () => {
  await store.close()
  await world.close()
})

let pulls = 0
let from: CommitSha
let head: CommitSha
const strict = { '.github/catalog-bot.yml': 'approvals: {confirmUnknownPushes: true}\n' }
const base: Files = {
  'config.yaml': 'maintainers: [maria]\n',
  'operators/mine/ci.yaml': 'reviewers: [alice, alan]\n',
  'operators/mine/notes.md': '1\n',
}
const begin = (more: Files = {}) => {
  pulls += 1
  from = world.origin.commit({ ...base, ...more })
  head = world.origin.commit({ ...base, ...more, 'operators/mine/notes.md': `${pulls}\n` }, [from])
}
beforeEach(() => begin())

function payload(action: string, sender: Person, more: object = {}): unknown {
  const { repository } = aSnapshot()
  return {
    action,
    repository: { name: repository.name, owner: { login: repository.owner } },
    installation: { id: 1 },
    pull_request: { number: pulls, head: { sha: head } },
    sender: { id: sender.id, login: sender.login, type: sender.kind === 'bot' ? 'Bot' : 'User' },
    ...more,
  }
}
const deliver = async (action: string, login: string) => {
  const push = pushOfDelivery('pull_request', payload(action, world.people.person(login)))
  await store.accept(
    { guid: `${pulls} ${action} ${login} ${head}`, event: 'pull_request', body: new Uint8Array() },
    [],
    push,
  )
}
const rules = async () => {
  world.origin.branch('main', from)
  world.origin.pull(pulls, head)
  await world.mirror.fetch('main', pullNumber(pulls))
  const author = world.people.person('alice')
  const { verdict } = await examine(aSnapshot({ pull: pullNumber(pulls), author, base: from, head }), {
    repository: world.mirror,
    loader: { load: async () => undefined },
    ask: async (question) => world.people.answer(question),
    memory: store,
  })
  return verdict.outcomes.find(({ check }) => check === 'ownership')?.findings.map(({ rule }) => rule)
}

describe('T24: a head', () => {
  test('that its author opened the pull request with, or pushed, needs no confirmation', async () => {
    await deliver('opened', 'alice')
    expect(await rules()).toEqual([])
    begin()
    await deliver('synchronize', 'alice')
    expect(await rules()).toEqual([])
  })
  test('that a stranger pushed waits, that another owner or a maintainer pushed does not', async () => {
    await deliver('synchronize', 'mallory')
    expect(await rules()).toEqual(['foreign-push'])
    for (const login of ['alan', 'maria']) {
      begin()
      await deliver('synchronize', login)
      expect(await rules()).toEqual([])
    }
  })
  test('that the author pushed once stays theirs when a stranger pushes it again', async () => {
    await deliver('synchronize', 'alice')
    await deliver('synchronize', 'mallory')
    expect(await rules()).toEqual([])
  })
  test('is not made the author’s by reopening, labels or retargeting', async () => {
    await deliver('synchronize', 'mallory')
    for (const action of ['reopened', 'labeled', 'edited']) await deliver(action, 'alice')
    expect(await rules()).toEqual(['foreign-push'])
  })
  test('of which no delivery came waits only where the configuration says so', async () => {
    expect(await rules()).toEqual([])
    begin(strict)
    expect(await rules()).toEqual(['foreign-push'])
    await deliver('synchronize', 'alice')
    expect(await rules()).toEqual([])
  })
  test('whose own delivery was lost waits once any of the pull request came, until somebody confirms it', async () => {
    await deliver('opened', 'alice')
    expect(await rules()).toEqual([])
    const told = head
    head = world.origin.commit({ ...base, 'operators/mine/notes.md': `stranger ${pulls}\n` }, [told])
    expect(await rules()).toEqual(['foreign-push'])
    // The delivery comes late after all.
    await deliver('synchronize', 'mallory')
    expect(await rules()).toEqual(['foreign-push'])
    head = world.origin.commit({ ...base, 'operators/mine/notes.md': `author ${pulls}\n` }, [head])
    expect(await rules()).toEqual(['foreign-push'])
    await deliver('synchronize', 'alice')
    expect(await rules()).toEqual([])
  })
  test('waits in no other pull request for it', async () => {
    await deliver('synchronize', 'mallory')
    begin()
    expect(await rules()).toEqual([])
  })
  test('is not taken from a pull request’s own configuration', async () => {
    from = world.origin.commit({ ...base, ...strict })
    head = world.origin.commit({ ...base, 'operators/mine/notes.md': `x${pulls}\n` }, [from])
    expect(await rules()).toContain('foreign-push')
  })
})

describe('a delivery', () => {
  test('says nothing about pushes where its parts are missing or do not agree', () => {
    const alice = world.people.person('alice')
    const whole = payload('synchronize', alice, { after: head })
    expect(pushOfDelivery('pull_request', whole)).toMatchObject({ head, pusher: alice, pull: pulls })
    for (const [event, body] of [
      ['push', whole],
      ['pull_request_review', whole],
      ['pull_request', payload('synchronize', alice, { after: '0'.repeat(40) })],
      ['pull_request', payload('synchronize', alice, { sender: undefined })],
      ['pull_request', payload('synchronize', alice, { sender: { id: '7', login: 'alice' } })],
      ['pull_request', payload('synchronize', alice, { pull_request: { number: 1 } })],
      ['pull_request', payload('closed', alice)],
      ['pull_request', null],
    ] as const)
      expect(pushOfDelivery(event, body)).toBeUndefined()
  })
})
