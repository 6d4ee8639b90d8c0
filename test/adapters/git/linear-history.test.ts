// A head with a linear history on top of its base is merged and described without git, with the same result as by git.
import { afterAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { toTreeSha, type CommitSha, type TreeSha } from '../../../src/pull-request/ids.ts'
import { isNearTip, readLinearHistory, readIncomingCommits } from '../../../src/adapters/git/commits.ts'
import { TreeListingCache } from '../../../src/adapters/git/listings.ts'
import { createGitRunner, type GitRunner } from '../../../src/adapters/git/run-git.ts'
import { mergeCommits, type GitMergeContext } from '../../../src/adapters/git/merge.ts'
import { createCatFileObjectReader } from '../../../src/adapters/git/object-reader.ts'
import { createOriginRepository, createTemporaryDirectory } from './origin.ts'

const temporaryDirectory = createTemporaryDirectory('linear-history')
const abortController = new AbortController()
const recordedGitCalls: string[] = []

const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
const { directory } = originRepository
const options = { directory, timeout: 60_000, signal: abortController.signal }
const gitObjectReader = createCatFileObjectReader(options)
const run = createGitRunner(options)
const runLocalGit: GitRunner = (args, more) => {
  recordedGitCalls.push(args[0] ?? '')
  return run(args, more)
}
const gitMergeContext: GitMergeContext = {
  git: runLocalGit,
  objects: gitObjectReader,
  ...new TreeListingCache(runLocalGit, gitObjectReader, 1000),
  directory,
  signature: { name: 'Bot', email: 'bot@example.com' },
}
afterAll(() => {
  abortController.abort()
  gitObjectReader.close()
  temporaryDirectory.remove()
})

const listCommitsWithGit = (base: CommitSha, head: CommitSha) =>
  originRepository
    .git(['rev-list', '--topo-order', head, `^${base}`])
    .split('\n')
    .filter(Boolean)

test('a linear history has the commits that git lists, and any other history is undefined', async () => {
  const root = originRepository.commit({ a: '1' })
  const base = originRepository.commit({ a: '2' }, [root])
  const one = originRepository.commit({ a: '3' }, [base])
  const two = originRepository.commit({ a: '4' }, [one])
  expect(await readLinearHistory(gitObjectReader, two, base)).toEqual(listCommitsWithGit(base, two))
  expect(await readLinearHistory(gitObjectReader, base, base)).toEqual([])
  const behind = originRepository.commit({ a: '5' }, [root])
  const merge = originRepository.commit({ a: '6' }, [base, behind])
  const other = originRepository.commit({ a: '7' })
  for (const head of [behind, merge, other, root])
    expect(await readLinearHistory(gitObjectReader, head, base)).toBeUndefined()
  expect(await readLinearHistory(gitObjectReader, '1'.repeat(40) as CommitSha, base)).toBeUndefined()
})

test('a commit is near the tip only if it was one of the last tips', async () => {
  const root = originRepository.commit({ a: '1' })
  const head = originRepository.commit({ a: '2' }, [root])
  const later = originRepository.commit({ a: '3' }, [root])
  const tip = originRepository.commit({ a: '4' }, [later, head])
  for (const commit of [tip, later, root]) expect(await isNearTip(gitObjectReader, tip, commit)).toBe(true)
  for (const commit of [head, originRepository.commit({ a: '5' }, [tip])])
    expect(await isNearTip(gitObjectReader, tip, commit)).toBe(false)
  let last = tip
  for (let count = 0; count < 32; count++) last = originRepository.commit({ a: `${count}` }, [last])
  expect(await isNearTip(gitObjectReader, last, tip)).toBe(false)
})

test('a head on top of its base is merged into its own tree, without a git process', async () => {
  const base = originRepository.commit({ 'a/x': '1', b: '1' })
  const head = originRepository.commit({ 'a/y': '1', b: '1' }, [base])
  await gitMergeContext.diff(originRepository.tree(base), originRepository.tree(head))
  recordedGitCalls.length = 0
  const result = await mergeCommits(gitMergeContext, base, head, 'Merge')
  expect(recordedGitCalls).toEqual([])
  expect(result).toMatchObject({ kind: 'clean', tree: mergeTreesWithGit(base, head) })
  expect(await readIncomingCommits({ git: runLocalGit, objects: gitObjectReader }, base, head)).toMatchObject(
    { isWhole: true, commits: [{ id: head }] },
  )
  expect(recordedGitCalls).toEqual([])
})

test.each([
  ['an old mode', '100664'],
  ['an empty directory', '40000'],
])('a head with %s in its tree is merged into the same tree as by git', async (_, mode) => {
  const base = originRepository.commit({ b: '1' })
  const blob = originRepository.git(['hash-object', '-w', '--stdin'], '1')
  const empty = originRepository.git(['hash-object', '-t', 'tree', '-w', '--stdin'], '')
  const tree = writeRawTree([mode, 'a', mode === '40000' ? empty : blob], ['100644', 'b', blob])
  const head = originRepository.commitTree(tree, [base])
  const merged = mergeTreesWithGit(base, head)
  expect(await mergeCommits(gitMergeContext, base, head, 'Merge')).toMatchObject({
    kind: 'clean',
    tree: merged,
  })
})

test('workflow edits are found in every commit of a linear history', async () => {
  const base = originRepository.commit({ '.github/workflows/a.yml': '1', b: '1' })
  const one = originRepository.commit({ '.github/workflows/a.yml': '2', b: '1' }, [base])
  const two = originRepository.commit({ '.github/workflows/a.yml': '1', b: '2' }, [one])
  const three = originRepository.commit({ '.github/workflows/a.yml': '1', b: '3' }, [two])
  const { commits } = await readIncomingCommits({ git: runLocalGit, objects: gitObjectReader }, base, three)
  expect(commits.map(({ id, editsWorkflows }) => [id, editsWorkflows])).toEqual([
    [three, false],
    [two, true],
    [one, true],
  ])
})

function mergeTreesWithGit(base: CommitSha, head: CommitSha): TreeSha {
  return toTreeSha(originRepository.git(['merge-tree', '--write-tree', base, head]))
}

function writeRawTree(...entries: readonly (readonly [mode: string, name: string, oid: string])[]): TreeSha {
  const bytes = entries.map(([mode, name, oid]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  )
  return toTreeSha(
    originRepository.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], Buffer.concat(bytes)),
  )
}
