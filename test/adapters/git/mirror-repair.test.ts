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
import type { GitMirror } from '../../../src/adapters/git/mirror.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  type OriginRepository,
  openAnonymousMirror,
} from './origin.ts'

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let originRepository: OriginRepository
let gitMirror: GitMirror
let mirrorDirectory: string

beforeEach(async () => {
  temporaryDirectory = createTemporaryDirectory('healing')
  originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
  const first = originRepository.commit({ 'a/x': '1', 'b/y': '2' })
  originRepository.branch('main', originRepository.commit({ 'a/x': '1', 'b/y': '3' }, [first]))
  originRepository.pull(
    7,
    originRepository.commit({ 'a/x': '9', 'b/y': '3' }, [originRepository.tip('main')]),
  )
  mirrorDirectory = join(temporaryDirectory.path, 'mirror.git')
  gitMirror = await openAnonymousMirror(mirrorDirectory, originRepository.url)
  await gitMirror.fetch('main', toPullNumber(7))
  await runTypicalMirrorOperations()
})
afterEach(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

/** Does what a job does: fetches the commits, merges, lists, and reads. */
async function runTypicalMirrorOperations(): Promise<string> {
  await gitMirror.fetch('main', toPullNumber(7))
  const [base, head] = [await gitMirror.tip('main'), await gitMirror.pullHead(toPullNumber(7))]
  if (base === undefined || head === undefined) throw new Error('nothing was fetched')
  const merged = await gitMirror.merge(base, head, 'Merge')
  if (merged.kind !== 'clean') throw new Error(merged.kind)
  const entry = (await gitMirror.list(merged.tree, 'a'))[0]
  if (entry === undefined) throw new Error('an empty tree')
  return Buffer.from(await gitMirror.read(entry.oid)).toString()
}

const listFilesUnder = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())

const mirrorCorruptionCases: readonly (readonly [what: string, damage: () => void])[] = [
  ['is gone', () => rmSync(mirrorDirectory, { recursive: true })],
  [
    'is empty',
    () =>
      readdirSync(mirrorDirectory).forEach((name) =>
        rmSync(join(mirrorDirectory, name), { recursive: true }),
      ),
  ],
  ['has no HEAD', () => unlinkSync(join(mirrorDirectory, 'HEAD'))],
  ['has lost its objects', () => rmSync(join(mirrorDirectory, 'objects'), { recursive: true })],
  [
    'has empty objects',
    () =>
      listFilesUnder(join(mirrorDirectory, 'objects')).forEach((file) =>
        truncateSync(makeFileWritable(file), 0),
      ),
  ],
  [
    'has half of each object',
    () =>
      listFilesUnder(join(mirrorDirectory, 'objects')).forEach((file) =>
        truncateSync(makeFileWritable(file), statSync(file).size >> 1),
      ),
  ],
  [
    'has objects of nonsense',
    () =>
      listFilesUnder(join(mirrorDirectory, 'objects')).forEach((file) =>
        writeFileSync(makeFileWritable(file), 'nonsense'),
      ),
  ],
  [
    'has lost the oldest object',
    () => unlinkSync(listFilesUnder(join(mirrorDirectory, 'objects')).toSorted()[0] ?? ''),
  ],
  [
    'has refs of nonsense',
    () => listFilesUnder(join(mirrorDirectory, 'refs')).forEach((file) => writeFileSync(file, 'nonsense')),
  ],
  ['has lost its refs', () => rmSync(join(mirrorDirectory, 'refs'), { recursive: true })],
  [
    'has a file in its place',
    () => {
      rmSync(mirrorDirectory, { recursive: true })
      writeFileSync(mirrorDirectory, '')
    },
  ],
  ['has the configuration of nonsense', () => writeFileSync(join(mirrorDirectory, 'config'), '[core\n')],
  [
    'has locks that nobody holds',
    () => {
      for (const ref of listFilesUnder(join(mirrorDirectory, 'refs'))) writeFileSync(`${ref}.lock`, '')
      mkdirSync(join(mirrorDirectory, 'x'), { recursive: true })
    },
  ],
] as const

/** Runs twice: the first run may find the damage halfway through. */
async function expectMirrorRepaired(): Promise<void> {
  await runTypicalMirrorOperations().catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error
  })
  expect(await runTypicalMirrorOperations()).toBe('9')
  expect(readdirSync(temporaryDirectory.path).filter((name) => name.includes('damaged'))).toEqual([])
}

test.each(mirrorCorruptionCases)('a mirror whose folder %s is recreated', async (_what, damage) => {
  damage()
  await expectMirrorRepaired()
})

test.each(mirrorCorruptionCases)(
  'a mirror whose folder %s while it was closed is recreated',
  async (_what, damage) => {
    await gitMirror.close()
    damage()
    gitMirror = await openAnonymousMirror(mirrorDirectory, originRepository.url)
    await expectMirrorRepaired()
  },
)

test.each<readonly [string, () => void]>([
  ['is gone', () => rmSync(originRepository.directory, { recursive: true })],
  ['does not have the branch', () => originRepository.git(['update-ref', '-d', 'refs/heads/main'])],
  [
    'sends invalid data',
    () =>
      listFilesUnder(join(originRepository.directory, 'objects')).forEach((file) =>
        writeFileSync(makeFileWritable(file), 'nonsense'),
      ),
  ],
])('an intact mirror is kept when the server %s', async (_what, damage) => {
  const { ino } = statSync(mirrorDirectory)
  damage()
  await gitMirror.fetch('main', toPullNumber(8)).catch(() => undefined)
  expect(statSync(mirrorDirectory).ino).toBe(ino)
})

test('an unknown object id recreates the mirror at most once', async () => {
  const nowhere = toBlobSha('1'.repeat(40))
  const folders = new Set<number>()
  for (let tries = 0; tries < 4; tries += 1) {
    await expect(gitMirror.read(nowhere)).rejects.toMatchObject({ code: 'missing' })
    await gitMirror.fetch('main', toPullNumber(7))
    folders.add(statSync(mirrorDirectory).ino)
  }
  expect(folders.size).toBe(1)
})

function makeFileWritable(file: string): string {
  chmodSync(file, 0o644)
  return file
}
