import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import {
  toBlobSha,
  toPullNumber,
  toTreeSha,
  type CommitSha,
  type TreeSha,
} from '../../../src/pull-request/ids.ts'
import { openGitMirror, type GitMirror } from '../../../src/adapters/git/mirror.ts'
import { decodePath, encodePath } from '../../../src/adapters/git/parse-output.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  type OriginFiles,
  openAnonymousMirror,
} from './origin.ts'

const temporaryDirectory = createTemporaryDirectory('trees')

const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
const gitMirror = await openAnonymousMirror(join(temporaryDirectory.path, 'mirror.git'), originRepository.url)
afterAll(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

async function commitAndFetchTree(files: OriginFiles): Promise<TreeSha> {
  return fetchCommitTree(originRepository.commit(files))
}

async function fetchCommitTree(commit: CommitSha): Promise<TreeSha> {
  originRepository.branch('main', commit)
  await gitMirror.fetch('main')
  return gitMirror.treeOf(commit)
}

describe('more paths than the limit', () => {
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`d/${at}`, `${count}`]))
  let small: GitMirror
  beforeAll(async () => {
    small = await openGitMirror({
      directory: join(temporaryDirectory.path, 'mirror.git'),
      url: originRepository.url,
      credential: async () => undefined,
      maxPaths: 4,
    })
  })
  afterAll(() => small.close())

  test('end a listing, but as many as the limit do not', async () => {
    expect(await small.list(await commitAndFetchTree(files(4)))).toHaveLength(4)
    await expect(small.list(await commitAndFetchTree(files(5)))).rejects.toMatchObject({
      code: 'too-large',
      message: 'a tree contains more than 4 paths',
    })
  })

  test('end a diff, on either side', async () => {
    const [none, four, five] = [
      await commitAndFetchTree({}),
      await commitAndFetchTree(files(4)),
      await commitAndFetchTree(files(5)),
    ]
    expect(await small.diff(none, four)).toHaveLength(4)
    for (const [before, after] of [
      [four, five],
      [five, four],
    ] as const)
      await expect(small.diff(before, after)).rejects.toMatchObject({ code: 'too-large' })
  })

  test('end a diff of two trees below the limit', async () => {
    const before = await commitAndFetchTree({ a: '1', b: '1', c: '1' })
    const after = await commitAndFetchTree({ d: '1', e: '1', f: '1' })
    await expect(small.diff(before, after)).rejects.toMatchObject({
      message: 'two trees differ in more than 4 paths',
    })
  })
})

