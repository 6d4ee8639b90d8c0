// Symbolic links of the base with a target that a pull request changes: the catalog that reads through them is checked.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { findChangedSymlinks } from '../../src/evaluate/changed-links.ts'
import { evaluateSnapshot } from '../../src/evaluate/evaluate.ts'
import { readRepositoryLayout } from '../../src/catalogs/find-layout.ts'
import type { CatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { createSnapshot } from '../policy/gate-builders.ts'
import type { OriginFile, OriginFiles } from '../adapters/git/origin.ts'
import { catalogYaml } from '../checks/ownership/read-catalog-text.ts'
import { openOwnershipScenario, type OwnershipScenario } from '../checks/ownership/ownership-scenario.ts'
import { noopCache, noopPullMemory } from '../../src/catalogs/null-store.ts'

let fixture: OwnershipScenario
beforeAll(async () => {
  fixture = await openOwnershipScenario('links')
})
afterAll(() => fixture.close())

const createLink = (content: string): OriginFile => ({ mode: '120000', content })
const linkTarget = 'operators/mine/shared.yaml'
const linkPath = 'catalogs/v4.16/mine/catalog.yaml'

async function evaluateChange(base: OriginFiles, head: OriginFiles): Promise<readonly string[]> {
  const from = fixture.origin.commit(base)
  const to = fixture.origin.commit(head, [from])
  fixture.origin.branch('main', from)
  fixture.origin.pull(7, to)
  await fixture.mirror.fetch('main', toPullNumber(7))
  const trees = { base: fixture.origin.tree(from), result: fixture.origin.tree(to) }
  const differing = new Set((await fixture.mirror.diff(trees.base, trees.result)).map(({ path }) => path))
  const entries = await fixture.mirror.list(trees.base)
  const found = await findChangedSymlinks(fixture.mirror, { ...trees, entries, differing })
  return found.map(({ path, before, after }) => `${path}${before ? '' : ' appears'}${after ? '' : ' goes'}`)
}

test.each<[string, OriginFiles]>([
  ['a link', { [linkPath]: createLink(`../../../${linkTarget}`) }],
  [
    'a chain of links',
    { [linkPath]: createLink('other'), 'catalogs/v4.16/mine/other': createLink(`../../../${linkTarget}`) },
  ],
  [
    'a link through a linked directory',
    { [linkPath]: createLink('../../../via/shared.yaml'), via: createLink('operators/mine') },
  ],
  [
    'a link to the parent of a linked directory',
    {
      [linkPath]: createLink('../../../via/../mine/shared.yaml'),
      via: createLink('operators/other'),
      'operators/other/x': 'x',
    },
  ],
  ['a link with an unusual path', { [linkPath]: createLink(`.././/../../operators/./mine/shared.yaml`) }],
  ['a link with text after a NUL', { [linkPath]: createLink(`../../../${linkTarget}\0/nowhere`) }],
])('%s counts as changed only if its target changes', async (_, links) => {
  expect(
    await evaluateChange({ ...links, [linkTarget]: 'one\n' }, { ...links, [linkTarget]: 'two\n' }),
  ).toContain(linkPath)
  const { length } = await evaluateChange(
    { ...links, [linkTarget]: 'one\n' },
    { ...links, [linkTarget]: 'one\n', new: 'x' },
  )
  expect(length).toBe(0)
})

test('a link disappears and appears with its target', async () => {
  const links = { [linkPath]: createLink(`../../../${linkTarget}`), other: 'x' }
  expect(await evaluateChange({ ...links, [linkTarget]: 'one\n' }, links)).toEqual([`${linkPath} goes`])
  expect(await evaluateChange(links, { ...links, [linkTarget]: 'one\n' })).toEqual([`${linkPath} appears`])
})

test.each([
  ['an absolute path', '/etc/passwd'],
  ['a path above the repository', '../../../../outside'],
  ['a missing file', 'nowhere'],
  ['itself', 'catalog.yaml'],
  ['a directory', '..'],
  ['a path with 1,600 parts', `${'a/../'.repeat(800)}x`],
  ['a path longer than any system accepts', 'x'.repeat(5000)],
])('a link to %s resolves to no file', async (_, text) => {
  const links = { [linkPath]: createLink(text), [linkTarget]: 'one\n' }
  expect(await evaluateChange(links, { ...links, [linkTarget]: 'two\n' })).toEqual([])
})

test('an edited link target that breaks the linking catalog blocks the pull request', async () => {
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    'catalogs/v4.16/other/catalog.yaml': catalogYaml('other', ['1.0.0']),
    [linkPath]: createLink(`../../../${linkTarget}`),
    [linkTarget]: catalogYaml('mine', ['1.0.0']),
  }
  const from = fixture.origin.commit(base)
  const to = fixture.origin.commit({ ...base, [linkTarget]: 'schema: olm.package\nname: mine\n' }, [from])
  fixture.origin.branch('main', from)
  fixture.origin.pull(7, to)
  await fixture.mirror.fetch('main', toPullNumber(7))
  const pool: CatalogFileReaderPool = {
    read: async (bytes) => parseCatalogFile(bytes),
    close: async () => undefined,
  }
  const alice = fixture.fakeAccounts.person('alice')
  const { change, verdict } = await evaluateSnapshot(
    createSnapshot({ author: alice, base: from, head: to }),
    {
      repository: fixture.mirror,
      loader: createCatalogLoader(pool, noopCache),
      ask: async (question) =>
        ['image', 'bundle', 'install'].includes(question.kind)
          ? { kind: 'unknown', reason: 'nobody asks', retryAfter: 1 }
          : fixture.fakeAccounts.answer(question),
      memory: noopPullMemory,
    },
  )
  expect(change.catalogs.map(({ root }) => root)).toEqual(['catalogs/v4.16'])
  const rules = verdict.outcomes.flatMap(({ check, findings }) =>
    findings.filter(({ severity }) => severity === 'error').map(() => check),
  )
  expect(rules).toContain('validation')
  expect(verdict.kind).toBe('blocked')
})

