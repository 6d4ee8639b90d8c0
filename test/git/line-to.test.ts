// A head in one straight line above its base is merged and described without git's help as git would have done it.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { treeSha, type CommitSha, type TreeSha } from '../../src/change/ids.ts'
import { readCarried } from '../../src/git/carried-commits.ts'
import { lineTo } from '../../src/git/line-to.ts'
import { openListings } from '../../src/git/listings.ts'
import { localGit, type LocalGit } from '../../src/git/local-git.ts'
import { mergeCommits, type MergeTools } from '../../src/git/merge.ts'
import { openObjectReader, type ObjectReader } from '../../src/git/object-reader.ts'
import { makeOrigin, temporary, type Origin } from './origin.ts'

const folder = temporary('line-to')
const closing = new AbortController()
const asked: string[] = []
let origin: Origin
let objects: ObjectReader
let git: LocalGit
let tools: MergeTools

beforeAll(() => {
  origin = makeOrigin(join(folder.path, 'origin.git'))
  const { directory } = origin
  const options = { directory, timeout: 60_000, signal: closing.signal }
  objects = openObjectReader(options)
  const run = localGit(options)
  git = (args, more) => {
    asked.push(args[0] ?? '')
    return run(args, more)
  }
  const signature = { name: 'Bot', email: 'bot@example.com' }
  tools = { git, objects, ...openListings(git, objects, 1000), directory, signature }
})
afterAll(() => {
  closing.abort()
  objects.close()
  folder.remove()
})

/** Asked of git without our closed ways: its own words. */
const gitsLine = (base: CommitSha, head: CommitSha) =>
  origin
    .git(['rev-list', '--topo-order', head, `^${base}`])
    .split('\n')
    .filter(Boolean)

test('a line is what git lists, and no other history is taken for one', async () => {
  const root = origin.commit({ a: '1' })
  const base = origin.commit({ a: '2' }, [root])
  const one = origin.commit({ a: '3' }, [base])
  const two = origin.commit({ a: '4' }, [one])
  expect(await lineTo(objects, two, base)).toEqual(gitsLine(base, two))
  expect(await lineTo(objects, base, base)).toEqual([])
  const behind = origin.commit({ a: '5' }, [root])
  const merge = origin.commit({ a: '6' }, [base, behind])
  const other = origin.commit({ a: '7' })
  for (const head of [behind, merge, other, root]) expect(await lineTo(objects, head, base)).toBeUndefined()
  expect(await lineTo(objects, '1'.repeat(40) as CommitSha, base)).toBeUndefined()
})

test('a head above its base is merged into its own tree, and no git is started for it', async () => {
  const base = origin.commit({ 'a/x': '1', b: '1' })
  const head = origin.commit({ 'a/y': '1', b: '1' }, [base])
  await tools.diff(origin.tree(base), origin.tree(head))
  asked.length = 0
  const result = await mergeCommits(tools, base, head, 'Merge')
  expect(asked).toEqual([])
  expect(result).toMatchObject({ kind: 'clean', tree: mergedByGit(base, head) })
  expect(await readCarried({ git, objects }, base, head)).toMatchObject({
    isWhole: true,
    commits: [{ id: head }],
  })
  expect(asked).toEqual([])
})

test.each([
  ['an old mode', '100664'],
  ['a directory with nothing in it', '40000'],
])('a head whose tree has %s is merged as git writes trees', async (_, mode) => {
  const base = origin.commit({ b: '1' })
  const blob = origin.git(['hash-object', '-w', '--stdin'], '1')
  const empty = origin.git(['hash-object', '-t', 'tree', '-w', '--stdin'], '')
  const tree = rawTree([mode, 'a', mode === '40000' ? empty : blob], ['100644', 'b', blob])
  const head = origin.commitTree(tree, [base])
  const merged = mergedByGit(base, head)
  expect(await mergeCommits(tools, base, head, 'Merge')).toMatchObject({ kind: 'clean', tree: merged })
})

test('workflow files that a head edits are seen, wherever the line has them', async () => {
  const base = origin.commit({ '.github/workflows/a.yml': '1', b: '1' })
  const one = origin.commit({ '.github/workflows/a.yml': '2', b: '1' }, [base])
  const two = origin.commit({ '.github/workflows/a.yml': '1', b: '2' }, [one])
  const three = origin.commit({ '.github/workflows/a.yml': '1', b: '3' }, [two])
  const { commits } = await readCarried({ git, objects }, base, three)
  expect(commits.map(({ id, editsWorkflows }) => [id, editsWorkflows])).toEqual([
    [three, false],
    [two, true],
    [one, true],
  ])
})

function mergedByGit(base: CommitSha, head: CommitSha): TreeSha {
  return treeSha(origin.git(['merge-tree', '--write-tree', base, head]))
}

function rawTree(...entries: readonly (readonly [mode: string, name: string, oid: string])[]): TreeSha {
  const bytes = entries.map(([mode, name, oid]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  )
  return treeSha(
    origin.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], Buffer.concat(bytes)),
  )
}
