// The app's own way from a snapshot to a verdict: which tree the configuration comes from (T34), and what a pull
// request's title can do to the merge message (T55).
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pullNumber, userId, type UserId } from '../../../src/change/ids.ts'
import type { Person } from '../../../src/change/snapshot.ts'
import { examine } from '../../../src/examine/examine.ts'
import { mergeMessage } from '../../../src/examine/stand-on-base.ts'
import type { PullMemory } from '../../../src/ports/pull-memory.ts'
import { forgetfulMemory } from '../../../src/examine/forgetful.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('examined')
})
afterAll(() => world.close())

describe('T34: the configuration', () => {
  test('is the one at the base tip, whatever the pull request makes of it', async () => {
    const config = '.github/catalog-bot.yml'
    const base: Files = {
      'operators/mine/ci.yaml': 'reviewers: [alice]\n',
      [config]: 'merge: {enabled: false}\n',
    }
    const from = world.origin.commit(base)
    for (const text of ['owners: {maintainers: [mallory]}\n', 'nonsense: true\n']) {
      const head = world.origin.commit({ ...base, [config]: text }, [from])
      world.origin.branch('main', from)
      world.origin.pull(7, head)
      await world.mirror.fetch('main', pullNumber(7))
      const author = world.people.person('mallory')
      const { config: used, verdict } = await examine(aSnapshot({ author, base: from, head }), {
        repository: world.mirror,
        loader: { load: async () => undefined },
        ask: async (question) => world.people.answer(question),
        memory: forgetfulMemory,
      })
      expect(used.merge.enabled).toBe(false)
      expect(used.owners.maintainers).toEqual([])
      expect(verdict.kind).not.toBe('merge')
    }
  })
})

test('a configuration that is too large to be read is not read as none', async () => {
  const base: Files = {
    'operators/mine/ci.yaml': 'reviewers: [mallory]\n',
    '.github/catalog-bot.yml': `merge: {enabled: false}\n${'#\n'.repeat(600_000)}`,
  }
  const from = world.origin.commit(base)
  const head = world.origin.commit({ ...base, 'operators/mine/README.md': 'x\n' }, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, head)
  await world.mirror.fetch('main', pullNumber(7))
  const { verdict } = await examine(aSnapshot({ author: world.people.person('mallory'), base: from, head }), {
    repository: world.mirror,
    loader: { load: async () => undefined },
    ask: async (question) => world.people.answer(question),
    memory: forgetfulMemory,
  })
  expect(verdict.kind).toBe('blocked')
})

describe('T25: a login that is registered again', () => {
  test('is remembered from the first look on, and gives its new holder nothing', async () => {
    const memory: PullMemory & { readonly known: Map<string, UserId> } = {
      ...forgetfulMemory,
      known: new Map(),
      async firstSeenAccounts(_repository, accounts) {
        for (const [login, id] of accounts) if (!this.known.has(login)) this.known.set(login, id)
        return new Map(this.known)
      },
    }
    const base: Files = { 'operators/mine/ci.yaml': 'reviewers: [olga]\n', 'operators/mine/notes.md': '1\n' }
    const from = world.origin.commit(base)
    const head = world.origin.commit({ ...base, 'operators/mine/notes.md': '2\n' }, [from])
    world.origin.branch('main', from)
    world.origin.pull(7, head)
    await world.mirror.fetch('main', pullNumber(7))
    const look = async (author: Person) => {
      world.people.accounts.set('olga', author)
      const { verdict } = await examine(aSnapshot({ author, base: from, head }), {
        repository: world.mirror,
        loader: { load: async () => undefined },
        ask: async (question) => world.people.answer(question),
        memory,
      })
      return verdict.outcomes.find(({ check }) => check === 'ownership')?.findings.map(({ rule }) => rule)
    }
    expect(await look({ id: userId(1), login: 'olga', kind: 'user' })).toEqual([])
    expect(await look({ id: userId(2), login: 'olga', kind: 'user' })).toContain('owner-login-reused')
  })
})

describe('T55: the merge message', () => {
  test('holds nothing of a title that closes issues, calls people or starts a new line', () => {
    for (const title of [
      'Fix\n\nCloses #1',
      'closes #12',
      '@everyone look',
      'x\rCo-authored-by: a <b@c>',
      '\u202eevil',
      'resolves https://github.com/a/b/issues/3',
    ]) {
      const message = mergeMessage(aSnapshot({ title }))
      expect(message.split('\n').length).toBe(4)
      expect(message).not.toMatch(/(?:close|fix|resolve)[sd]?:?\s+(?:#|https?:)\d*/i)
      expect(message).not.toMatch(/(?:^|[^\w`\u200b\u2060])@\w/)
      expect(message).not.toMatch(/[\r\u202e]/)
    }
  })
})
