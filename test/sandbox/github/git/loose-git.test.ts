// Compares how the sandbox reads and writes Git files with Git itself in the same folder, on random histories.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveGitRequest } from '../../../../sandbox/github/git/git-http.ts'
import { countChangedLines } from '../../../../sandbox/github/git/count-lines.ts'
import {
  commitFiles,
  listCommitsNotReachableFrom,
  createBareRepository,
  deleteRef,
  runGitForText,
  GitCommandError,
  isAncestor,
  findMergeBase,
  mergeTrees,
  readBranchesAndTags,
  setRef,
  type FileChangesByPath,
} from '../../../../sandbox/github/git/git-store.ts'
import { findMergeCommitWithParent } from '../../../../sandbox/github/git/loose-history.ts'
import { NotLooseObjectError } from '../../../../sandbox/github/git/loose-objects.ts'
import {
  countFilesInLooseTreeObject,
  diffLooseTreeObjects,
  mergeTreesThreeWay,
} from '../../../../sandbox/github/git/loose-trees.ts'
import { toCommitSha, type CommitSha } from '../../../../src/pull-request/ids.ts'
import {
  openOriginRepository,
  createTemporaryDirectory,
  type OriginRepository,
} from '../../../adapters/git/origin.ts'
import { fuzzSeed } from '../../../seeded.ts'

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let repositoryDirectory: string
let origin: OriginRepository
const randomCommitShas: CommitSha[] = []
let prngState = fuzzSeed
/** A random integer below `limit`. */
const randomIntegerBelow = (limit: number): number => {
  prngState = (prngState * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((prngState / 2 ** 31) * limit)
}
const pickRandomElement = <T>(from: readonly T[]): T => from[randomIntegerBelow(from.length)] as T
const sampleFilePaths = ['a', 'b', 'd/a', 'd/b', 'd/e/a', 'd-e', 'f/a', 'f/b', 'd.e']
const createRandomText = (): string =>
  Array.from({ length: randomIntegerBelow(6) }, () => pickRandomElement(['x', 'y', 'z', 'w'])).join('\n')

beforeAll(async () => {
  temporaryDirectory = createTemporaryDirectory('loose-git')
  repositoryDirectory = join(temporaryDirectory.path, 'one.git')
  await createBareRepository(repositoryDirectory, 'main')
  origin = openOriginRepository(repositoryDirectory)
  const trees = new Map<CommitSha, Readonly<Record<string, string>>>()
  for (let count = 0; count < 40; count++) {
    const parents = [
      pickRandomElement(randomCommitShas),
      ...(randomIntegerBelow(3) === 0 ? [pickRandomElement(randomCommitShas)] : []),
    ].filter((it) => it !== undefined)
    const files: Record<string, string> = {
      ...(parents[0] && trees.get(parents[0])),
      [pickRandomElement(sampleFilePaths)]: createRandomText(),
    }
    if (randomIntegerBelow(4) === 0) delete files[pickRandomElement(Object.keys(files))]
    if (Object.keys(files).length === 0) files['a'] = ''
    // Two consecutive commits share a second.
    const commit = origin.commit(files, [...new Set(parents)], {
      time: 1_700_000_000 + Math.floor(count / 2),
    })
    randomCommitShas.push(commit)
    trees.set(commit, files)
  }
})
afterAll(() => temporaryDirectory.remove())

const pickRandomCommitPairs = (count: number) =>
  Array.from(
    { length: count },
    () => [pickRandomElement(randomCommitShas), pickRandomElement(randomCommitShas)] as const,
  )
const splitLines = (text: string) => text.split('\n').filter(Boolean)

describe('a history', () => {
  test('has the same commits, merge bases, and introducing merges as in Git', async () => {
    for (const [one, other] of pickRandomCommitPairs(15)) {
      expect(await listCommitsNotReachableFrom(repositoryDirectory, [one], other)).toEqual(
        splitLines(origin.git(['rev-list', other, `^${one}`])),
      )
      const bases = splitLines(
        spawnSync('git', ['merge-base', '--all', one, other], { cwd: repositoryDirectory, encoding: 'utf8' })
          .stdout,
      )
      const base = await findMergeBase(repositoryDirectory, one, other)
      if (bases.length === 0) expect(base).toBeUndefined()
      else expect(bases).toContain(base)
      const isIn = bases.includes(one)
      expect(await isAncestor(repositoryDirectory, one, other)).toBe(isIn)
      if (!isIn || one === other) continue
      const line = splitLines(
        origin.git(['rev-list', '--first-parent', '--ancestry-path', `${one}..${other}`]),
      )
      expect(findMergeCommitWithParent(repositoryDirectory, one, other)).toBe(line.at(-1))
    }
  })
})

describe('trees', () => {
  test('differ in the same files and by the same number of lines as in Git', async () => {
    for (const [one, other] of pickRandomCommitPairs(25)) {
      const [before, after] = [origin.tree(one), origin.tree(other)]
      const letter = (before: unknown, after: unknown) =>
        before === undefined ? 'A' : after === undefined ? 'D' : 'M'
      const found = diffLooseTreeObjects(repositoryDirectory, before, after)
      const gitOutput = origin.git(['diff-tree', '-r', '--no-renames', '--name-status', before, after])
      expect(found.map((it) => `${letter(it.before, it.after)}\t${it.path}`).sort()).toEqual(
        splitLines(gitOutput).sort(),
      )
      const numbers = splitLines(origin.git(['diff', '-M', '--numstat', one, other]))
      const sum = (at: number) => numbers.reduce((total, line) => total + Number(line.split('\t')[at]), 0)
      expect(await countChangedLines(repositoryDirectory, one, other)).toEqual({
        files: numbers.length,
        additions: sum(0),
        deletions: sum(1),
      })
      expect(countFilesInLooseTreeObject(repositoryDirectory, after)).toBe(
        splitLines(origin.git(['ls-tree', '-r', '--name-only', after])).length,
      )
    }
  })

  test('are merged as Git merges them, or are left to Git', async () => {
    let [made, left] = [0, 0]
    for (const [one, other] of pickRandomCommitPairs(40)) {
      const merged = spawnSync('git', ['merge-tree', '--write-tree', '--no-messages', one, other], {
        cwd: repositoryDirectory,
        encoding: 'utf8',
      })
      const tree = merged.status === 0 ? merged.stdout.trim() : undefined
      const base = await findMergeBase(repositoryDirectory, one, other)
      if (base === undefined) continue
      expect(await mergeTrees(repositoryDirectory, one, other)).toBe(tree)
      try {
        const found = mergeTreesThreeWay(
          repositoryDirectory,
          origin.tree(toCommitSha(base)),
          origin.tree(one),
          origin.tree(other),
        )
        if (
          (await isAncestor(repositoryDirectory, one, other)) ||
          (await isAncestor(repositoryDirectory, other, one))
        )
          continue
        expect(found).toBe(tree)
        made += 1
      } catch (error) {
        if (!(error instanceof NotLooseObjectError)) throw error
        left += 1
      }
    }
    expect(made).toBeGreaterThan(0)
    expect(left).toBeGreaterThan(0)
  })

  test('are edited as Git edits them', async () => {
    const by = { name: 'A B', email: 'a@example.invalid', at: 1_700_000_000_000 }
    const edits: readonly FileChangesByPath[] = [
      { a: 'x\n', 'd/e/new.txt': 'new', 'd/e/run': { content: '#!', mode: '100755' } },
      { d: null, 'f/a': { content: 'a', mode: '120000' } },
      { 'd/e/a': null, 'd/e/b': null, nowhere: null, 'no/where': null },
      { 'a/below/a/file': 'x', f: 'a file instead' },
      { 'd/x': 'x', d: null, 'd/y': Buffer.from([0, 255]) },
    ]
    for (const files of edits) {
      const parent = pickRandomElement(randomCommitShas)
      const made = await commitFiles(repositoryDirectory, parent, files, 'A message\n\nwith a body', by)
      // Makes Git itself write the commit: the non-ASCII path is left to Git, and is then removed again.
      const asked = await commitFiles(repositoryDirectory, parent, { ...files, 'ä/é': '' }, 'x', by)
      const without = await commitFiles(
        repositoryDirectory,
        asked,
        { 'ä/é': null },
        'A message\n\nwith a body',
        by,
      )
      expect(origin.tree(toCommitSha(made))).toBe(origin.tree(toCommitSha(without)))
      expect(origin.git(['log', '-1', '--format=%P %an %ae %at %cn %B', made])).toBe(
        `${parent} A B a@example.invalid 1700000000 A B A message\n\nwith a body`,
      )
    }
    expect(origin.git(['fsck', '--strict', '--no-dangling'])).toBe('')
  })
})

describe('a ref', () => {
  test('moves only from the expected commit', async () => {
    const [one = '', two = ''] = randomCommitShas
    await setRef(repositoryDirectory, 'refs/heads/topic/one', one, '')
    await setRef(repositoryDirectory, 'refs/heads/topic/one', two, one)
    await expect(setRef(repositoryDirectory, 'refs/heads/topic/one', one, one)).rejects.toBeInstanceOf(
      GitCommandError,
    )
    await expect(setRef(repositoryDirectory, 'refs/heads/topic/one', one, '')).rejects.toBeInstanceOf(
      GitCommandError,
    )
    await expect(setRef(repositoryDirectory, 'refs/heads/topic', one)).rejects.toBeInstanceOf(GitCommandError)
    await expect(setRef(repositoryDirectory, 'refs/heads/a..b', one)).rejects.toBeInstanceOf(GitCommandError)
    await expect(setRef(repositoryDirectory, 'refs/heads/none', 'f'.repeat(40))).rejects.toBeInstanceOf(
      GitCommandError,
    )
    expect([...(await readBranchesAndTags(repositoryDirectory))]).toEqual([['refs/heads/topic/one', two]])
    expect(readFileSync(join(repositoryDirectory, 'refs/heads/topic/one'), 'utf8')).toBe(`${two}\n`)
    await deleteRef(repositoryDirectory, 'refs/heads/topic/one')
    await deleteRef(repositoryDirectory, 'refs/heads/topic/one')
    // The folder of the deleted ref does not block a ref of the same name.
    await setRef(repositoryDirectory, 'refs/heads/topic', one)
    expect(
      await runGitForText(repositoryDirectory, 'for-each-ref', '--format=%(refname) %(objectname)'),
    ).toBe(`refs/heads/topic ${one}\n`)
    await runGitForText(repositoryDirectory, 'pack-refs', '--all')
    await setRef(repositoryDirectory, 'refs/heads/topic', two, one)
    await deleteRef(repositoryDirectory, 'refs/heads/topic')
    expect([...(await readBranchesAndTags(repositoryDirectory))]).toEqual([])
  })
})

describe('the ref advertisement', () => {
  const ask = (query: string, protocol: string) =>
    serveGitRequest({
      path: repositoryDirectory,
      method: 'GET',
      service: 'info/refs',
      query: `service=${query}`,
      contentType: '',
      protocol,
      user: 'x',
      body: Buffer.alloc(0),
    })

  test.each([
    ['git-upload-pack', 'version=2'],
    ['git-upload-pack', ''],
    ['git-receive-pack', ''],
    ['git-receive-pack', 'version=2'],
  ])('for %s with %j is the same as from Git', async (service, protocol) => {
    const backend = (): string => {
      const { stdout } = spawnSync('git', ['http-backend'], {
        env: {
          PATH: process.env['PATH'],
          GIT_PROJECT_ROOT: repositoryDirectory,
          GIT_HTTP_EXPORT_ALL: '1',
          PATH_INFO: '/info/refs',
          QUERY_STRING: `service=${service}`,
          REQUEST_METHOD: 'GET',
          GIT_PROTOCOL: protocol,
          REMOTE_USER: 'x',
        },
      })
      return stdout.subarray(stdout.indexOf('\r\n\r\n') + 4).toString()
    }
    for (const name of ['one', 'two']) {
      await setRef(repositoryDirectory, `refs/heads/${name}`, pickRandomElement(randomCommitShas))
      await setRef(repositoryDirectory, 'refs/pull/7/head', pickRandomElement(randomCommitShas))
      const { headers, body } = await ask(service, protocol)
      expect(body.toString()).toBe(backend())
      expect(headers['content-type']).toBe(`application/x-${service}-advertisement`)
    }
    for (const ref of ['refs/heads/one', 'refs/heads/two', 'refs/pull/7/head'])
      await deleteRef(repositoryDirectory, ref)
    expect((await ask(service, protocol)).body.toString()).toBe(backend())
  })
})
