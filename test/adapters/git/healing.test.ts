// A mirror is a cache: damage to its folder, even while it is open, costs only a fetch.
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { toBlobSha, toPullNumber } from '../../../src/pull-request/ids.ts'
import { GitError } from '../../../src/adapters/git/git-error.ts'
import { openMirror, type GitMirror } from '../../../src/adapters/git/mirror.ts'
import { createOrigin, createTemporaryDirectory, type OriginRepository } from './origin.ts'

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let origin: OriginRepository
let mirror: GitMirror
let directory: string

beforeEach(async () => {
  temporaryDirectory = createTemporaryDirectory('healing')
  origin = createOrigin(join(temporaryDirectory.path, 'origin.git'))
  const first = origin.commit({ 'a/x': '1', 'b/y': '2' })
  origin.branch('main', origin.commit({ 'a/x': '1', 'b/y': '3' }, [first]))
  origin.pull(7, origin.commit({ 'a/x': '9', 'b/y': '3' }, [origin.tip('main')]))
  directory = join(temporaryDirectory.path, 'mirror.git')
  mirror = await openMirror({ directory, url: origin.url, credential: async () => undefined })
  await mirror.fetch('main', toPullNumber(7))
  await exerciseMirror()
})
afterEach(async () => {
  await mirror.close()
  temporaryDirectory.remove()
})

/** Does what a job does: fetches the commits, merges, lists, and reads. */
async function exerciseMirror(): Promise<string> {
  await mirror.fetch('main', toPullNumber(7))
  const [base, head] = [await mirror.tip('main'), await mirror.pullHead(toPullNumber(7))]
  if (base === undefined || head === undefined) throw new Error('nothing was fetched')
  const merged = await mirror.merge(base, head, 'Merge')
  if (merged.kind !== 'clean') throw new Error(merged.kind)
  const entry = (await mirror.list(merged.tree, 'a'))[0]
  if (entry === undefined) throw new Error('an empty tree')
  return Buffer.from(await mirror.read(entry.oid)).toString()
}

const listFilesUnder = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())

const mirrorCorruptionCases: readonly (readonly [what: string, damage: () => void])[] = [
  ['is gone', () => rmSync(directory, { recursive: true })],
  [
    'is empty',
    () => readdirSync(directory).forEach((name) => rmSync(join(directory, name), { recursive: true })),
  ],
  ['has no HEAD', () => unlinkSync(join(directory, 'HEAD'))],
  ['has lost its objects', () => rmSync(join(directory, 'objects'), { recursive: true })],
  [
    'has empty objects',
    () => listFilesUnder(join(directory, 'objects')).forEach((file) => truncateSync(makeWritable(file), 0)),
  ],
  [
    'has half of each object',
    () =>
      listFilesUnder(join(directory, 'objects')).forEach((file) =>
        truncateSync(makeWritable(file), statSync(file).size >> 1),
      ),
  ],
  [
    'has objects of nonsense',
    () =>
      listFilesUnder(join(directory, 'objects')).forEach((file) =>
        writeFileSync(makeWritable(file), 'nonsense'),
      ),
  ],
  [
    'has lost the oldest object',
    () => unlinkSync(listFilesUnder(join(directory, 'objects')).toSorted()[0] ?? ''),
  ],
  [
    'has refs of nonsense',
    () => listFilesUnder(join(directory, 'refs')).forEach((file) => writeFileSync(file, 'nonsense')),
  ],
  ['has lost its refs', () => rmSync(join(directory, 'refs'), { recursive: true })],
  [
    'has a file in its place',
    () => {
      rmSync(directory, { recursive: true })
      writeFileSync(directory, '')
    },
  ],
  ['has the configuration of nonsense', () => writeFileSync(join(directory, 'config'), '[core\n')],
  [
    'has locks that nobody holds',
    () => {
      for (const ref of listFilesUnder(join(directory, 'refs'))) writeFileSync(`${ref}.lock`, '')
      mkdirSync(join(directory, 'x'), { recursive: true })
    },
  ],
] as const

/** Runs twice: the first run may find the damage halfway through. */
async function expectMirrorRepaired(): Promise<void> {
  await exerciseMirror().catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error
  })
  expect(await exerciseMirror()).toBe('9')
  expect(readdirSync(temporaryDirectory.path).filter((name) => name.includes('damaged'))).toEqual([])
}

test.each(mirrorCorruptionCases)('a mirror whose folder %s is recreated', async (_what, damage) => {
  damage()
  await expectMirrorRepaired()
})

test.each(mirrorCorruptionCases)(
  'a mirror whose folder %s while it was closed is recreated',
  async (_what, damage) => {
    await mirror.close()
    damage()
    mirror = await openMirror({ directory, url: origin.url, credential: async () => undefined })
    await expectMirrorRepaired()
  },
)

test.each<readonly [string, () => void]>([
  ['is gone', () => rmSync(origin.directory, { recursive: true })],
  ['does not have the branch', () => origin.git(['update-ref', '-d', 'refs/heads/main'])],
  [
    'sends invalid data',
    () =>
      listFilesUnder(join(origin.directory, 'objects')).forEach((file) =>
        writeFileSync(makeWritable(file), 'nonsense'),
      ),
  ],
])('an intact mirror is kept when the server %s', async (_what, damage) => {
  const { ino } = statSync(directory)
  damage()
  await mirror.fetch('main', toPullNumber(8)).catch(() => undefined)
  expect(statSync(directory).ino).toBe(ino)
})

test('an unknown object id recreates the mirror at most once', async () => {
  const nowhere = toBlobSha('1'.repeat(40))
  const folders = new Set<number>()
  for (let tries = 0; tries < 4; tries += 1) {
    await expect(mirror.read(nowhere)).rejects.toMatchObject({ code: 'missing' })
    await mirror.fetch('main', toPullNumber(7))
    folders.add(statSync(directory).ino)
  }
  expect(folders.size).toBe(1)
})

function makeWritable(file: string): string {
  chmodSync(file, 0o644)
  return file
}