test('a configured catalog that is a link, or is below one, resolves to its target directory', async () => {
  const from = fixture.origin.commit({
    'real/mine/catalog.yaml': catalogYaml('mine', ['1.0.0']),
    latest: createLink('real'),
    'via/x': createLink('../real'),
  })
  fixture.origin.branch('main', from)
  await fixture.mirror.fetch('main')
  const entries = await fixture.mirror.list(fixture.origin.tree(from))
  const configured = [{ path: 'latest' }, { path: 'via/x/mine' }, { path: 'real' }]
  expect((await readRepositoryLayout(fixture.mirror, entries, configured)).catalogs).toEqual([
    { root: 'real', names: ['latest', 'real'] },
    { root: 'real/mine', names: ['via/x/mine'] },
  ])
})

test('a configuration in a linked directory blocks the merge instead of being ignored', async () => {
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    '.github': createLink('github'),
    'github/catalog-bot.yml': 'merge: {enabled: false}\n',
  }
  const from = fixture.origin.commit(base)
  const to = fixture.origin.commit({ ...base, 'operators/mine/README.md': 'x\n' }, [from])
  fixture.origin.branch('main', from)
  fixture.origin.pull(7, to)
  await fixture.mirror.fetch('main', toPullNumber(7))
  const { verdict } = await evaluateSnapshot(
    createSnapshot({ author: fixture.fakeAccounts.person('alice'), base: from, head: to }),
    {
      repository: fixture.mirror,
      loader: { cache: noopCache, load: async () => undefined },
      ask: async (question) => fixture.fakeAccounts.answer(question),
      memory: noopPullMemory,
    },
  )
  expect(verdict.kind).toBe('blocked')
})
