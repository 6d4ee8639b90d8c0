// Listings derived from one another, and differences computed from tree objects, match git's output on random trees and
// on malicious trees.
import { afterAll, describe, expect, test } from '@jest/globals'
import type { TreeSha } from '../../../src/pull-request/ids.ts'
import { compareTreeObjects } from '../../../src/adapters/git/trees.ts'
import { TreeListingCache } from '../../../src/adapters/git/listings.ts'
import { parseRawDiff, parseLsTreeOutput } from '../../../src/adapters/git/parse-output.ts'
import { createRecordedRepository, type OriginFile, type OriginFiles } from './origin.ts'

const { originRepository, gitObjectReader, recordedGitCalls, runLocalGit, writeRawTree, close } =
  createRecordedRepository('listings')
afterAll(close)

const createTestTreeListingCache = (maxPaths = 1000): TreeListingCache =>
  new TreeListingCache(runLocalGit, gitObjectReader, maxPaths)
const commitFilesAndGetTree = (files: OriginFiles): TreeSha =>
  originRepository.tree(originRepository.commit(files))

const readGitOutput = async (...args: string[]) => (await runLocalGit(args)).stdout
const listTreeWithGit = async (tree: TreeSha) =>
  parseLsTreeOutput(await readGitOutput('ls-tree', '-r', '-z', tree), '')
const diffTreesWithGit = async (before: TreeSha, after: TreeSha) =>
  parseRawDiff(
    await readGitOutput('diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', before, after),
  )

let prngState = 8
const generateRandomIntegerBelow = (below: number) => (prngState = (prngState * 48271) % 2147483647) % below

/** Files, links, executables, and submodules with names that sort differently as directories, some of them moved. */
function createRandomFiles(from: OriginFiles): OriginFiles {
  const names = ['a', 'a-', 'a.b', 'a0', 'B', 'é', '\u{1f4a5}', '\uffee', 'z z']
  const files = new Map<string, OriginFile>(
    Object.entries(from).filter(() => generateRandomIntegerBelow(6) > 0),
  )
  for (let left = generateRandomIntegerBelow(8); left > 0; left--) {
    const path = Array.from(
      { length: 1 + generateRandomIntegerBelow(4) },
      () => names[generateRandomIntegerBelow(names.length)],
    ).join('/')
    // A file replaces a directory, and vice versa.
    for (const other of files.keys())
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other)
    const content = String(generateRandomIntegerBelow(4))
    const kinds: OriginFile[] = [
      content,
      { mode: '100755', content },
      { mode: '120000', content },
      { mode: '160000', oid: '1234567890'.repeat(4) },
    ]
    files.set(path, kinds[Math.max(0, generateRandomIntegerBelow(8) - 4)] ?? content)
  }
  return Object.fromEntries(files)
}

test('random trees are listed and compared as git does', async () => {
  const trees: TreeSha[] = []
  let files: OriginFiles = {}
  for (let round = 0; round < 25; round++)
    trees.push(commitFilesAndGetTree((files = createRandomFiles(files))))
  const listings = createTestTreeListingCache()
  for (const [at, tree] of trees.entries()) {
    expect(await listings.list(tree, '')).toEqual(await listTreeWithGit(tree))
    const other = trees[generateRandomIntegerBelow(at + 1)] ?? tree
    for (const [before, after] of [
      [other, tree],
      [tree, other],
    ] as const) {
      const expected = await diffTreesWithGit(before, after)
      expect(await listings.diff(before, after)).toEqual(expected)
      if (before !== after) expect(await compareTreeObjects(gitObjectReader, before, after)).toEqual(expected)
    }
    const [{ path = '' } = {}] = await listings.list(tree, '')
    const directory = path.slice(0, Math.max(0, path.indexOf('/')))
    if (directory !== '')
      expect(await listings.list(tree, directory)).toEqual(
        (await listTreeWithGit(tree)).filter((entry) => entry.path.startsWith(`${directory}/`)),
      )
  }
})

test('a tree similar to a known one starts no git process, and shares the unchanged entries', async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`d${at % 20}/f${at}`, `${at}`]))
  const [before, after] = [commitFilesAndGetTree(files), commitFilesAndGetTree({ ...files, 'd3/new': 'x' })]
  const listings = createTestTreeListingCache()
  const known = await listings.list(before, '')
  recordedGitCalls.length = 0
  const now = await listings.list(after, '')
  expect(await listings.diff(before, after)).toHaveLength(1)
  expect(await listings.list(after, 'd3')).toHaveLength(11)
  expect(await listings.entry(after, 'd3/new')).toEqual(
    now.find(({ path }) => path === 'd3/new') && {
      mode: '100644',
      oid: originRepository.git(['hash-object', '--stdin'], 'x'),
    },
  )
  expect(recordedGitCalls).toEqual([])
  expect(now[0]).toBe(known[0])
})

