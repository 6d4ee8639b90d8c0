import { afterEach, expect, test } from '@jest/globals'
import { createCatalogFileReaderPool, type CatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'

let catalogFileReaderPool: CatalogFileReaderPool | undefined
afterEach(() => catalogFileReaderPool?.close())

const encodeText = (text: string) => new TextEncoder().encode(text)
const createLargeCatalogBytes = (text: string) => encodeText(`${text}\n${'# comment\n'.repeat(5000)}`)
/** Each item is a separate value, which takes time, and many times the size of the file in memory. */
const slowParsingYamlBytes = encodeText(`schema: x\na:\n${'- b\n'.repeat(10_000_000)}`)

test('a file that takes too long is abandoned, and the next file is read', async () => {
  catalogFileReaderPool = createCatalogFileReaderPool(1, { time: 2500, memory: 4096 })
  const answers = [
    catalogFileReaderPool.read(slowParsingYamlBytes),
    catalogFileReaderPool.read(createLargeCatalogBytes('schema: y y\nname: z')),
  ]
  expect((await answers[0]) ?? 'given up').toBe('given up')
  expect((await answers[1])?.others).toMatchObject([{ schema: 'y y', name: 'z' }])
}, 90_000)

test('a file that takes too much memory is abandoned, and the next file is read', async () => {
  catalogFileReaderPool = createCatalogFileReaderPool(1, { time: 60_000, memory: 64 })
  expect((await catalogFileReaderPool.read(slowParsingYamlBytes)) ?? 'given up').toBe('given up')
  expect((await catalogFileReaderPool.read(createLargeCatalogBytes('schema: z')))?.others).toMatchObject([
    { schema: 'z' },
  ])
}, 180_000)
