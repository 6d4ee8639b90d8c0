// What an attacker can change, and how they hide it: threats T01 to T18. Every attack is made in a real repository.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { catalogFile } from './blobs.ts'
import { openWorld, type World } from './world.ts'
import type { Files } from '../git/origin.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('changes')
})
afterAll(() => world.close())

const reviewers = (...logins: string[]) => `reviewers:\n${logins.map((login) => `  - ${login}\n`).join('')}`

const base: Files = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/victim/ci.yaml': reviewers('vera'),
  'operators/mine/ci.yaml': reviewers('alice', 'alan'),
  'catalogs/v4.20/victim/catalog.yaml': catalogFile('victim', ['1.0.0', '1.1.0']),
  'catalogs/v4.20/mine/catalog.yaml': catalogFile('mine', ['1.0.0']),
}
const updated: Files = {
  ...base,
  'catalogs/v4.20/mine/catalog.yaml': catalogFile('mine', ['1.0.0', '1.1.0']),
}

describe('an owner', () => {
  test('adds a bundle to their own package alone', async () => {
    const { verdict, outcome } = await world.pull(base, updated, { author: 'alice' })
    expect(outcome.findings).toEqual([])
    expect(verdict.kind).toBe('merge')
  })
  test('is asked about once: their login, and nothing else', async () => {
    const { asked } = await world.pull(base, updated, { author: 'alice' })
    expect(asked).toEqual([{ kind: 'user', login: 'alice' }])
  })
})

describe('a stranger', () => {
  test('waits for an owner, and is told which', async () => {
    const { verdict, outcome, rules } = await world.pull(base, updated, { author: 'mallory' })
    expect(verdict.kind).toBe('wait')
    expect(rules).toEqual(['not-owner'])
    expect(outcome.findings[0]).toMatchObject({
      at: { file: 'catalogs/v4.20/mine/catalog.yaml' },
      data: { package: 'mine', owners: ['alice', 'alan'] },
    })
    expect(outcome.waiting).toEqual([{ what: 'an owner of mine approves', who: ['alice', 'alan'] }])
  })
})