describe('a diff', () => {
  test('lists what was added, removed and changed, sorted by path', async () => {
    const before = await commitAndFetchTree({ 'a.b': '1', 'a/b': '1', z: '1', same: '1' })
    const after = await commitAndFetchTree({ 'a.b': '2', 'a/c': '1', z: '1', same: '1' })
    expect(await gitMirror.diff(before, after)).toEqual([
      { path: 'a.b', before: createTreeFileEntry('1'), after: createTreeFileEntry('2') },
      { path: 'a/b', before: createTreeFileEntry('1') },
      { path: 'a/c', after: createTreeFileEntry('1') },
    ])
    expect(await gitMirror.diff(before, before)).toEqual([])
  })

  test('shows both sides of a rename (T01)', async () => {
    const before = await commitAndFetchTree({ 'victim/x': 'long '.repeat(500) })
    const after = await commitAndFetchTree({ 'mine/x': 'long '.repeat(500) })
    expect((await gitMirror.diff(before, after)).map(({ path }) => path)).toEqual(['mine/x', 'victim/x'])
  })

  test('shows a mode that became executable, a symlink or a submodule, content the same or not (T07)', async () => {
    const before = await commitAndFetchTree({ a: 'x', b: 'x', c: 'x', d: 'x' })
    const submodule = '1234567890'.repeat(4)
    const after = await commitAndFetchTree({
      a: { mode: '100755', content: 'x' },
      b: { mode: '120000', content: 'x' },
      c: { mode: '160000', oid: submodule },
      d: 'x',
    })
    expect(await gitMirror.diff(before, after)).toEqual([
      { path: 'a', before: createTreeFileEntry('x'), after: { ...createTreeFileEntry('x'), mode: '100755' } },
      { path: 'b', before: createTreeFileEntry('x'), after: { ...createTreeFileEntry('x'), mode: '120000' } },
      { path: 'c', before: createTreeFileEntry('x'), after: { mode: '160000', oid: submodule } },
    ])
    expect(await gitMirror.entry(after, 'c')).toEqual({ mode: '160000', oid: submodule })
  })

  test('of a file that became a directory contains the file and every path below', async () => {
    const before = await commitAndFetchTree({ a: 'x' })
    const after = await commitAndFetchTree({ 'a/b': 'x' })
    expect((await gitMirror.diff(before, after)).map(({ path }) => path)).toEqual(['a', 'a/b'])
  })

  test('distinguishes paths with newlines, tabs, quotes, backslashes, patterns, or another case (T08)', async () => {
    const unusual = [
      ':100644 x',
      '"q"',
      '*',
      '-rf',
      'a\tb',
      'a\nb',
      'a\\b',
      '\u00c9',
      'E\u0301',
      'Foo',
      'foo',
      '[a]',
      '💥/\u202e',
      '\uffee',
    ]
    const before = await commitAndFetchTree({ keep: '' })
    const after = await commitAndFetchTree(
      Object.fromEntries([...unusual, 'keep'].map((path) => [path, path === 'keep' ? '' : path])),
    )
    const changes = await gitMirror.diff(before, after)
    expect(changes.map(({ path }) => path)).toEqual([...unusual].sort())
    for (const path of unusual)
      expect((await gitMirror.entry(after, path))?.oid).toBe(createTreeFileEntry(path).oid)
    expect((await gitMirror.list(after)).map(({ path }) => path)).toEqual([...unusual, 'keep'].sort())
  })

  test('distinguishes paths that are not UTF-8, and finds their entries', async () => {
    const names = [
      Buffer.from([0x61, 0xff]),
      Buffer.from([0x61, 0xfe]),
      Buffer.from('a\u00ff'),
      Buffer.from([0xed, 0xb0, 0x80]),
    ]
    const blob = originRepository.git(['hash-object', '-w', '--stdin'], 'x')
    const listing = names.map((name) =>
      Buffer.concat([Buffer.from(`100644 blob ${blob}\t`), name, Buffer.from('\0')]),
    )
    const tree = toTreeSha(originRepository.git(['mktree', '-z'], Buffer.concat(listing)))
    const before = await commitAndFetchTree({})
    const after = await fetchCommitTree(originRepository.commitTree(tree))
    const paths = (await gitMirror.diff(before, after)).map(({ path }) => path)
    expect(new Set(paths).size).toBe(4)
    expect(paths).toContain('aÿ')
    expect(paths.map((path) => encodePath(path).toString('hex')).sort()).toEqual(
      names.map((name) => name.toString('hex')).sort(),
    )
    for (const path of paths)
      expect(await gitMirror.entry(after, path)).toEqual({ mode: '100644', oid: blob })
  })
})

test('paths as text are the same bytes after a round trip, even if they are not UTF-8', () => {
  let seed = 7
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below
  for (let round = 0; round < 3000; round++) {
    const bytes = Buffer.from(
      Array.from({ length: random(12) }, () => [random(256), 0xc3, 0xa9, 0xed, 0xf0, 0x9f][random(6)] ?? 0),
    )
    expect(encodePath(decodePath(bytes)).toString('hex')).toBe(bytes.toString('hex'))
  }
})

test('a listing has every file below a directory, with or without a trailing slash, and no path that only starts like it', async () => {
  const tree = await commitAndFetchTree({ 'a/b/1': '', 'a/b/c/2': '', 'a/bc': '', 'a/b.d/3': '', top: '' })
  const expected = ['a/b/1', 'a/b/c/2']
  expect((await gitMirror.list(tree, 'a/b')).map(({ path }) => path)).toEqual(expected)
  expect((await gitMirror.list(tree, 'a/b/')).map(({ path }) => path)).toEqual(expected)
  expect(await gitMirror.list(tree, 'a/x')).toEqual([])
  expect(await gitMirror.list(tree, 'top')).toEqual([])
  expect(await gitMirror.list(tree, '../a')).toEqual([])
  expect(await gitMirror.list(tree)).toHaveLength(5)
})

