// What automation accounts can do alone, and how other accounts could try to get their permissions.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { toUserId } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount, PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import { matchesWildcardPattern } from '../../../src/config/merge-settings.ts'
import { parseConfig } from '../../../src/config/config.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { createOwnershipScenario, FakeGitHubAccounts } from './ownership-scenario.ts'

const releaseBotAccount: GitHubAccount = { id: toUserId(77), login: 'release-bot[bot]', kind: 'bot' }
const scenario = await createOwnershipScenario('automation')
const { origin, person, createReview, decide: verdictOf } = scenario
beforeEach(() => {
  scenario.fakeAccounts = new FakeGitHubAccounts()
  for (const login of ['alice', 'maria', 'mallory', 'nina']) person(login)
  scenario.fakeAccounts.accounts.set('release-bot[bot]', releaseBotAccount)
})
afterAll(() => scenario.close())

const createAutomationConfigYaml = (account: string, more = '') => `automation:
  - account: ${account}
    packages: [mine, nightly-*]
    channels: ['*-nightly', stable]
    changes: [add-bundle, add-edge]
${more}`
const getCatalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const createBaseBranchFiles = (account = "'release-bot[bot]'", more = ''): OriginFiles => ({
  '.github/catalog-bot.yml': createAutomationConfigYaml(account, more),
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']),
  [getCatalogPath('victim')]: createCatalogYaml('victim', ['1.0.0']),
})
const addBundle = (name = 'mine') => createCatalogYaml(name, ['1.0.0', '1.1.0'])
const sameRepositoryPullSnapshot: Partial<PullSnapshot> = {
  headRepository: { owner: 'Acme', name: 'Catalog' },
}

/** The verdict on a pull request that changes files of the base to these. */
async function evaluatePull(
  change: OriginFiles,
  {
    author = releaseBotAccount,
    snapshot = sameRepositoryPullSnapshot,
    base = createBaseBranchFiles(),
  }: { author?: GitHubAccount; snapshot?: object; base?: OriginFiles } = {},
) {
  const { verdict } = await scenario.evaluatePull(base, { ...base, ...change }, { author, snapshot })
  return verdict.kind
}

describe('an automation account', () => {
  test('can add versions to its packages in its channels alone', async () => {
    expect(await evaluatePull({ [getCatalogPath('mine')]: addBundle() })).toBe('merge')
  })
  test('cannot change another package alone', async () => {
    expect(await evaluatePull({ [getCatalogPath('victim')]: addBundle('victim') })).toBe('wait')
    // Blobs of its package in the directory of another package also require the owners of that package.
    const both = `${createCatalogYaml('victim', ['1.0.0'])}---\n${addBundle()}`
    expect(await evaluatePull({ [getCatalogPath('victim')]: both, [getCatalogPath('mine')]: '' })).not.toBe(
      'merge',
    )
  })
  test('cannot change a channel that does not match its patterns', async () => {
    const renamed = (text: string) => text.replaceAll('stable', 'candidate')
    const base = {
      ...createBaseBranchFiles(),
      [getCatalogPath('mine')]: renamed(createCatalogYaml('mine', ['1.0.0'])),
    }
    expect(await evaluatePull({ [getCatalogPath('mine')]: renamed(addBundle()) }, { base })).toBe('wait')
    const nightly = (text: string) => text.replaceAll('stable', 'edge-nightly')
    const own = {
      ...createBaseBranchFiles(),
      [getCatalogPath('mine')]: nightly(createCatalogYaml('mine', ['1.0.0'])),
    }
    expect(await evaluatePull({ [getCatalogPath('mine')]: nightly(addBundle()) }, { base: own })).toBe(
      'merge',
    )
  })
  test('cannot make another kind of change alone, even together with an allowed one', async () => {
    const deprecated = `${addBundle()}---\nschema: olm.deprecations\npackage: mine\nentries:\n  - reference: { schema: olm.bundle, name: mine.v1.0.0 }\n    message: old\n`
    expect(await evaluatePull({ [getCatalogPath('mine')]: deprecated })).toBe('wait')
    expect(
      await evaluatePull({ [getCatalogPath('mine')]: addBundle(), 'operators/mine/notes.md': 'x\n' }),
    ).toBe('wait')
    expect(
      await evaluatePull({ 'operators/mine/ci.yaml': "reviewers:\n  - alice\n  - 'release-bot[bot]'\n" }),
    ).not.toBe('merge')
    expect(
      await evaluatePull({ [getCatalogPath('nightly-new')]: createCatalogYaml('nightly-new', ['1.0.0']) }),
    ).toBe('wait')
  })
  test('cannot change its grant alone', async () => {
    const widened = {
      '.github/catalog-bot.yml': createAutomationConfigYaml("'release-bot[bot]'").replace('mine,', "'*',"),
    }
    expect(await evaluatePull(widened)).toBe('wait')
    expect(await evaluatePull({ ...widened, [getCatalogPath('victim')]: addBundle('victim') })).toBe('wait')
  })
  test('cannot approve a pull request', async () => {
    const from = origin.commit(createBaseBranchFiles())
    const head = origin.commit({ ...createBaseBranchFiles(), [getCatalogPath('mine')]: addBundle() }, [from])
    const reviews = [createReview('nina', head, { author: releaseBotAccount })]
    expect(await verdictOf(from, head, { author: 'mallory', reviews })).toBe('wait')
  })
})

