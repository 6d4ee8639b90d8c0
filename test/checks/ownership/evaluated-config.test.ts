// From a snapshot to a verdict: the tree that the configuration comes from (T34), and the effect of the title of a pull
// request on the merge message (T55).
import { afterAll, expect, test } from '@jest/globals'
import { toUserId, type UserId } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../../src/pull-request/snapshot.ts'
import { formatMergeMessage } from '../../../src/report/merge-message.ts'
import type { PullHistoryStore } from '../../../src/ports/pull-history.ts'
import { noopPullHistoryStore } from '../../../src/catalogs/memory-cache.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('evaluated-config')
const { origin } = scenario
afterAll(() => scenario.close())

test('T34: the configuration is the one at the base tip, even if the pull request changes it', async () => {
  const config = '.github/catalog-bot.yml'
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    [config]: 'merge: {enabled: false}\n',
  }
  const from = origin.commit(base)
  for (const text of ['owners: {maintainers: [mallory]}\n', 'nonsense: true\n']) {
    const head = origin.commit({ ...base, [config]: text }, [from])
    await scenario.fetchPull(from, head)
    const author = scenario.fakeAccounts.person('mallory')
    const { config: used, verdict } = await scenario.evaluateSnapshot(
      createTestPullSnapshot({ author, base: from, head }),
    )
    expect(used.merge.enabled).toBe(false)
    expect(used.owners.maintainers).toEqual([])
    expect(verdict.kind).not.toBe('merge')
  }
})

test('a configuration that is too large to be read blocks the merge', async () => {
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [mallory]\n',
    '.github/catalog-bot.yml': `merge: {enabled: false}\n${'#\n'.repeat(600_000)}`,
  }
  const from = origin.commit(base)
  const head = origin.commit({ ...base, 'operators/mine/README.md': 'x\n' }, [from])
  await scenario.fetchPull(from, head)
  const { verdict } = await scenario.evaluateSnapshot(
    createTestPullSnapshot({ author: scenario.fakeAccounts.person('mallory'), base: from, head }),
  )
  expect(verdict.kind).toBe('blocked')
})

test('T25: a login that is registered again is stored at the first lookup, and a new account with the login gets no rights', async () => {
  const memory: PullHistoryStore & { readonly known: Map<string, UserId> } = {
    ...noopPullHistoryStore,
    known: new Map(),
    async firstSeenAccounts(_repository, accounts) {
      for (const [login, id] of accounts) if (!this.known.has(login)) this.known.set(login, id)
      return new Map(this.known)
    },
  }
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [olga]\n',
    'operators/mine/notes.md': '1\n',
  }
  const from = origin.commit(base)
  const head = origin.commit({ ...base, 'operators/mine/notes.md': '2\n' }, [from])
  await scenario.fetchPull(from, head)
  const evaluateAs = async (author: GitHubAccount) => {
    scenario.fakeAccounts.accounts.set('olga', author)
    const { verdict } = await scenario.evaluateSnapshot(
      createTestPullSnapshot({ author, base: from, head }),
      { memory },
    )
    return verdict.outcomes.find(({ check }) => check === 'ownership')?.findings.map(({ rule }) => rule)
  }
  expect(await evaluateAs({ id: toUserId(1), login: 'olga', kind: 'user' })).toEqual([])
  expect(await evaluateAs({ id: toUserId(2), login: 'olga', kind: 'user' })).toContain('owner-login-reused')
})

test('T55: a title cannot close issues, mention people, or start a new line in the merge message', () => {
  for (const title of [
    'Fix\n\nCloses #1',
    'closes #12',
    '@everyone look',
    'x\rCo-authored-by: a <b@c>',
    '\u202eevil',
    'resolves https://github.com/a/b/issues/3',
  ]) {
    const message = formatMergeMessage(createTestPullSnapshot({ title }))
    expect(message.split('\n').length).toBe(4)
    expect(message).not.toMatch(/(?:close|fix|resolve)[sd]?:?\s+(?:#|https?:)\d*/i)
    expect(message).not.toMatch(/(?:^|[^\w`\u200b\u2060])@\w/)
    expect(message).not.toMatch(/[\r\u202e]/)
  }
})
