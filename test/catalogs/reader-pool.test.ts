import { afterEach, expect, test } from '@jest/globals'
import { createCatalogFileReaderPool, type CatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'

let catalogFileReaderPool: CatalogFileReaderPool | undefined
afterEach(() => catalogFileReaderPool?.close())

const encodeText = (text: string) => new TextEncoder().encode(text)
const createLargeCatalogBytes = (text: string) => encodeText(`${text}\n${'# comment\n'.repeat(5000)}`)
/** Each item is a separate value, which takes time, and many times the size of the file in memory. */
const slowParsingYamlBytes = encodeText(`schema: x\na:\n${'- b\n'.repeat(10_000_000)}`)

test('a file that takes too long is abandoned', async () => {
  // No process starts in a millisecond. The tests of the pool of workers claim that the next job is run.
  catalogFileReaderPool = createCatalogFileReaderPool(1, { time: 1, memory: 4096 })
  expect((await catalogFileReaderPool.read(createLargeCatalogBytes('schema: y'))) ?? 'given up').toBe(
    'given up',
  )
})

test('a file that takes too much memory is abandoned, and the next file is read', async () => {
  catalogFileReaderPool = createCatalogFileReaderPool(1, { time: 60_000, memory: 64 })
  expect((await catalogFileReaderPool.read(slowParsingYamlBytes)) ?? 'given up').toBe('given up')
  expect((await catalogFileReaderPool.read(createLargeCatalogBytes('schema: z')))?.others).toMatchObject([
    { schema: 'z' },
  ])
})
