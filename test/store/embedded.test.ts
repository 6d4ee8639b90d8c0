import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Job } from '../../src/ports/store.ts'
import { openStore } from '../../src/store/store.ts'
import { startChild } from './child.ts'
import { storeContract } from './contract.ts'
import { clock, pullJob, until } from './wares.ts'

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

describe('a process that is killed', () => {
  test('loses no delivery that it had accepted, and no job of one, five times over', async () => {
    const dataDirectory = folder()
    const accepted: string[] = []
    for (let round = 1; round <= 5; round++) {
      const child = startChild('accept', { dataDirectory }, `round-${round}`)
      await until(() => child.said.length > 20 * round, 60)
      await child.kill()
      accepted.push(...child.said)
    }
    const store = await openStore({ dataDirectory, clock })
    for (const guid of accepted)
      expect(await store.accept({ guid, event: 'push', body: Buffer.alloc(0) }, [])).toBe('duplicate')
    const run = new Set<string>()
    await store.work(async (job) => {
      if (job.kind === 'pull') run.add(`${job.repository.name} ${job.pull}`)
    }, 50)
    await until(() => accepted.every((guid) => run.has(guid)), 60)
    await store.close()
  }, 180_000)

  test('leaves its running jobs and its leases to the next one at once', async () => {
    const dataDirectory = folder()
    const of = { owner: 'owner', name: 'held' }
    const before = await openStore({ dataDirectory, clock })
    await before.enqueue(pullJob(1, of))
    await before.enqueue(pullJob(2, of), 3600)
    await before.close()
    const child = startChild('hold', { dataDirectory }, 'held')
    await until(() => child.said.includes('begun 1'), 60)
    await expect(openStore({ dataDirectory, clock })).rejects.toMatchObject({ code: 'in-use' })
    await child.kill()

    const store = await openStore({ dataDirectory, clock })
    const opened = performance.now()
    const seen: Job[] = []
    await store.work(async (job) => void seen.push(job), 4)
    await until(() => seen.length > 0, 5)
    expect(performance.now() - opened).toBeLessThan(2000)
    expect(seen).toEqual([pullJob(1, of)])
    const lease = await store.acquireLease('lease held', 5)
    expect(`fence ${(lease?.fence ?? 0) - 1}`).toBe(child.said[0])
    await store.close()
  }, 120_000)
})
