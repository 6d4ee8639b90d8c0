// Whom an open approval is asked of: people whose word counts, each of them once.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('asked')
  for (const login of ['alice', 'olga', 'vera', 'maria', 'mallory']) world.people.person(login)
})
afterAll(() => world.close())

const place = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const owned = (name: string, ...people: string[]): Files => ({
  [`operators/${name}/ci.yaml`]: `reviewers: [${people.join(', ')}]\n`,
  [place(name)]: catalogFile(name, ['1.0.0']),
})
const added = (...names: string[]): Files =>
  Object.fromEntries(names.map((name) => [place(name), catalogFile(name, ['1.0.0', '1.1.0'])]))

async function asked(base: Files, change: Files, author = 'mallory') {
  const all = { 'config.yaml': 'maintainers: [maria]\n', ...base }
  const { verdict, outcome } = await world.pull(all, { ...all, ...change }, { author })
  expect(verdict.kind).toBe('wait')
  return { waiting: outcome.waiting, findings: outcome.findings }
}

test('of another owner where there is one, of a maintainer where there is none', async () => {
  const joins = (...people: string[]) => ({ 'operators/foo/ci.yaml': `reviewers: [${people.join(', ')}]\n` })
  expect(
    (await asked(owned('foo', 'alice', 'vera'), joins('alice', 'vera', 'olga'), 'alice')).waiting,
  ).toEqual([{ what: 'an owner of foo must approve', who: ['vera'] }])
  expect((await asked(owned('foo', 'alice'), joins('alice', 'olga'), 'alice')).waiting).toEqual([
    { what: 'a maintainer must approve the change to foo', who: ['maria'] },
  ])
})

test('of one person once, who may give several approvals', async () => {
  const base = { ...owned('foo', 'maria', 'olga'), ...owned('bar', 'maria') }
  const { waiting } = await asked(base, added('foo', 'bar'))
  expect(waiting).toEqual([{ what: 'an owner of bar, foo must approve', who: ['maria'] }])
  // Whose word counts for less than all is asked of no group that they are not in.
  const two = { ...owned('foo', 'olga', 'vera'), ...owned('bar', 'olga', 'alice') }
  expect((await asked(two, added('foo', 'bar'))).waiting.map(({ who }) => who)).toEqual([
    ['olga', 'alice'],
    ['olga', 'vera'],
  ])
})

test('of a maintainer alone, where a maintainer must agree to something else anyway', async () => {
  const base = owned('foo', 'maria', 'olga')
  const { waiting } = await asked(base, { ...added('foo'), ...owned('new', 'mallory') })
  expect(waiting.map(({ who }) => who)).toEqual([['maria']])
  expect(waiting[0]?.what).toBe('a maintainer must approve the change to new, foo')
})
