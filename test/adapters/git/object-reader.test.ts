import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toBlobSha, type BlobSha } from '../../../src/pull-request/ids.ts'
import type { GitMirror } from '../../../src/adapters/git/mirror.ts'
import { reportSkippedTest } from '../../left-out.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  type OriginRepository,
  openAnonymousMirror,
} from './origin.ts'

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let originRepository: OriginRepository
let gitMirror: GitMirror
beforeEach(async () => {
  temporaryDirectory = createTemporaryDirectory('read')
  originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
  gitMirror = await openAnonymousMirror(join(temporaryDirectory.path, 'mirror.git'), originRepository.url)
})
afterEach(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

async function writeBlobs(contents: readonly string[]): Promise<readonly BlobSha[]> {
  originRepository.branch(
    'main',
    originRepository.commit(Object.fromEntries(contents.map((content, at) => [`f${at}`, content]))),
  )
  await gitMirror.fetch('main')
  return contents.map(computeBlobId)
}

/** The object ID of a blob, without a git process for each. */
function computeBlobId(content: string): BlobSha {
  const bytes = Buffer.from(content)
  return toBlobSha(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'))
}

const decodeText = (bytes: Uint8Array) => Buffer.from(bytes).toString()

describe('reading', () => {
  test('returns the bytes of a blob: empty, with NULs, or with lines that look like output of git', async () => {
    const contents = [
      '',
      '\0\0',
      '\n',
      'abc missing\n',
      `${'a'.repeat(40)} blob 5\nhello\n`,
      'x'.repeat(1_000_000),
    ]
    const ids = await writeBlobs(contents)
    for (const [at, id] of ids.entries()) expect(decodeText(await gitMirror.read(id))).toBe(contents[at])
  })

  test('returns the right object to each of many concurrent reads through one process', async () => {
    const contents = Array.from({ length: 500 }, (_, at) => `content ${at} `.repeat(at))
    const ids = await writeBlobs(contents)
    const before = gitMirror.readerPid
    const nowhere = toBlobSha('9'.repeat(40))
    const answers = await Promise.all(
      ids.flatMap((id) => [gitMirror.read(id).then(decodeText), gitMirror.read(nowhere).catch(String)]),
    )
    expect(answers.filter((_, at) => at % 2 === 0)).toEqual(contents)
    expect(new Set(answers.filter((_, at) => at % 2 === 1))).toEqual(
      new Set([`GitError: object ${nowhere} is missing`]),
    )
    expect(before === undefined || before === gitMirror.readerPid).toBe(true)
  })

  const counters = (pid: number) => `/proc/${pid}/io`
  const hasCounters = existsSync(counters(process.pid))
  if (!hasCounters) reportSkippedTest('/proc/PID/io')
  const itCounts = hasCounters ? test : test.skip
  itCounts('reads many objects in few round trips to git', async () => {
    const count = 3000
    const ids = await writeBlobs(Array.from({ length: count }, (_, at) => `content ${at}`))
    await gitMirror.read(ids[0] ?? toBlobSha(''))
    const countReadCalls = (): number => {
      const text = readFileSync(counters(gitMirror.readerPid ?? 0), 'utf8')
      return Number(/^syscr: (\d+)$/m.exec(text)?.[1])
    }
    const before = countReadCalls()
    await Promise.all(ids.map((id) => gitMirror.read(id)))
    // Each object takes two lines of input, and git reads many lines in one system call.
    expect(countReadCalls() - before).toBeLessThan(count / 10)
  })

  test('of an object above the size limit rejects with `too-large`, and one at the limit is read', async () => {
    const [id = toBlobSha('0'.repeat(40))] = await writeBlobs(['12345'])
    expect(decodeText(await gitMirror.read(id, 5))).toBe('12345')
    await expect(gitMirror.read(id, 4)).rejects.toMatchObject({ code: 'too-large' })
    expect(decodeText(await gitMirror.read(id))).toBe('12345')
  })

  test('finds objects that were fetched after its process started', async () => {
    const [first] = await writeBlobs(['one'])
    const pid = gitMirror.readerPid
    const [second] = await writeBlobs(['two'])
    expect(decodeText(await gitMirror.read(first ?? toBlobSha('')))).toBe('one')
    expect(decodeText(await gitMirror.read(second ?? toBlobSha('')))).toBe('two')
    expect(pid === undefined || pid === gitMirror.readerPid).toBe(true)
  })

  test('continues if its process is killed, even in the middle of many responses', async () => {
    const contents = Array.from({ length: 200 }, (_, at) => `${at}`.repeat(20_000))
    const ids = await writeBlobs(contents)
    await gitMirror.read(ids[0] ?? toBlobSha(''))
    for (let round = 0; round < 5; round++) {
      const before = gitMirror.readerPid
      const answers = Promise.all(ids.map((id) => gitMirror.read(id)))
      await gitMirror.read(ids[20] ?? toBlobSha(''))
      if (before !== undefined) process.kill(before, 'SIGKILL')
      expect((await answers).map(decodeText)).toEqual(contents)
      await gitMirror.read(ids[0] ?? toBlobSha(''))
      expect(gitMirror.readerPid).not.toBe(before)
    }
  })

  test('rejects with `aborted` if the mirror is closed before the response', async () => {
    const ids = await writeBlobs(['one', 'two'])
    const answers = ids.map((id) => gitMirror.read(id))
    await gitMirror.close()
    for (const answer of answers) await expect(answer).rejects.toMatchObject({ code: 'aborted' })
  })
})
