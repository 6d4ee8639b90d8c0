import { afterAll, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { toPullNumber, type CommitSha } from '../../../src/pull-request/ids.ts'
import { computeMergeCommitDate } from '../../../src/adapters/git/merge.ts'
import {
  createNumberedLines,
  createOriginRepository,
  createTemporaryDirectory,
  openAnonymousMirror,
} from './origin.ts'

const temporaryDirectory = createTemporaryDirectory('merge')

const origin = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
const gitMirror = await openAnonymousMirror(join(temporaryDirectory.path, 'mirror.git'), origin.url)
afterAll(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

async function fetchBaseAndPullHead(base: CommitSha, head: CommitSha) {
  origin.branch('main', base)
  origin.pull(1, head)
  await gitMirror.fetch('main', toPullNumber(1))
}

async function listPathsChangedByMerge(base: CommitSha, head: CommitSha) {
  await fetchBaseAndPullHead(base, head)
  const result = await gitMirror.merge(base, head, 'Merge')
  if (result.kind !== 'clean') return result
  return (await gitMirror.diff(await gitMirror.treeOf(base), result.tree)).map(({ path }) => path)
}

describe('a merge', () => {
  test('has the base as its first parent, the head as its second, and the given message', async () => {
    const root = origin.commit({ 'a/x': '1\n', 'b/y': '1\n' })
    const base = origin.commit({ 'a/x': '1\n', 'b/y': '2\n' }, [root])
    const head = origin.commit({ 'a/x': '2\n', 'b/y': '1\n' }, [root])
    await fetchBaseAndPullHead(base, head)
    const result = await gitMirror.merge(
      base,
      head,
      'Merge pull request #1\n\nSubject: "quoted" -- ünïcode\n',
    )
    if (result.kind !== 'clean') throw new Error(result.kind)
    expect(await gitMirror.treeOf(result.commit)).toBe(result.tree)
    expect(result.tree).toBe(origin.tree(origin.commit({ 'a/x': '2\n', 'b/y': '2\n' })))
    const show = runGitInMirror(['cat-file', 'commit', result.commit])
    expect(show.split('\n').slice(1, 3)).toEqual([`parent ${base}`, `parent ${head}`])
    expect(show).toMatch(/\n\nMerge pull request #1\n\nSubject: "quoted" -- ünïcode$/)
    expect(show).toContain('author catalog-bot <catalog-bot@noreply.invalid> ')
  })

  test('is the same commit each time, also in another mirror at a later time', async () => {
    const root = origin.commit({ x: '1' })
    const base = origin.commit({ x: '1', y: '1' }, [root])
    const head = origin.commit({ x: '2' }, [root])
    await fetchBaseAndPullHead(base, head)
    const first = await gitMirror.merge(base, head, 'Merge')
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect(await gitMirror.merge(base, head, 'Merge')).toEqual(first)
    const other = await openAnonymousMirror(join(temporaryDirectory.path, 'second.git'), origin.url)
    await other.fetch('main', toPullNumber(1))
    expect(await other.merge(base, head, 'Merge')).toEqual(first)
    await other.close()
    expect(await gitMirror.merge(base, head, 'Another message')).not.toEqual(first)
  })

  test("has a date that a forged head cannot move far ahead of the base's", () => {
    expect(computeMergeCommitDate(1000, 1500)).toBe(1500)
    expect(computeMergeCommitDate(1_700_000_000, 978_307_200)).toBe(1_700_000_000)
    expect(computeMergeCommitDate(1_700_000_000, 99_999_999_999)).toBe(1_700_000_000 + 366 * 24 * 3600)
  })

  test('of a head with a forged author and a date in 2001 succeeds', async () => {
    const root = origin.commit({ x: '1' })
    const forged = origin.commit({ x: '2' }, [root], { time: 978_307_200, author: 'catalog-bot <x@y>' })
    expect(await listPathsChangedByMerge(root, forged)).toEqual(['x'])
  })

  test('of a head that the base contains, or that is the base, is `nothing`', async () => {
    const root = origin.commit({ x: '1' })
    const base = origin.commit({ x: '2' }, [root])
    await fetchBaseAndPullHead(base, root)
    expect(await gitMirror.merge(base, root, 'Merge')).toEqual({ kind: 'nothing' })
    expect(await gitMirror.merge(base, base, 'Merge')).toEqual({ kind: 'nothing' })
  })

  test('of a head that contains the base is clean', async () => {
    const base = origin.commit({ x: '1' })
    const head = origin.commit({ x: '2' }, [base])
    expect(await listPathsChangedByMerge(base, head)).toEqual(['x'])
  })

  test('of two sides that changed the same lines is a conflict that names the path', async () => {
    const root = origin.commit({ 'a b/"x"\n': '1\n', z: '1\n' })
    const base = origin.commit({ 'a b/"x"\n': '2\n', z: '1\n' }, [root])
    const head = origin.commit({ 'a b/"x"\n': '3\n', z: '2\n' }, [root])
    expect(await listPathsChangedByMerge(base, head)).toEqual({
      kind: 'conflict',
      paths: ['a b/"x"\n'],
      reason: 'content',
    })
  })

  test('of two sides that changed different lines of one file is clean', async () => {
    const root = origin.commit({ x: createNumberedLines('line', 50) })
    const base = origin.commit({ x: createNumberedLines('line', 50, 5) }, [root])
    const head = origin.commit({ x: createNumberedLines('line', 50, 45) }, [root])
    expect(await listPathsChangedByMerge(base, head)).toEqual(['x'])
  })

  test('of histories without a common commit is a conflict with that reason', async () => {
    const base = origin.commit({ x: '1' })
    const head = origin.commit({ y: '1' })
    expect(await listPathsChangedByMerge(base, head)).toEqual({
      kind: 'conflict',
      paths: [],
      reason: 'unrelated-histories',
    })
  })

  test('of an unknown commit rejects with `missing`', async () => {
    const base = origin.commit({ x: '1' })
    await fetchBaseAndPullHead(base, base)
    const nowhere = 'f'.repeat(40) as CommitSha
    await expect(gitMirror.merge(base, nowhere, 'Merge')).rejects.toMatchObject({ code: 'missing' })
  })

  test('ignores merge drivers, filters, and text conversions in the attributes of the trees', async () => {
    const attributes = '* merge=union text eol=crlf ident working-tree-encoding=UTF-16 filter=lfs\n'
    const root = origin.commit({ '.gitattributes': attributes, x: '$Id$\n1\n' })
    const base = origin.commit({ '.gitattributes': attributes, x: '$Id$\n2\n' }, [root])
    const head = origin.commit({ '.gitattributes': attributes, x: '$Id$\n3\n' }, [root])
    expect(await listPathsChangedByMerge(base, head)).toMatchObject({ kind: 'conflict', paths: ['x'] })
  })
})

describe('effects of a merge on paths outside the pull request', () => {
  test('a file moved out of another package shows both paths', async () => {
    const victim = createNumberedLines('csv', 60)
    const base = origin.commit({ 'operators/victim/csv.yaml': victim, 'operators/mine/x': 'x' })
    const head = origin.commit({ 'operators/mine/csv.yaml': victim, 'operators/mine/x': 'x' }, [base])
    expect(await listPathsChangedByMerge(base, head)).toEqual([
      'operators/mine/csv.yaml',
      'operators/victim/csv.yaml',
    ])
  })

  test('a change to a file that the base moved is a conflict', async () => {
    const root = origin.commit({ 'operators/a/x.yaml': createNumberedLines('x', 100), z: 'z' })
    const base = origin.commit({ 'operators/b/x.yaml': createNumberedLines('x', 100), z: 'z' }, [root])
    const head = origin.commit({ 'operators/a/x.yaml': createNumberedLines('x', 100, 50), z: 'z' }, [root])
    const result = await listPathsChangedByMerge(base, head)
    expect(result).toEqual({
      kind: 'conflict',
      paths: expect.arrayContaining(['operators/a/x.yaml']),
      reason: 'rename',
    })
  })

  test('a move of a file that the base changed is a conflict', async () => {
    const root = origin.commit({ 'operators/a/x.yaml': createNumberedLines('x', 100), z: 'z' })
    const base = origin.commit({ 'operators/a/x.yaml': createNumberedLines('x', 100, 50), z: 'z' }, [root])
    const head = origin.commit({ 'operators/b/x.yaml': createNumberedLines('x', 100), z: 'z' }, [root])
    expect(await listPathsChangedByMerge(base, head)).toMatchObject({ kind: 'conflict' })
  })

  test('a file added to a directory that the base renamed stays where the pull request put it', async () => {
    const files = (directory: string) => ({
      [`operators/${directory}/x`]: createNumberedLines('x', 30),
      [`operators/${directory}/y`]: createNumberedLines('y', 30),
    })
    const root = origin.commit(files('a'))
    const base = origin.commit(files('c'), [root])
    const head = origin.commit({ ...files('a'), 'operators/a/new': createNumberedLines('new', 30) }, [root])
    expect(await listPathsChangedByMerge(base, head)).toEqual(['operators/a/new'])
  })

  test('a criss-cross history shows the reverted file of another package', async () => {
    const tree = (victim: string, more: Record<string, string> = {}) => ({
      'operators/victim/v': victim,
      ...more,
    })
    const root = origin.commit(tree('v1'))
    const p1 = origin.commit(tree('v1', { 'operators/mine/p': '1' }), [root])
    const m1 = origin.commit(tree('v2'), [root])
    const base = origin.commit(tree('v2', { 'operators/mine/p': '1' }), [m1, p1])
    const head = origin.commit(tree('v1', { 'operators/mine/p': '1' }), [p1, m1])
    expect(origin.git(['merge-base', '--all', base, head]).split('\n')).toHaveLength(2)
    expect(await listPathsChangedByMerge(base, head)).toEqual(['operators/victim/v'])
  })

  test('a base that is several commits ahead causes no conflict', async () => {
    const root = origin.commit({ a: '1', b: '1', c: '1' })
    const moved = origin.commit({ a: '2', b: '1', d: '1' }, [root])
    const base = origin.commit({ a: '3', b: '1', e: '1' }, [moved])
    const head = origin.commit({ a: '1', b: '2', c: '1', f: '1' }, [root])
    expect(await listPathsChangedByMerge(base, head)).toEqual(['b', 'f'])
  })
})

function runGitInMirror(args: readonly string[]): string {
  return origin.git(['--git-dir', join(temporaryDirectory.path, 'mirror.git'), ...args])
}
