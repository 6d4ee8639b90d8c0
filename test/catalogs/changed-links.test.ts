// Symbolic links of the base with a target that a pull request changes: the catalog that reads through them is checked.
import { afterAll, expect, test } from '@jest/globals'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { findChangedSymlinks } from '../../src/catalogs/linked-file.ts'
import { readRepositoryLayout } from '../../src/catalogs/find-layout.ts'
import type { CatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import type { OriginFile, OriginFiles } from '../adapters/git/origin.ts'
import { createCatalogYaml } from '../checks/ownership/read-catalog-text.ts'
import { createOwnershipScenario } from '../checks/ownership/ownership-scenario.ts'
import { noopCache } from '../../src/catalogs/memory-cache.ts'

const scenario = await createOwnershipScenario('links')
const { origin } = scenario
afterAll(() => scenario.close())

const createSymlinkFile = (content: string): OriginFile => ({ mode: '120000', content })
const symlinkTargetPath = 'operators/mine/shared.yaml'
const symlinkPath = 'catalogs/v4.16/mine/catalog.yaml'

async function evaluateSymlinkChange(base: OriginFiles, head: OriginFiles): Promise<readonly string[]> {
  const from = origin.commit(base)
  const to = origin.commit(head, [from])
  await scenario.fetchPull(from, to)
  const trees = { base: origin.tree(from), result: origin.tree(to) }
  const differing = new Set((await scenario.mirror.diff(trees.base, trees.result)).map(({ path }) => path))
  const entries = await scenario.mirror.list(trees.base)
  const found = await findChangedSymlinks(scenario.mirror, { ...trees, entries, differing })
  return found.map(({ path, before, after }) => `${path}${before ? '' : ' appears'}${after ? '' : ' goes'}`)
}

test.each<[string, OriginFiles]>([
  ['a link', { [symlinkPath]: createSymlinkFile(`../../../${symlinkTargetPath}`) }],
  [
    'a chain of links',
    {
      [symlinkPath]: createSymlinkFile('other'),
      'catalogs/v4.16/mine/other': createSymlinkFile(`../../../${symlinkTargetPath}`),
    },
  ],
  [
    'a link through a linked directory',
    {
      [symlinkPath]: createSymlinkFile('../../../via/shared.yaml'),
      via: createSymlinkFile('operators/mine'),
    },
  ],
  [
    'a link to the parent of a linked directory',
    {
      [symlinkPath]: createSymlinkFile('../../../via/../mine/shared.yaml'),
      via: createSymlinkFile('operators/other'),
      'operators/other/x': 'x',
    },
  ],
  [
    'a link with an unusual path',
    { [symlinkPath]: createSymlinkFile(`.././/../../operators/./mine/shared.yaml`) },
  ],
  [
    'a link with text after a NUL',
    { [symlinkPath]: createSymlinkFile(`../../../${symlinkTargetPath}\0/nowhere`) },
  ],
])('%s counts as changed only if its target changes', async (_, links) => {
  expect(
    await evaluateSymlinkChange(
      { ...links, [symlinkTargetPath]: 'one\n' },
      { ...links, [symlinkTargetPath]: 'two\n' },
    ),
  ).toContain(symlinkPath)
  const { length } = await evaluateSymlinkChange(
    { ...links, [symlinkTargetPath]: 'one\n' },
    { ...links, [symlinkTargetPath]: 'one\n', new: 'x' },
  )
  expect(length).toBe(0)
})

test('a link disappears and appears with its target', async () => {
  const links = { [symlinkPath]: createSymlinkFile(`../../../${symlinkTargetPath}`), other: 'x' }
  expect(await evaluateSymlinkChange({ ...links, [symlinkTargetPath]: 'one\n' }, links)).toEqual([
    `${symlinkPath} goes`,
  ])
  expect(await evaluateSymlinkChange(links, { ...links, [symlinkTargetPath]: 'one\n' })).toEqual([
    `${symlinkPath} appears`,
  ])
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
  const links = { [symlinkPath]: createSymlinkFile(text), [symlinkTargetPath]: 'one\n' }
  expect(await evaluateSymlinkChange(links, { ...links, [symlinkTargetPath]: 'two\n' })).toEqual([])
})

test('an edited link target that breaks the linking catalog blocks the pull request', async () => {
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    'catalogs/v4.16/other/catalog.yaml': createCatalogYaml('other', ['1.0.0']),
    [symlinkPath]: createSymlinkFile(`../../../${symlinkTargetPath}`),
    [symlinkTargetPath]: createCatalogYaml('mine', ['1.0.0']),
  }
  const from = origin.commit(base)
  const to = origin.commit({ ...base, [symlinkTargetPath]: 'schema: olm.package\nname: mine\n' }, [from])
  await scenario.fetchPull(from, to)
  const pool: CatalogFileReaderPool = {
    read: async (bytes) => parseCatalogFile(bytes),
    close: async () => undefined,
  }
  const alice = scenario.fakeAccounts.person('alice')
  const { change, verdict } = await scenario.evaluateSnapshot(
    createTestPullSnapshot({ author: alice, base: from, head: to }),
    { loader: createCatalogLoader(pool, noopCache) },
  )
  expect(change.catalogs.map(({ root }) => root)).toEqual(['catalogs/v4.16'])
  const rules = verdict.outcomes.flatMap(({ check, findings }) =>
    findings.filter(({ severity }) => severity === 'error').map(() => check),
  )
  expect(rules).toContain('validation')
  expect(verdict.kind).toBe('blocked')
})

test('a configured catalog that is a link, or is below one, resolves to its target directory', async () => {
  const from = origin.commit({
    'real/mine/catalog.yaml': createCatalogYaml('mine', ['1.0.0']),
    latest: createSymlinkFile('real'),
    'via/x': createSymlinkFile('../real'),
  })
  origin.branch('main', from)
  await scenario.mirror.fetch('main')
  const entries = await scenario.mirror.list(origin.tree(from))
  const configured = [{ path: 'latest' }, { path: 'via/x/mine' }, { path: 'real' }]
  expect((await readRepositoryLayout(scenario.mirror, entries, configured)).catalogs).toEqual([
    { root: 'real', names: ['latest', 'real'] },
    { root: 'real/mine', names: ['via/x/mine'] },
  ])
})

test('a configuration in a linked directory blocks the merge instead of being ignored', async () => {
  const base: OriginFiles = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    '.github': createSymlinkFile('github'),
    'github/catalog-bot.yml': 'merge: {enabled: false}\n',
  }
  const from = origin.commit(base)
  const to = origin.commit({ ...base, 'operators/mine/README.md': 'x\n' }, [from])
  await scenario.fetchPull(from, to)
  const { verdict } = await scenario.evaluateSnapshot(
    createTestPullSnapshot({ author: scenario.fakeAccounts.person('alice'), base: from, head: to }),
  )
  expect(verdict.kind).toBe('blocked')
})
