import { afterAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { createCachedTreeReader } from '../../src/catalogs/find-layout.ts'
import type { TreeReader } from '../../src/ports/repository.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  openAnonymousMirror,
} from '../adapters/git/origin.ts'

const temporaryDirectory = createTemporaryDirectory('cached-trees')
const origin = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
const gitMirror = await openAnonymousMirror(join(temporaryDirectory.path, 'mirror.git'), origin.url)
const files = ['a', 'a-b/c', 'a.yaml', 'b/a', 'b/c/d', 'b/c.yaml', 'b0', 'é/é', 'z/\u{1f600}', 'z/\uffff']
origin.branch(
  'main',
  origin.commit({
    ...Object.fromEntries(files.map((path) => [path, path])),
    'b/link': { mode: '120000', content: 'a' },
    program: { mode: '100755', content: 'x' },
  }),
)
await gitMirror.fetch('main')
afterAll(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

const rejectingTreeReader: TreeReader = {
  list: () => Promise.reject(new Error('it was listed again')),
  entry: () => Promise.reject(new Error('it was looked up again')),
  read: () => Promise.reject(new Error('it was read again')),
}

async function cacheMainBranchTree() {
  const tip = await gitMirror.tip('main')
  if (!tip) throw new Error('no branch')
  const tree = await gitMirror.treeOf(tip)
  const entries = await gitMirror.list(tree)
  const blobs = new Map(entries.map(({ oid }) => [oid, gitMirror.read(oid)]))
  return {
    tree,
    entries,
    cachedTree: createCachedTreeReader(rejectingTreeReader, { trees: new Map([[tree, entries]]), blobs }),
  }
}

test('a listed tree has the same directories and entries as in git', async () => {
  const { tree, entries, cachedTree } = await cacheMainBranchTree()
  const paths = ' a a/ a-b b b/ b/c b/c/d b/c/d/e B z é nowhere b0 / b//c'.split(' ')
  for (const path of [...paths, ...entries.map((entry) => entry.path)]) {
    expect(await cachedTree.list(tree, path)).toEqual(await gitMirror.list(tree, path))
    if (path !== '') expect(await cachedTree.entry(tree, path)).toEqual(await gitMirror.entry(tree, path))
  }
})

test('a cached blob is not read again, except to reject one above a smaller size limit', async () => {
  const { entries, cachedTree } = await cacheMainBranchTree()
  const oid = entries.find(({ path }) => path === 'b/c.yaml')?.oid
  if (!oid) throw new Error('no file')
  expect(Buffer.from(await cachedTree.read(oid)).toString()).toBe('b/c.yaml')
  expect(Buffer.from(await cachedTree.read(oid, 8)).toString()).toBe('b/c.yaml')
  await expect(cachedTree.read(oid, 7)).rejects.toThrow('it was read again')
  const real = createCachedTreeReader(gitMirror, {
    trees: new Map(),
    blobs: new Map([[oid, gitMirror.read(oid)]]),
  })
  await expect(real.read(oid, 7)).rejects.toMatchObject({ code: 'too-large' })
})