describe('an entry', () => {
  test('is a file, and undefined for a directory or a missing path', async () => {
    const tree = await commitAndFetchTree({ 'a/b': 'x' })
    expect(await gitMirror.entry(tree, 'a/b')).toEqual(createTreeFileEntry('x'))
    for (const path of ['a', '', 'a/', 'a/b/c', '/a/b', 'a//b', './a/b', 'b'])
      expect(await gitMirror.entry(tree, path)).toBeUndefined()
  })

  test('of an object that is missing or not a tree rejects with `missing`', async () => {
    await expect(gitMirror.entry(toTreeSha('0'.repeat(39) + '1'), 'a')).rejects.toMatchObject({
      code: 'missing',
    })
    await expect(gitMirror.list(toTreeSha('0'.repeat(39) + '1'))).rejects.toMatchObject({ code: 'missing' })
    const tree = await commitAndFetchTree({ a: 'text' })
    const blob = (await gitMirror.entry(tree, 'a'))?.oid ?? ''
    await expect(gitMirror.entry(toTreeSha(blob), 'a')).rejects.toMatchObject({ code: 'missing' })
    await expect(gitMirror.read(toBlobSha(tree))).rejects.toMatchObject({ code: 'missing' })
  })
})

test('arguments that are not object IDs never reach git', async () => {
  const bad = '--output=/tmp/x' as never
  for (const call of [
    () => gitMirror.treeOf(bad),
    () => gitMirror.diff(bad, bad),
    () => gitMirror.list(bad),
    () => gitMirror.entry(bad, 'a'),
    () => gitMirror.read(bad),
    () => gitMirror.merge(bad, bad, ''),
    () => gitMirror.contains(bad, bad),
  ])
    await expect(call()).rejects.toThrow('not a Git object ID')
  await expect(gitMirror.fetch('--upload-pack=touch')).rejects.toMatchObject({ code: 'refused' })
  await expect(gitMirror.fetch('main', toPullNumber(1.0))).resolves.toBeUndefined()
  await expect(gitMirror.fetch('main', '1:refs/heads/x' as never)).rejects.toMatchObject({ code: 'refused' })
})

describe('ten thousand files', () => {
  test('are fetched, merged, compared, listed, and read', async () => {
    const files = (changed?: number): OriginFiles =>
      Object.fromEntries(
        Array.from({ length: 10_000 }, (_, at) => [
          `operators/package-${at % 500}/file-${at}.yaml`,
          `name: file-${at}\n${'key: value\n'.repeat(40)}${at === changed ? 'changed: true\n' : ''}`,
        ]),
      )
    const root = originRepository.commit(files())
    const base = originRepository.commit(files(1), [root])
    const head = originRepository.commit(files(2), [root])
    originRepository.branch('main', base)
    originRepository.pull(9, head)
    await gitMirror.fetch('main', toPullNumber(9))
    const result = await gitMirror.merge(base, head, 'Merge')
    if (result.kind !== 'clean') throw new Error(result.kind)
    const baseTree = await gitMirror.treeOf(base)
    const changes = await gitMirror.diff(baseTree, result.tree)
    expect(changes.map(({ path }) => path)).toEqual(['operators/package-2/file-2.yaml'])
    const listing = await gitMirror.list(result.tree)
    expect(listing).toHaveLength(10_000)
    const blobs = await Promise.all(listing.map(({ oid }) => gitMirror.read(oid)))
    expect(
      blobs.every((bytes, at) =>
        Buffer.from(bytes)
          .toString()
          .includes(/file-\d+/.exec(listing[at]?.path ?? '')?.[0] ?? '?'),
      ),
    ).toBe(true)
  })
})

function createTreeFileEntry(content: string) {
  return { mode: '100644', oid: originRepository.git(['hash-object', '--stdin'], content) }
}
