// The repository in memory is held beside git itself, on histories made by chance: the same objects lie in both.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { CommitSha } from '../../src/change/ids.ts'
import { openMirror, type Mirror } from '../../src/git/mirror.ts'
import { Dice } from '../../simulate/chance.ts'
import { Objects } from '../../simulate/git/objects.ts'
import { openObjects } from '../../simulate/ports/memory-repository.ts'
import { fuzzSeed } from '../seeded.ts'
import { temporary } from '../git/origin.ts'

const paths = [
  'README.md',
  'a/one.json',
  'a/two.json',
  'a/deep/three.json',
  'b.json',
  '.github/workflows/x.yml',
]
const by = 'people <people@example.invalid>'

/** Commits that grow from one another, with merges of what merges cleanly. */
async function grow(objects: Objects, dice: Dice): Promise<readonly CommitSha[]> {
  const memory = openObjects(objects)
  const empty = objects.addTree(new Map())
  const first = Object.fromEntries(paths.slice(0, 4).map((path) => [path, `first ${path}\n`]))
  const commits = [
    objects.addCommit({ tree: objects.edit(empty, first), parents: [], message: 'Begin\n', by, time: 1000 }),
  ]
  for (let count = 1; count < 24; count++) {
    const parent = dice.of(commits)
    const time = 1000 + count
    if (dice.isTrue(0.25)) {
      const other = dice.of(commits)
      const bases = await memory.mergeBases(parent, other)
      // Two histories that were merged crosswise are not modelled.
      const merged =
        bases.length === 1 ? await memory.merge(parent, other, 'Merge\n\nCloses #7\n') : undefined
      if (merged?.kind === 'clean') commits.push(merged.commit)
      continue
    }
    const path = dice.of(paths)
    const text = dice.isTrue(0.15) ? undefined : `${dice.of(['red', 'green', 'blue'])} ${path} ${count}\n`
    const tree = objects.edit(objects.commit(parent).tree, { [path]: text })
    commits.push(objects.addCommit({ tree, parents: [parent], message: `Change ${count}\n`, by, time }))
  }
  return [...new Set(commits)]
}

/** The stream by which git makes the same objects. */
function importStream(objects: Objects, commits: readonly CommitSha[]): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const marks = new Map(commits.map((commit, at) => [commit, `:${at + 1}`]))
  return commits
    .map((id) => {
      const { tree, parents, message, by: who, time } = objects.commit(id)
      const [from, ...others] = parents.map((parent) => marks.get(parent))
      const files = [...objects.tree(tree)].map(
        ([path, { mode, oid }]) =>
          `M ${mode} inline ${path}\n${data(Buffer.from(objects.blob(oid)).toString())}`,
      )
      return [
        `commit refs/heads/made-${marks.get(id)?.slice(1)}\nmark ${marks.get(id)}\n`,
        `author ${who} ${time} +0000\ncommitter ${who} ${time} +0000\n${data(message)}`,
        from === undefined ? '' : `from ${from}\n`,
        ...others.map((other) => `merge ${other}\n`),
        'deleteall\n',
        ...files,
      ].join('')
    })
    .join('')
}

const objects = new Objects()
const memory = openObjects(objects)
const folder = temporary('simulated')
let commits: readonly CommitSha[] = []
let real: Mirror

beforeAll(async () => {
  commits = await grow(objects, new Dice(fuzzSeed))
  const directory = `${folder.path}/mirror.git`
  real = await openMirror({
    directory,
    url: `file://${folder.path}/none.git`,
    credential: async () => undefined,
  })
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' }
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: directory,
    input: importStream(objects, commits),
    env,
  })
})
afterAll(async () => {
  await real.close()
  folder.remove()
})

describe('in memory and in git', () => {
  test('commits and trees have the same ids and the same content', async () => {
    for (const commit of commits) {
      const tree = await memory.treeOf(commit)
      expect(await real.treeOf(commit)).toBe(tree)
      expect(await real.parentsOf(commit)).toEqual(await memory.parentsOf(commit))
      expect(await real.messageOf(commit)).toBe(await memory.messageOf(commit))
      expect(await real.list(tree)).toEqual(await memory.list(tree))
    }
  })

  test('pairs of commits merge to the same commit, differ in the same paths, and have the same in common', async () => {
    const dice = new Dice(fuzzSeed + 1)
    const kinds = new Set<string>()
    for (let count = 0; count < 16; count++) {
      const [base, head] = [dice.of(commits), dice.of(commits)]
      const bases = await memory.mergeBases(base, head)
      expect(await real.mergeBases(base, head)).toEqual(bases)
      expect(await real.contains(base, head)).toBe(await memory.contains(base, head))
      expect(await real.wasTip(base, head)).toBe(await memory.wasTip(base, head))
      expect(await real.firstParents(head, base)).toEqual(await memory.firstParents(head, base))
      const [from, to] = [await memory.treeOf(base), await memory.treeOf(head)]
      expect(await real.diff(from, to)).toEqual(await memory.diff(from, to))
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
      const [theirs, ours] = [await real.carried(base, head), await memory.carried(base, head)]
      expect(theirs.commits.toSorted(byId)).toEqual(ours.commits.toSorted(byId))
      if (bases.length !== 1) continue
      const merged = await memory.merge(base, head, 'Merge pull request 1\n')
      kinds.add(merged.kind)
      expect(await real.merge(base, head, 'Merge pull request 1\n')).toEqual(merged)
    }
    expect([...kinds].toSorted()).toEqual(['clean', 'conflict', 'nothing'])
  })
})
