// Symbolic links of the base whose target a pull request changes: the catalog that reads through them is judged.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { catalogLoader } from '../../src/examine/catalogs/catalog-loader.ts'
import { changedLinks } from '../../src/examine/changed-links.ts'
import { examine } from '../../src/examine/examine.ts'
import { findLayout } from '../../src/examine/find-layout.ts'
import type { ReaderPool } from '../../src/examine/catalogs/reader-pool.ts'
import { readFile } from '../../src/catalog/load/read-file.ts'
import { pullNumber } from '../../src/change/ids.ts'
import { aSnapshot } from '../gate/build.ts'
import type { File, Files } from '../git/origin.ts'
import { catalogFile } from '../checks/ownership/blobs.ts'
import { openWorld, type World } from '../checks/ownership/world.ts'
import { forgetfulCache, forgetfulMemory } from '../../src/examine/forgetful.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('links')
})
afterAll(() => world.close())

const link = (content: string): File => ({ mode: '120000', content })
const target = 'operators/mine/shared.yaml'
const place = 'catalogs/v4.16/mine/catalog.yaml'

async function changed(base: Files, head: Files): Promise<readonly string[]> {
  const from = world.origin.commit(base)
  const to = world.origin.commit(head, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, to)
  await world.mirror.fetch('main', pullNumber(7))
  const trees = { base: world.origin.tree(from), result: world.origin.tree(to) }
  const differing = new Set((await world.mirror.diff(trees.base, trees.result)).map(({ path }) => path))
  const entries = await world.mirror.list(trees.base)
  const found = await changedLinks(world.mirror, { ...trees, entries, differing })
  return found.map(({ path, before, after }) => `${path}${before ? '' : ' appears'}${after ? '' : ' goes'}`)
}

test.each<[string, Files]>([
  ['a link', { [place]: link(`../../../${target}`) }],
  ['a chain of links', { [place]: link('other'), 'catalogs/v4.16/mine/other': link(`../../../${target}`) }],
  [
    'a link to a directory on the way',
    { [place]: link('../../../via/shared.yaml'), via: link('operators/mine') },
  ],
  [
    'a link up from a linked directory',
    {
      [place]: link('../../../via/../mine/shared.yaml'),
      via: link('operators/other'),
      'operators/other/x': 'x',
    },
  ],
  ['odd ways to write it', { [place]: link(`.././/../../operators/./mine/shared.yaml`) }],
  ['text behind a NUL', { [place]: link(`../../../${target}\0/nowhere`) }],
])('%s reads otherwise when what is at its end does', async (_, links) => {
  expect(await changed({ ...links, [target]: 'one\n' }, { ...links, [target]: 'two\n' })).toContain(place)
  const { length } = await changed({ ...links, [target]: 'one\n' }, { ...links, [target]: 'one\n', new: 'x' })
  expect(length).toBe(0)
})

test('a link goes and appears with its end', async () => {
  const links = { [place]: link(`../../../${target}`), other: 'x' }
  expect(await changed({ ...links, [target]: 'one\n' }, links)).toEqual([`${place} goes`])
  expect(await changed(links, { ...links, [target]: 'one\n' })).toEqual([`${place} appears`])
})

test.each([
  ['a place of the machine', '/etc/passwd'],
  ['a place above the repository', '../../../../outside'],
  ['nothing', 'nowhere'],
  ['itself', 'catalog.yaml'],
  ['a directory', '..'],
  ['a way of two thousand parts', `${'a/../'.repeat(800)}x`],
  ['a text that no system takes', 'x'.repeat(5000)],
])('a link to %s ends nowhere, in bounded time', async (_, text) => {
  const links = { [place]: link(text), [target]: 'one\n' }
  expect(await changed(links, { ...links, [target]: 'two\n' })).toEqual([])
})

test('a target that is edited breaks the catalog that links to it, and the gate stays shut', async () => {
  const base: Files = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    'catalogs/v4.16/other/catalog.yaml': catalogFile('other', ['1.0.0']),
    [place]: link(`../../../${target}`),
    [target]: catalogFile('mine', ['1.0.0']),
  }
  const from = world.origin.commit(base)
  const to = world.origin.commit({ ...base, [target]: 'schema: olm.package\nname: mine\n' }, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, to)
  await world.mirror.fetch('main', pullNumber(7))
  const pool: ReaderPool = { read: async (bytes) => readFile(bytes), close: async () => undefined }
  const alice = world.people.person('alice')
  const { change, verdict } = await examine(aSnapshot({ author: alice, base: from, head: to }), {
    repository: world.mirror,
    loader: catalogLoader(pool, forgetfulCache),
    ask: async (question) =>
      ['image', 'bundle', 'install'].includes(question.kind)
        ? { kind: 'unknown', reason: 'nobody asks', retryAfter: 1 }
        : world.people.answer(question),
    memory: forgetfulMemory,
  })
  expect(change.catalogs.map(({ root }) => root)).toEqual(['catalogs/v4.16'])
  const rules = verdict.outcomes.flatMap(({ check, findings }) =>
    findings.filter(({ severity }) => severity === 'error').map(() => check),
  )
  expect(rules).toContain('validation')
  expect(verdict.kind).toBe('blocked')
})

test('a configured catalog that is a link, or lies below one, is the directory at its end', async () => {
  const from = world.origin.commit({
    'real/mine/catalog.yaml': catalogFile('mine', ['1.0.0']),
    latest: link('real'),
    'via/x': link('../real'),
  })
  world.origin.branch('main', from)
  await world.mirror.fetch('main')
  const entries = await world.mirror.list(world.origin.tree(from))
  const configured = [{ path: 'latest' }, { path: 'via/x/mine' }, { path: 'real' }]
  expect((await findLayout(world.mirror, entries, configured)).catalogs).toEqual([
    { root: 'real', names: ['latest', 'real'] },
    { root: 'real/mine', names: ['via/x/mine'] },
  ])
})

test('a configuration behind a linked directory is not taken for none', async () => {
  const base: Files = {
    'operators/mine/ci.yaml': 'reviewers: [alice]\n',
    '.github': link('github'),
    'github/catalog-bot.yml': 'merge: {enabled: false}\n',
  }
  const from = world.origin.commit(base)
  const to = world.origin.commit({ ...base, 'operators/mine/README.md': 'x\n' }, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, to)
  await world.mirror.fetch('main', pullNumber(7))
  const { verdict } = await examine(
    aSnapshot({ author: world.people.person('alice'), base: from, head: to }),
    {
      repository: world.mirror,
      loader: { cache: forgetfulCache, load: async () => undefined },
      ask: async (question) => world.people.answer(question),
      memory: forgetfulMemory,
    },
  )
  expect(verdict.kind).toBe('blocked')
})
