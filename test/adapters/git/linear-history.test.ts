// A head with a linear history on top of its base is merged and described without git, with the same result as by git.
import { afterAll, expect, test } from '@jest/globals'
import { toCommitSha, toTreeSha, type CommitSha, type TreeSha } from '../../../src/pull-request/ids.ts'
import { readLinearHistory, readIncomingCommits } from '../../../src/adapters/git/commits.ts'
import { TreeListingCache } from '../../../src/adapters/git/listings.ts'
import { mergeCommits, type GitMergeContext } from '../../../src/adapters/git/merge.ts'
import fc from '../../seeded.ts'
import { createRecordedRepository, openAnonymousMirror } from './origin.ts'

const { originRepository, gitObjectReader, recordedGitCalls, runLocalGit, writeRawTree, close } =
  createRecordedRepository('linear-history')
afterAll(close)
const { directory } = originRepository
const gitMergeContext: GitMergeContext = {
  git: runLocalGit,
  objects: gitObjectReader,
  ...new TreeListingCache(runLocalGit, gitObjectReader, 1000),
  directory,
  signature: { name: 'Bot', email: 'bot@example.com' },
}

test('a linear history above any base has the commits that git lists, and any other history is undefined', async () => {
  const root = originRepository.commit({ a: '1' })
  const base = originRepository.commit({ a: '2' }, [root])
  const one = originRepository.commit({ a: '3' }, [base])
  const two = originRepository.commit({ a: '4' }, [one])
  const moved = originRepository.commit({ a: '5' }, [base, originRepository.commit({ a: '6' }, [root])])
  const merged = originRepository.commit({ a: '7' }, [moved, one])
  const mirror = await openAnonymousMirror(directory, originRepository.url)
  for (const onto of [base, moved, merged])
    for (const head of [two, one, base, root]) {
      const fork = originRepository.git(['merge-base', '--all', onto, head])
      const line = originRepository
        .git(['rev-list', head, `^${onto}`])
        .split('\n')
        .filter(Boolean)
      expect(await readLinearHistory(gitObjectReader, head, onto)).toEqual({ fork, line })
      expect(await mirror.contains(onto, head)).toBe(line.length === 0)
      expect(await mirror.contains(head, onto)).toBe(fork === onto)
    }
  await mirror.close()
  for (const head of [merged, originRepository.commit({ a: '8' }), '1'.repeat(40) as CommitSha])
    expect(await readLinearHistory(gitObjectReader, head, base)).toBeUndefined()
})

test('a fork is the only common ancestor that git would name, in any history with any times', async () => {
  const idOf = (index: number) => toCommitSha(String(index).padStart(40, '0'))
  const someCommits = fc.array(fc.tuple(fc.array(fc.nat(11), { maxLength: 2 }), fc.nat(20)), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(someCommits, async (commits) => {
      const parents = commits.map(([wanted], index) => [...new Set(wanted)].filter((one) => one < index))
      const reachable: Set<number>[] = []
      for (const [index, own] of parents.entries())
        reachable.push(new Set([index, ...own.flatMap((parent) => [...(reachable[parent] ?? [])])]))
      const read = (id: string) => {
        const lines = parents[Number(id)]?.map((parent) => `parent ${idOf(parent)}`) ?? []
        const text = [`tree ${id}`, ...lines, `committer x <x> ${commits[Number(id)]?.[1]} +0000`, '', '']
        return Promise.resolve({ type: 'commit', bytes: Buffer.from(text.join('\n')) })
      }
      const objects = { read, tipOf: () => Promise.resolve(undefined) }
      for (const [base, inBase] of reachable.entries())
        for (const [head, inHead] of reachable.entries()) {
          const linear = await readLinearHistory(objects, idOf(head), idOf(base))
          const common = [...inHead].filter((one) => inBase.has(one))
          const best = common.filter((one) => !common.some((its) => its !== one && reachable[its]?.has(one)))
          const line = [...inHead].filter((one) => !inBase.has(one)).sort((a, b) => b - a)
          const isLine = line.every((one) => parents[one]?.length === 1)
          expect(linear).toEqual(
            isLine && best.length === 1 ? { fork: idOf(best[0] ?? 0), line: line.map(idOf) } : undefined,
          )
        }
    }),
  )
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
