// What automation accounts may do alone, and how somebody else could try to get their rights.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { userId } from '../../../src/change/ids.ts'
import type { Person, Snapshot } from '../../../src/change/snapshot.ts'
import { matchesName } from '../../../src/config/automation.ts'
import { parseConfig } from '../../../src/config/config.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, People, type World } from './world.ts'

let world: World
const bot: Person = { id: userId(77), login: 'release-bot[bot]', kind: 'bot' }
beforeAll(async () => {
  world = await openWorld('automation')
})
beforeEach(() => {
  world.people = new People()
  for (const login of ['alice', 'maria', 'mallory', 'nina']) world.people.person(login)
  world.people.accounts.set('release-bot[bot]', bot)
})
afterAll(() => world.close())

const configOf = (account: string, more = '') => `automation:
  - account: ${account}
    packages: [mine, nightly-*]
    channels: ['*-nightly', stable]
    changes: [add-bundle, add-edge]
${more}`
const place = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const files = (account = "'release-bot[bot]'", more = ''): Files => ({
  '.github/catalog-bot.yml': configOf(account, more),
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  [place('mine')]: catalogFile('mine', ['1.0.0']),
  [place('victim')]: catalogFile('victim', ['1.0.0']),
})
const added = (name = 'mine') => catalogFile(name, ['1.0.0', '1.1.0'])
const ours: Partial<Snapshot> = { headRepository: { owner: 'Acme', name: 'Catalog' } }

/** The verdict on a pull request that makes the base's files these. */
async function verdictOn(
  change: Files,
  {
    author = bot,
    snapshot = ours,
    base = files(),
  }: { author?: Person; snapshot?: object; base?: Files } = {},
) {
  const { verdict } = await world.pull(base, { ...base, ...change }, { author, snapshot })
  return verdict.kind
}

