// The in-memory repository is compared with git on random histories: both contain the same objects.
import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, test } from '@jest/globals'
import type { CommitSha } from '../../src/pull-request/ids.ts'
import { SeededRandom } from '../../simulate/seeded-random.ts'
import { GitObjects } from '../../simulate/git/git-objects.ts'
import { createInMemoryGitObjectReader } from '../../simulate/ports/memory-repository.ts'
import { fuzzSeed } from '../seeded.ts'
import { createTemporaryDirectory, openAnonymousMirror } from '../adapters/git/origin.ts'

const sampleFilePaths = [
  'README.md',
  'a/one.json',
  'a/two.json',
  'a/deep/three.json',
  'b.json',
  '.github/workflows/x.yml',
]
const commitAuthor = 'people <people@example.invalid>'

/** Random commits on earlier ones, with merges of commits that do not conflict. */
async function createRandomHistory(objects: GitObjects, dice: SeededRandom): Promise<readonly CommitSha[]> {
  const memory = createInMemoryGitObjectReader(objects)
  const empty = objects.addTree(new Map())
  const first = Object.fromEntries(sampleFilePaths.slice(0, 4).map((path) => [path, `first ${path}\n`]))
  const commits = [
    objects.addCommit({
      tree: objects.edit(empty, first),
      parents: [],
      message: 'Begin\n',
      by: commitAuthor,
      time: 1000,
    }),
  ]
  for (let count = 1; count < 24; count++) {
    const parent = dice.of(commits)
    const time = 1000 + count
    if (dice.isTrue(0.25)) {
      const other = dice.of(commits)
      const bases = await memory.mergeBases(parent, other)
      // Criss-cross histories are not supported.
      const merged =
        bases.length === 1 ? await memory.merge(parent, other, 'Merge\n\nCloses #7\n') : undefined
      if (merged?.kind === 'clean') commits.push(merged.commit)
      continue
    }
    const path = dice.of(sampleFilePaths)
    const text = dice.isTrue(0.15) ? undefined : `${dice.of(['red', 'green', 'blue'])} ${path} ${count}\n`
    const tree = objects.edit(objects.commit(parent).tree, { [path]: text })
    commits.push(
      objects.addCommit({ tree, parents: [parent], message: `Change ${count}\n`, by: commitAuthor, time }),
    )
  }
  return [...new Set(commits)]
}

/** The input of `git fast-import` that creates the same objects. */
function buildFastImportStream(objects: GitObjects, commits: readonly CommitSha[]): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const marks = new Map(commits.map((commit, at) => [commit, `:${at + 1}`]))
  return commits
    .map((id) => {
      const { tree, parents, message, by: authorLine, time } = objects.commit(id)
      const [from, ...others] = parents.map((parent) => marks.get(parent))
      const files = [...objects.tree(tree)].map(
        ([path, { mode, oid }]) =>
          `M ${mode} inline ${path}\n${data(Buffer.from(objects.blob(oid)).toString())}`,
      )
      return [
        `commit refs/heads/made-${marks.get(id)?.slice(1)}\nmark ${marks.get(id)}\n`,
        `author ${authorLine} ${time} +0000\ncommitter ${authorLine} ${time} +0000\n${data(message)}`,
        from === undefined ? '' : `from ${from}\n`,
        ...others.map((other) => `merge ${other}\n`),
        'deleteall\n',
        ...files,
      ].join('')
    })
    .join('')
}

const gitObjects = new GitObjects()
const inMemoryRepository = createInMemoryGitObjectReader(gitObjects)
const temporaryDirectory = createTemporaryDirectory('simulated')

const randomHistoryCommits = await createRandomHistory(gitObjects, new SeededRandom(fuzzSeed))
const directory = `${temporaryDirectory.path}/mirror.git`
const realGitMirror = await openAnonymousMirror(directory, `file://${temporaryDirectory.path}/none.git`)
const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' }
execFileSync('git', ['fast-import', '--quiet', '--force'], {
  cwd: directory,
  input: buildFastImportStream(gitObjects, randomHistoryCommits),
  env,
})
afterAll(async () => {
  await realGitMirror.close()
  temporaryDirectory.remove()
})

describe('the in-memory repository and git', () => {
  test('have the same ids and content of commits and trees', async () => {
    for (const commit of randomHistoryCommits) {
      const tree = await inMemoryRepository.treeOf(commit)
      expect(await realGitMirror.treeOf(commit)).toBe(tree)
      expect(await realGitMirror.parentsOf(commit)).toEqual(await inMemoryRepository.parentsOf(commit))
      expect(await realGitMirror.messageOf(commit)).toBe(await inMemoryRepository.messageOf(commit))
      expect(await realGitMirror.list(tree)).toEqual(await inMemoryRepository.list(tree))
    }
  })

  test('have the same merges, diffs, and merge bases of pairs of commits', async () => {
    const dice = new SeededRandom(fuzzSeed + 1)
    const kinds = new Set<string>()
    for (let count = 0; count < 16; count++) {
      const [base, head] = [dice.of(randomHistoryCommits), dice.of(randomHistoryCommits)]
      const bases = await inMemoryRepository.mergeBases(base, head)
      expect(await realGitMirror.mergeBases(base, head)).toEqual(bases)
      expect(await realGitMirror.contains(base, head)).toBe(await inMemoryRepository.contains(base, head))
      expect(await realGitMirror.wasTip(base, head)).toBe(await inMemoryRepository.wasTip(base, head))
      expect(await realGitMirror.firstParents(head, base)).toEqual(
        await inMemoryRepository.firstParents(head, base),
      )
      const [from, to] = [await inMemoryRepository.treeOf(base), await inMemoryRepository.treeOf(head)]
      expect(await realGitMirror.diff(from, to)).toEqual(await inMemoryRepository.diff(from, to))
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
      const [theirs, ours] = [
        await realGitMirror.readIncomingCommits(base, head),
        await inMemoryRepository.readIncomingCommits(base, head),
      ]
      expect(theirs.commits.toSorted(byId)).toEqual(ours.commits.toSorted(byId))
      if (bases.length !== 1) continue
      const merged = await inMemoryRepository.merge(base, head, 'Merge pull request 1\n')
      kinds.add(merged.kind)
      expect(await realGitMirror.merge(base, head, 'Merge pull request 1\n')).toEqual(merged)
    }
    expect([...kinds].toSorted()).toEqual(['clean', 'conflict', 'nothing'])
  })
})
