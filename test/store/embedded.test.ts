import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/store.ts'
import { clock, storeContract } from './contract.ts'

const folders: string[] = []
const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'catalog-bot-store-'))
  folders.push(path)
  return path
}
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

storeContract('embedded, in memory', { place: async () => ({}), shared: false, lasts: false })
storeContract('embedded, in a folder', {
  place: async () => ({ dataDirectory: folder() }),
  shared: false,
  lasts: true,
})

describe('a data folder', () => {
  test('belongs to one store at a time, however long its path', async () => {
    for (const dataDirectory of [folder(), join(folder(), 'deep/'.repeat(30))]) {
      const first = await openStore({ dataDirectory, clock })
      await expect(openStore({ dataDirectory, clock })).rejects.toMatchObject({
        code: 'in-use',
        retryable: true,
      })
      await first.close()
      const second = await openStore({ dataDirectory, clock })
      await second.close()
    }
  }, 60_000)

  test('of a closed store answers nothing', async () => {
    const store = await openStore({ clock })
    await store.close()
    await expect(store.acquireLease('x', 1)).rejects.toMatchObject({ code: 'closed' })
  }, 60_000)
})
