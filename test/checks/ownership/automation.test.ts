// What automation accounts can do alone, and how other accounts could try to get their permissions.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { toUserId } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount, PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import { matchesNamePattern } from '../../../src/config/automation.ts'
import { parseConfig } from '../../../src/config/config.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { openOwnershipScenario, FakeAccounts, type OwnershipScenario } from './ownership-scenario.ts'

let scenario: OwnershipScenario
const releaseBot: GitHubAccount = { id: toUserId(77), login: 'release-bot[bot]', kind: 'bot' }
beforeAll(async () => {
  scenario = await openOwnershipScenario('automation')
})
beforeEach(() => {
  scenario.fakeAccounts = new FakeAccounts()
  for (const login of ['alice', 'maria', 'mallory', 'nina']) scenario.fakeAccounts.person(login)
  scenario.fakeAccounts.accounts.set('release-bot[bot]', releaseBot)
})
afterAll(() => scenario.close())

const automationConfig = (account: string, more = '') => `automation:
  - account: ${account}
    packages: [mine, nightly-*]
    channels: ['*-nightly', stable]
    changes: [add-bundle, add-edge]
${more}`
const catalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const createBaseFiles = (account = "'release-bot[bot]'", more = ''): OriginFiles => ({
  '.github/catalog-bot.yml': automationConfig(account, more),
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  [catalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']),
  [catalogPath('victim')]: createCatalogYaml('victim', ['1.0.0']),
})
const catalogWithNewBundle = (name = 'mine') => createCatalogYaml(name, ['1.0.0', '1.1.0'])
const sameRepositorySnapshot: Partial<PullSnapshot> = { headRepository: { owner: 'Acme', name: 'Catalog' } }

/** The verdict on a pull request that changes files of the base to these. */
async function evaluatePull(
  change: OriginFiles,
  {
    author = releaseBot,
    snapshot = sameRepositorySnapshot,
    base = createBaseFiles(),
  }: { author?: GitHubAccount; snapshot?: object; base?: OriginFiles } = {},
) {
  const { verdict } = await scenario.evaluatePull(base, { ...base, ...change }, { author, snapshot })
  return verdict.kind
}

describe('an automation account', () => {
  test('can add versions to its packages in its channels alone', async () => {
    expect(await evaluatePull({ [catalogPath('mine')]: catalogWithNewBundle() })).toBe('merge')
  })
  test('cannot change another package alone', async () => {
    expect(await evaluatePull({ [catalogPath('victim')]: catalogWithNewBundle('victim') })).toBe('wait')
    // Blobs of its package in the directory of another package also require the owners of that package.
    const both = `${createCatalogYaml('victim', ['1.0.0'])}---\n${catalogWithNewBundle()}`
    expect(await evaluatePull({ [catalogPath('victim')]: both, [catalogPath('mine')]: '' })).not.toBe('merge')
  })
  test('cannot change a channel that does not match its patterns', async () => {
    const renamed = (text: string) => text.replaceAll('stable', 'candidate')
    const base = {
      ...createBaseFiles(),
      [catalogPath('mine')]: renamed(createCatalogYaml('mine', ['1.0.0'])),
    }
    expect(await evaluatePull({ [catalogPath('mine')]: renamed(catalogWithNewBundle()) }, { base })).toBe(
      'wait',
    )
    const nightly = (text: string) => text.replaceAll('stable', 'edge-nightly')
    const own = { ...createBaseFiles(), [catalogPath('mine')]: nightly(createCatalogYaml('mine', ['1.0.0'])) }
    expect(
      await evaluatePull({ [catalogPath('mine')]: nightly(catalogWithNewBundle()) }, { base: own }),
    ).toBe('merge')
  })
  test('cannot make another kind of change alone, even together with an allowed one', async () => {
    const deprecated = `${catalogWithNewBundle()}---\nschema: olm.deprecations\npackage: mine\nentries:\n  - reference: { schema: olm.bundle, name: mine.v1.0.0 }\n    message: old\n`
    expect(await evaluatePull({ [catalogPath('mine')]: deprecated })).toBe('wait')
    expect(
      await evaluatePull({ [catalogPath('mine')]: catalogWithNewBundle(), 'operators/mine/notes.md': 'x\n' }),
    ).toBe('wait')
    expect(
      await evaluatePull({ 'operators/mine/ci.yaml': "reviewers:\n  - alice\n  - 'release-bot[bot]'\n" }),
    ).not.toBe('merge')
    expect(
      await evaluatePull({ [catalogPath('nightly-new')]: createCatalogYaml('nightly-new', ['1.0.0']) }),
    ).toBe('wait')
  })
  test('cannot change its grant alone', async () => {
    const widened = {
      '.github/catalog-bot.yml': automationConfig("'release-bot[bot]'").replace('mine,', "'*',"),
    }
    expect(await evaluatePull(widened)).toBe('wait')
    expect(await evaluatePull({ ...widened, [catalogPath('victim')]: catalogWithNewBundle('victim') })).toBe(
      'wait',
    )
  })
  test('cannot approve a pull request', async () => {
    const from = scenario.origin.commit(createBaseFiles())
    const head = scenario.origin.commit(
      { ...createBaseFiles(), [catalogPath('mine')]: catalogWithNewBundle() },
      [from],
    )
    const reviews = [scenario.createReview('nina', head, { author: releaseBot })]
    expect((await scenario.evaluate(from, head, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
  })
})

describe('the permissions of an automation account', () => {
  const change = { [catalogPath('mine')]: catalogWithNewBundle() }
  test('do not apply to a head that another account or an unknown one pushed', async () => {
    expect(await evaluatePull(change, { snapshot: { ...sameRepositorySnapshot, pusher: releaseBot } })).toBe(
      'merge',
    )
    for (const pusher of [
      scenario.fakeAccounts.person('mallory'),
      scenario.fakeAccounts.person('maria'),
      null,
    ])
      expect(await evaluatePull(change, { snapshot: { ...sameRepositorySnapshot, pusher } })).toBe('wait')
  })
  test('do not apply to a branch of another repository', async () => {
    for (const headRepository of [{ owner: 'mallory', name: 'catalog' }, null])
      expect(await evaluatePull(change, { snapshot: { headRepository } })).toBe('wait')
  })
  test('do not apply to an account with a similar login or another id', async () => {
    for (const login of ['release-bot', 'Release-Bot'])
      expect(await evaluatePull(change, { author: scenario.fakeAccounts.person(login) })).toBe('wait')
    const other: GitHubAccount = { ...releaseBot, id: toUserId(78) }
    expect(await evaluatePull(change, { author: other })).toBe('wait')
    const pinned = createBaseFiles("'release-bot[bot]:77'")
    expect(await evaluatePull(change, { base: pinned })).toBe('merge')
    expect(await evaluatePull(change, { base: createBaseFiles("'release-bot[bot]:78'") })).toBe('wait')
  })
  test('apply to the fork of a machine account if this account pushed the head', async () => {
    const machine = scenario.fakeAccounts.person('machine')
    const base = createBaseFiles('machine')
    const snapshot = { headRepository: { owner: 'machine', name: 'catalog' }, pusher: machine }
    expect(await evaluatePull(change, { author: machine, base, snapshot })).toBe('merge')
    const pusher = scenario.fakeAccounts.person('mallory')
    expect(await evaluatePull(change, { author: machine, base, snapshot: { ...snapshot, pusher } })).toBe(
      'wait',
    )
    // This is also true if the owner of the package pushed, who must open a separate pull request.
    const limited = createBaseFiles('machine', 'permissions:\n  owner:\n    add-bundle: maintainer\n')
    const owner = { ...snapshot, pusher: scenario.fakeAccounts.person('alice') }
    expect(await evaluatePull(change, { author: machine, base: limited, snapshot: owner })).toBe('wait')
  })
  test('come from the configuration of the base, not of the pull request', async () => {
    const { '.github/catalog-bot.yml': _none, ...base } = createBaseFiles()
    const grant = { '.github/catalog-bot.yml': automationConfig("'release-bot[bot]'") }
    expect(await evaluatePull({ ...change, ...grant }, { base })).toBe('wait')
  })
})

test('a grant accepts only accounts, and only kinds of changes that are not reserved for people', () => {
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

test('a pattern matches entire names, in linear time', () => {
  expect(
    ['stable', '4.20-nightly', '-nightly', 'nightly', '4.20-nightly-x'].filter((name) =>
      matchesNamePattern('*-nightly', name),
    ),
  ).toEqual(['4.20-nightly', '-nightly'])
  expect([
    matchesNamePattern('a*a', 'a'),
    matchesNamePattern('a*a', 'aa'),
    matchesNamePattern('*', ''),
  ]).toEqual([false, true, true])
  expect(['foo', 'fooo', 'xfoo', 'FOO', '!foo'].filter((name) => matchesNamePattern('foo', name))).toEqual([
    'foo',
  ])
  expect(matchesNamePattern('!foo', 'bar')).toBe(false)
  expect(matchesNamePattern(`${'*a'.repeat(90)}b`, 'a'.repeat(1_000_000))).toBe(false)
})