describe('an automation account', () => {
  test('adds versions to its packages alone, in its channels', async () => {
    expect(await verdictOn({ [place('mine')]: added() })).toBe('merge')
  })
  test('changes no other package', async () => {
    expect(await verdictOn({ [place('victim')]: added('victim') })).toBe('wait')
    // Blobs of its package in the directory of another are that one's owners' matter as well.
    const both = `${catalogFile('victim', ['1.0.0'])}---\n${added()}`
    expect(await verdictOn({ [place('victim')]: both, [place('mine')]: '' })).not.toBe('merge')
  })
  test('touches no other channel, whether by an entry or by a bundle that such a channel offers', async () => {
    const renamed = (text: string) => text.replaceAll('stable', 'candidate')
    const base = { ...files(), [place('mine')]: renamed(catalogFile('mine', ['1.0.0'])) }
    expect(await verdictOn({ [place('mine')]: renamed(added()) }, { base })).toBe('wait')
    const nightly = (text: string) => text.replaceAll('stable', 'edge-nightly')
    const own = { ...files(), [place('mine')]: nightly(catalogFile('mine', ['1.0.0'])) }
    expect(await verdictOn({ [place('mine')]: nightly(added()) }, { base: own })).toBe('merge')
  })
  test('makes no other kind of change alone: not with what it may do in the same pull request either', async () => {
    const deprecated = `${added()}---\nschema: olm.deprecations\npackage: mine\nentries:\n  - reference: { schema: olm.bundle, name: mine.v1.0.0 }\n    message: old\n`
    expect(await verdictOn({ [place('mine')]: deprecated })).toBe('wait')
    expect(await verdictOn({ [place('mine')]: added(), 'operators/mine/notes.md': 'x\n' })).toBe('wait')
    expect(
      await verdictOn({ 'operators/mine/ci.yaml': "reviewers:\n  - alice\n  - 'release-bot[bot]'\n" }),
    ).not.toBe('merge')
    expect(await verdictOn({ [place('nightly-new')]: catalogFile('nightly-new', ['1.0.0']) })).toBe('wait')
  })
  test('never changes what lies outside of packages, its own grant least of all', async () => {
    const widened = { '.github/catalog-bot.yml': configOf("'release-bot[bot]'").replace('mine,', "'*',") }
    expect(await verdictOn(widened)).toBe('wait')
    expect(await verdictOn({ ...widened, [place('victim')]: added('victim') })).toBe('wait')
  })
  test('approves nothing', async () => {
    const from = world.origin.commit(files())
    const head = world.origin.commit({ ...files(), [place('mine')]: added() }, [from])
    const reviews = [world.review('nina', head, { author: bot })]
    expect((await world.judge(from, head, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
  })
})

describe('its rights are its own', () => {
  const change = { [place('mine')]: added() }
  test('and count for no head that somebody else pushed, or nobody knows who', async () => {
    expect(await verdictOn(change, { snapshot: { ...ours, pusher: bot } })).toBe('merge')
    for (const pusher of [world.people.person('mallory'), world.people.person('maria'), null])
      expect(await verdictOn(change, { snapshot: { ...ours, pusher } })).toBe('wait')
  })
  test('and count for no branch of another repository', async () => {
    for (const headRepository of [{ owner: 'mallory', name: 'catalog' }, null])
      expect(await verdictOn(change, { snapshot: { headRepository } })).toBe('wait')
  })
  test('whoever registers a login like it gets none', async () => {
    for (const login of ['release-bot', 'Release-Bot'])
      expect(await verdictOn(change, { author: world.people.person(login) })).toBe('wait')
    const other: Person = { ...bot, id: userId(78) }
    expect(await verdictOn(change, { author: other })).toBe('wait')
    const pinned = files("'release-bot[bot]:77'")
    expect(await verdictOn(change, { base: pinned })).toBe('merge')
    expect(await verdictOn(change, { base: files("'release-bot[bot]:78'") })).toBe('wait')
  })
  test('a person of a machine account works from a fork, if the account pushed itself', async () => {
    const machine = world.people.person('machine')
    const base = files('machine')
    const snapshot = { headRepository: { owner: 'machine', name: 'catalog' }, pusher: machine }
    expect(await verdictOn(change, { author: machine, base, snapshot })).toBe('merge')
    const pusher = world.people.person('mallory')
    expect(await verdictOn(change, { author: machine, base, snapshot: { ...snapshot, pusher } })).toBe('wait')
    // Not even where the owner of the package pushed: what an owner may do, they ask for themselves.
    const limited = files('machine', 'permissions:\n  owner:\n    add-bundle: maintainer\n')
    const owner = { ...snapshot, pusher: world.people.person('alice') }
    expect(await verdictOn(change, { author: machine, base: limited, snapshot: owner })).toBe('wait')
  })
  test('the base says what they are: a configuration that the pull request brings says nothing', async () => {
    const { '.github/catalog-bot.yml': _none, ...base } = files()
    const grant = { '.github/catalog-bot.yml': configOf("'release-bot[bot]'") }
    expect(await verdictOn({ ...change, ...grant }, { base })).toBe('wait')
  })
})

test('a grant names accounts, and no kind of change that is for people', () => {
  const kindOf = (account: string, changes: string) =>
    parseConfig(
      `automation:\n  - account: ${JSON.stringify(account)}\n    packages: ['*']\n    changes: [${changes}]\n`,
    ).kind
  expect(kindOf('release-bot[bot]', 'add-bundle')).toBe('config')
  for (const account of ['organization/team', 'a b', '', 'x:0', '*'])
    expect([account, kindOf(account, 'add-bundle')]).toEqual([account, 'unreadable'])
  for (const kind of ['add-package', 'remove-package', 'add-catalog', 'edit-owners', 'anything', ''])
    expect([kind, kindOf('x', kind)]).toEqual([kind, 'unreadable'])
})

test('a pattern matches whole names, in linear time', () => {
  expect(
    ['stable', '4.20-nightly', '-nightly', 'nightly', '4.20-nightly-x'].filter((name) =>
      matchesName('*-nightly', name),
    ),
  ).toEqual(['4.20-nightly', '-nightly'])
  expect([matchesName('a*a', 'a'), matchesName('a*a', 'aa'), matchesName('*', '')]).toEqual([
    false,
    true,
    true,
  ])
  expect(['foo', 'fooo', 'xfoo', 'FOO', '!foo'].filter((name) => matchesName('foo', name))).toEqual(['foo'])
  expect(matchesName('!foo', 'bar')).toBe(false)
  expect(matchesName(`${'*a'.repeat(90)}b`, 'a'.repeat(1_000_000))).toBe(false)
})
