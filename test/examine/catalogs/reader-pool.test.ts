import { afterEach, expect, test } from '@jest/globals'
import { openReaderPool, type ReaderPool } from '../../../src/examine/catalogs/reader-pool.ts'

let pool: ReaderPool | undefined
afterEach(() => pool?.close())

const bytes = (text: string) => new TextEncoder().encode(text)
const large = (text: string) => bytes(`${text}\n${'# comment\n'.repeat(5000)}`)
/** Each item is a value of its own: that takes time, and many times the file's size. */
const heavy = bytes(`schema: x\na:\n${'- b\n'.repeat(10_000_000)}`)

test('a file that takes too long is given up, and those behind it are read', async () => {
  pool = openReaderPool(1, { time: 2500, memory: 4096 })
  const answers = [pool.read(heavy), pool.read(large('schema: y y\nname: z'))]
  expect((await answers[0]) ?? 'given up').toBe('given up')
  expect((await answers[1])?.others).toMatchObject([{ schema: 'y y', name: 'z' }])
}, 90_000)

test('a file that takes too much memory is given up, and the process goes on', async () => {
  pool = openReaderPool(1, { time: 60_000, memory: 64 })
  expect((await pool.read(heavy)) ?? 'given up').toBe('given up')
  expect((await pool.read(large('schema: z')))?.others).toMatchObject([{ schema: 'z' }])
}, 180_000)