describe('a tree that git would not write', () => {
  test.each([
    ['with a duplicate name', (blob: string) => writeRawTree(['100644', 'a', blob], ['100644', 'a', blob])],
    [
      'with a file and a directory of the same name',
      (blob: string, tree: string) =>
        writeRawTree(['100644', 'a', blob], ['100644', 'a.b', blob], ['40000', 'a', tree]),
    ],
    ['in the wrong order', (blob: string) => writeRawTree(['100644', 'b', blob], ['100644', 'a', blob])],
    ['with an old mode', (blob: string) => writeRawTree(['100664', 'a', blob])],
    ['with an empty directory', () => writeRawTree(['40000', 'a', writeRawTree()])],
    ['with a slash in a name', (blob: string) => writeRawTree(['100644', 'a/b', blob])],
    ['with a missing tree', () => writeRawTree(['40000', 'a', '1'.repeat(40)])],
  ])('%s is left to git', async (_, make) => {
    const blob = originRepository.git(['hash-object', '-w', '--stdin'], 'x')
    const odd = make(blob, commitFilesAndGetTree({ x: 'x' }))
    const plain = commitFilesAndGetTree({ c: 'x' })
    expect(await compareTreeObjects(gitObjectReader, plain, odd)).toBeUndefined()
    expect(await compareTreeObjects(gitObjectReader, odd, plain)).toBeUndefined()
    expect(await createTestTreeListingCache().isWellWritten(plain, odd)).toBe(false)
  })

  test('is compared by git with both sides of a rename (T01)', async () => {
    const blob = originRepository.git(['hash-object', '-w', '--stdin'], 'long '.repeat(500))
    const [before, after] = [writeRawTree(['100664', 'mine', blob]), writeRawTree(['100664', 'victim', blob])]
    expect(await createTestTreeListingCache().diff(before, after)).toEqual([
      { path: 'mine', before: { mode: '100644', oid: blob } },
      { path: 'victim', after: { mode: '100644', oid: blob } },
    ])
  })

  test('rejects with the error of git if it cannot be listed', async () => {
    const odd = writeRawTree(['40000', 'a', '1'.repeat(40)])
    const listings = createTestTreeListingCache()
    await listings.list(commitFilesAndGetTree({ c: 'x' }), '')
    await expect(listings.list(odd, '')).rejects.toMatchObject({ name: 'GitError' })
    await expect(listings.diff(commitFilesAndGetTree({ c: 'x' }), odd)).rejects.toMatchObject({
      name: 'GitError',
    })
  })
})

describe('trees with many more paths than objects', () => {
  /** Nested directories, each with ten copies of the same one. */
  const wide = (levels: number): TreeSha => {
    let tree = commitFilesAndGetTree({ f: 'x' })
    for (let left = levels; left > 0; left--)
      tree = writeRawTree(...Array.from({ length: 10 }, (_, at) => ['40000', String(at), tree] as const))
    return tree
  }

  test('are rejected as too large on either side, within five seconds of CPU time', async () => {
    const [plain, huge] = [commitFilesAndGetTree({ c: 'x' }), wide(9)]
    const listings = createTestTreeListingCache()
    await listings.list(plain, '')
    const started = process.cpuUsage()
    for (const work of [
      () => listings.list(huge, ''),
      () => listings.diff(plain, huge),
      () => listings.diff(huge, plain),
    ])
      await expect(work()).rejects.toMatchObject({
        code: 'too-large',
        message: 'a tree contains more than 1,000 paths',
      })
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1000).toBeLessThan(5000)
  })

  test('are limited by the number of differing paths if the other side is known', async () => {
    const [plain, many] = [commitFilesAndGetTree({ c: 'x' }), wide(2)]
    const listings = createTestTreeListingCache(99)
    await listings.list(plain, '')
    recordedGitCalls.length = 0
    await expect(listings.diff(plain, many)).rejects.toMatchObject({
      message: 'a tree contains more than 99 paths',
    })
    await expect(listings.list(many, '')).rejects.toMatchObject({
      message: 'a tree contains more than 99 paths',
    })
    expect(recordedGitCalls).toEqual([])
    expect(await createTestTreeListingCache(101).diff(plain, many)).toHaveLength(101)
  })

  test('are left to git if they are deep', async () => {
    let deep = commitFilesAndGetTree({ f: 'x' })
    for (let left = 150; left > 0; left--) deep = writeRawTree(['40000', 'd', deep])
    expect(await compareTreeObjects(gitObjectReader, commitFilesAndGetTree({ c: 'x' }), deep)).toBeUndefined()
    const listings = createTestTreeListingCache()
    expect(await listings.list(deep, '')).toHaveLength(1)
    expect(await listings.diff(commitFilesAndGetTree({ c: 'x' }), deep)).toHaveLength(2)
  })
})