describe('the permissions of an automation account', () => {
  const change = { [getCatalogPath('mine')]: addBundle() }
  test('do not apply to a head that another account or an unknown one pushed', async () => {
    expect(
      await evaluatePull(change, { snapshot: { ...sameRepositoryPullSnapshot, pusher: releaseBotAccount } }),
    ).toBe('merge')
    for (const pusher of [person('mallory'), person('maria'), null])
      expect(await evaluatePull(change, { snapshot: { ...sameRepositoryPullSnapshot, pusher } })).toBe('wait')
  })
  test('do not apply to a branch of another repository', async () => {
    for (const headRepository of [{ owner: 'mallory', name: 'catalog' }, null])
      expect(await evaluatePull(change, { snapshot: { headRepository } })).toBe('wait')
  })
  test('do not apply to an account with a similar login or another id', async () => {
    for (const login of ['release-bot', 'Release-Bot'])
      expect(await evaluatePull(change, { author: person(login) })).toBe('wait')
    const other: GitHubAccount = { ...releaseBotAccount, id: toUserId(78) }
    expect(await evaluatePull(change, { author: other })).toBe('wait')
    const pinned = createBaseBranchFiles("'release-bot[bot]:77'")
    expect(await evaluatePull(change, { base: pinned })).toBe('merge')
    expect(await evaluatePull(change, { base: createBaseBranchFiles("'release-bot[bot]:78'") })).toBe('wait')
  })
  test('apply to the fork of a machine account if this account pushed the head', async () => {
    const machine = person('machine')
    const base = createBaseBranchFiles('machine')
    const snapshot = { headRepository: { owner: 'machine', name: 'catalog' }, pusher: machine }
    expect(await evaluatePull(change, { author: machine, base, snapshot })).toBe('merge')
    const pusher = person('mallory')
    expect(await evaluatePull(change, { author: machine, base, snapshot: { ...snapshot, pusher } })).toBe(
      'wait',
    )
    // This is also true if the owner of the package pushed, who must open a separate pull request.
    const limited = createBaseBranchFiles('machine', 'permissions:\n  owner:\n    add-bundle: maintainer\n')
    const owner = { ...snapshot, pusher: person('alice') }
    expect(await evaluatePull(change, { author: machine, base: limited, snapshot: owner })).toBe('wait')
  })
  test('come from the configuration of the base, not of the pull request', async () => {
    const { '.github/catalog-bot.yml': _none, ...base } = createBaseBranchFiles()
    const grant = { '.github/catalog-bot.yml': createAutomationConfigYaml("'release-bot[bot]'") }
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
      matchesWildcardPattern('*-nightly', name),
    ),
  ).toEqual(['4.20-nightly', '-nightly'])
  expect([
    matchesWildcardPattern('a*a', 'a'),
    matchesWildcardPattern('a*a', 'aa'),
    matchesWildcardPattern('*', ''),
  ]).toEqual([false, true, true])
  expect(
    ['foo', 'fooo', 'xfoo', 'FOO', '!foo'].filter((name) => matchesWildcardPattern('foo', name)),
  ).toEqual(['foo'])
  expect(matchesWildcardPattern('!foo', 'bar')).toBe(false)
  expect(matchesWildcardPattern(`${'*a'.repeat(90)}b`, 'a'.repeat(1_000_000))).toBe(false)
})
