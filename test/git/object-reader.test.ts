import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blobSha, type BlobSha } from '../../src/change/ids.ts'
import { openMirror, type Mirror } from '../../src/git/mirror.ts'
import { leaveOut } from '../left-out.ts'
import { makeOrigin, temporary, type Origin } from './origin.ts'

let folder: ReturnType<typeof temporary>
let origin: Origin
let mirror: Mirror
beforeEach(async () => {
  folder = temporary('read')
  origin = makeOrigin(join(folder.path, 'origin.git'))
  mirror = await openMirror({
    directory: join(folder.path, 'mirror.git'),
    url: origin.url,
    credential: async () => undefined,
  })
})
afterEach(async () => {
  await mirror.close()
  folder.remove()
})

async function blobs(contents: readonly string[]): Promise<readonly BlobSha[]> {
  origin.branch('main', origin.commit(Object.fromEntries(contents.map((content, at) => [`f${at}`, content]))))
  await mirror.fetch('main')
  return contents.map(idOf)
}

/** As git names a blob; asking git costs a process for each. */
function idOf(content: string): BlobSha {
  const bytes = Buffer.from(content)
  return blobSha(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'))
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

describe('reading', () => {
  test('gives the bytes of a blob: empty, with NULs, with lines that look like an answer', async () => {
    const contents = [
      '',
      '\0\0',
      '\n',
      'abc missing\n',
      `${'a'.repeat(40)} blob 5\nhello\n`,
      'x'.repeat(1_000_000),
    ]
    const ids = await blobs(contents)
    for (const [at, id] of ids.entries()) expect(text(await mirror.read(id))).toBe(contents[at])
  })

  test('answers many questions at once through one process, each with its own', async () => {
    const contents = Array.from({ length: 500 }, (_, at) => `content ${at} `.repeat(at))
    const ids = await blobs(contents)
    const before = mirror.readerPid
    const nowhere = blobSha('9'.repeat(40))
    const answers = await Promise.all(
      ids.flatMap((id) => [mirror.read(id).then(text), mirror.read(nowhere).catch(String)]),
    )
    expect(answers.filter((_, at) => at % 2 === 0)).toEqual(contents)
    expect(new Set(answers.filter((_, at) => at % 2 === 1))).toEqual(
      new Set([`GitError: object ${nowhere} is not here`]),
    )
    expect(before === undefined || before === mirror.readerPid).toBe(true)
  })

  const counters = (pid: number) => `/proc/${pid}/io`
  const hasCounters = existsSync(counters(process.pid))
  if (!hasCounters) leaveOut('/proc/PID/io')
  const itCounts = hasCounters ? test : test.skip
  itCounts('asks for many objects in a few ways to git and back', async () => {
    const count = 3000
    const ids = await blobs(Array.from({ length: count }, (_, at) => `content ${at}`))
    await mirror.read(ids[0] ?? blobSha(''))
    const ways = (): number => {
      const text = readFileSync(counters(mirror.readerPid ?? 0), 'utf8')
      return Number(/^syscr: (\d+)$/m.exec(text)?.[1])
    }
    const before = ways()
    await Promise.all(ids.map((id) => mirror.read(id)))
    // What git reads is what we write: two questions for each, which it takes as many at a time as it finds.
    expect(ways() - before).toBeLessThan(count / 10)
  })

  test('of an object above the limit rejects with `too-large`, at the limit it does not', async () => {
    const [id = blobSha('0'.repeat(40))] = await blobs(['12345'])
    expect(text(await mirror.read(id, 5))).toBe('12345')
    await expect(mirror.read(id, 4)).rejects.toMatchObject({ code: 'too-large' })
    expect(text(await mirror.read(id))).toBe('12345')
  })

  test('finds what was fetched after the process began', async () => {
    const [first] = await blobs(['one'])
    const pid = mirror.readerPid
    const [second] = await blobs(['two'])
    expect(text(await mirror.read(first ?? blobSha('')))).toBe('one')
    expect(text(await mirror.read(second ?? blobSha('')))).toBe('two')
    expect(pid === undefined || pid === mirror.readerPid).toBe(true)
  })

  test('goes on when the process is killed, also in the middle of many answers', async () => {
    const contents = Array.from({ length: 200 }, (_, at) => `${at}`.repeat(20_000))
    const ids = await blobs(contents)
    await mirror.read(ids[0] ?? blobSha(''))
    for (let round = 0; round < 5; round++) {
      const before = mirror.readerPid
      const answers = Promise.all(ids.map((id) => mirror.read(id)))
      await mirror.read(ids[20] ?? blobSha(''))
      if (before !== undefined) process.kill(before, 'SIGKILL')
      expect((await answers).map(text)).toEqual(contents)
      await mirror.read(ids[0] ?? blobSha(''))
      expect(mirror.readerPid).not.toBe(before)
    }
  })

  test('after closing rejects what was still open', async () => {
    const ids = await blobs(['one', 'two'])
    const answers = ids.map((id) => mirror.read(id))
    await mirror.close()
    for (const answer of answers) await expect(answer).rejects.toMatchObject({ code: 'aborted' })
  })
})
