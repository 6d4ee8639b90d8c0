import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '../../../src/ports/store.ts'
import { openServerDatabase } from '../../../src/adapters/store/server-database.ts'
import { pruneStore } from '../../../src/adapters/store/prune.ts'
import { openStore } from '../../../src/adapters/store/store.ts'
import { startStoreProcess } from './child.ts'
import { testStoreContract } from './store-contract.ts'
import { runSqlQuery, startPostgres } from './postgres-server.ts'
import {
  createCacheNamespace,
  realTimeClock,
  createPushDelivery,
  createPullJob,
  createRepositoryName,
  createStateNamespace,
  waitUntil,
} from './sample-records.ts'

const postgresServer = await startPostgres()
afterAll(async () => postgresServer?.remove())

if (!postgresServer) test.skip('a Postgres server: skipped, because none is installed', () => undefined)
else {
  testStoreContract('Postgres server', {
    createLocation: async () => ({ databaseUrl: await postgresServer.database() }),
    shared: true,
    isDurable: true,
  })

  test('an instance reads what another one cached, although it read an older value', async () => {
    const databaseUrl = await postgresServer.database()
    const [writer, reader] = [
      await openStore({ databaseUrl, clock: realTimeClock }),
      await openStore({ databaseUrl, clock: realTimeClock }),
    ]
    for (const value of [1, 2]) {
      await writer.putCached(createCacheNamespace('s'), new Map([['a', value]]), 60)
      expect((await reader.getCached(createCacheNamespace('s'), ['a'])).get('a')).toBe(value)
    }
    await Promise.all([writer.close(), reader.close()])
  })

  describe('instances on one server', () => {
    /** How often a job was run that outlasts the heartbeat timeout. Its twenty seconds overlap with the first tests. */
    let runsOfLongJob: Promise<number>
    beforeAll(() => {
      runsOfLongJob = runLongJob()
      runsOfLongJob.catch(() => undefined)
    })

    test('can all start at once on an empty database', async () => {
      const databaseUrl = await postgresServer.database()
      const stores = await Promise.all(
        Array.from({ length: 4 }, () => openStore({ databaseUrl, clock: realTimeClock })),
      )
      const [first, ...others] = stores
      expect(await first?.accept(createPushDelivery('one'), [])).toBe('new')
      for (const other of others) expect(await other.accept(createPushDelivery('one'), [])).toBe('duplicate')
      for (const store of stores) await store.close()
    })

    test('take a password with special characters from PGPASSWORD', async () => {
      const url = new URL(await postgresServer.database())
      const password = `p@ss/#%:?&"\\ $x`
      await runSqlQuery(url.href, `CREATE ROLE sealed SUPERUSER LOGIN PASSWORD '${password}'`)
      const [settings] = await runSqlQuery(url.href, 'SHOW hba_file')
      await runSqlQuery(
        url.href,
        `COPY (VALUES ('host all sealed all scram-sha-256'), ('host all all all trust')) TO '${String(settings?.['hba_file'])}'`,
      )
      await runSqlQuery(url.href, 'SELECT pg_reload_conf()')
      url.username = 'sealed'
      const databaseUrl = url.href
      await expect(openStore({ databaseUrl, clock: realTimeClock })).rejects.toThrow()
      process.env['PGPASSWORD'] = password
      try {
        const store = await openStore({ databaseUrl, clock: realTimeClock })
        expect(await store.accept(createPushDelivery('one'), [])).toBe('new')
        await store.close()
      } finally {
        delete process.env['PGPASSWORD']
      }
    })

    test('take over the running jobs of a killed instance in seconds, and its lease when it expires', async () => {
      const databaseUrl = await postgresServer.database()
      const of = { owner: 'owner', name: 'held' }
      const store = await openStore({ databaseUrl, clock: realTimeClock })
      await store.enqueue(createPullJob(1, of))
      const child = startStoreProcess('hold', { databaseUrl }, 'held')
      await waitUntil(() => child.outputLines.includes('begun 1'), 30)
      // While it is alive, no other instance takes its job or its lease.
      const seen: Job[] = []
      await store.work(async (job) => void seen.push(job), 4)
      await sleep(1500)
      expect(seen).toEqual([])
      expect(await store.acquireLease('lease held', 5)).toBeUndefined()
      const killed = performance.now()
      await child.kill()
      await waitUntil(() => seen.length > 0, 40)
      console.log(`taken over ${((performance.now() - killed) / 1000).toFixed(1)} s after the kill`)
      expect(seen).toEqual([createPullJob(1, of)])
      const lease = await store.acquireLease('lease held', 5)
      expect(`fence ${(lease?.fence ?? 0) - 1}`).toBe(child.outputLines[0])
      await store.close()
    })

    async function runLongJob(): Promise<number> {
      if (!postgresServer) throw new Error('there is no server')
      const databaseUrl = await postgresServer.database()
      const [one, two] = [
        await openStore({ databaseUrl, clock: realTimeClock }),
        await openStore({ databaseUrl, clock: realTimeClock }),
      ]
      let runs = 0
      const handler = async () => {
        runs += 1
        await sleep(20_000)
      }
      await one.work(handler, 2)
      await two.work(handler, 2)
      await one.enqueue(createPullJob(1))
      await sleep(21_000)
      await one.close()
      await two.close()
      return runs
    }
    test('that work longer than the heartbeat timeout keep their jobs', async () => {
      expect(await runsOfLongJob).toBe(1)
    })

    test('reject while the server is down, and continue when it is back', async () => {
      const databaseUrl = await postgresServer.database()
      const problems: unknown[] = []
      const store = await openStore({
        databaseUrl,
        clock: realTimeClock,
        problem: (error) => problems.push(error),
      })
      const seen: Job[] = []
      await store.work(async (job) => void seen.push(job), 4)
      await postgresServer.stop()
      await expect(store.accept(createPushDelivery('away'), [createPullJob(1)])).rejects.toMatchObject({
        code: 'unreachable',
        retryable: true,
      })
      await waitUntil(() => problems.length > 0)
      await postgresServer.start()
      await waitUntil(() => true)
      const job = createPullJob(2)
      for (let attempt = 0; attempt < 20; attempt++)
        if (await store.accept(createPushDelivery('back'), [job]).catch(() => undefined)) break
      await waitUntil(() => seen.length > 0)
      expect(seen).toEqual([job])
      await store.close()
    })

    test('of an older program reject the database of a newer one', async () => {
      const databaseUrl = await postgresServer.database()
      await (await openStore({ databaseUrl, clock: realTimeClock })).close()
      await runSqlQuery(databaseUrl, 'INSERT INTO catalog_bot.migration (step) VALUES (9999)')
      await expect(openStore({ databaseUrl, clock: realTimeClock })).rejects.toMatchObject({
        code: 'too-new',
      })
    })

    test('with an unreachable server fail as `unreachable`', async () => {
      await expect(
        openStore({ databaseUrl: 'postgres://test@127.0.0.1:1/x', clock: realTimeClock }),
      ).rejects.toMatchObject({ code: 'unreachable' })
    })
  })

  describe('pruning', () => {
    test('deletes expired cache rows and deliveries older than fourteen days, and nothing else', async () => {
      const databaseUrl = await postgresServer.database()
      const store = await openStore({ databaseUrl, clock: realTimeClock })
      for (const guid of ['old', 'young']) await store.accept(createPushDelivery(guid), [])
      await store.putCached(createCacheNamespace('s'), new Map([['gone', 1]]), 0.01)
      await store.putCached(createCacheNamespace('s'), new Map([['stays', 1]]), 60)
      await store.writeState(createStateNamespace('s'), createRepositoryName(), new Map([['for ever', 1]]))
      await runSqlQuery(
        databaseUrl,
        "UPDATE catalog_bot.delivery SET received_at = now() - interval '15 days' WHERE guid = 'old'",
      )
      await runSqlQuery(
        databaseUrl,
        "UPDATE catalog_bot.delivery SET received_at = now() - interval '13 days' WHERE guid = 'young'",
      )
      await sleep(50)
      const database = openServerDatabase(databaseUrl, () => undefined)
      await pruneStore(database)
      await database.close()
      const left = await runSqlQuery(databaseUrl, 'SELECT guid FROM catalog_bot.delivery')
      expect(left.map(({ guid }) => guid)).toEqual(['young'])
      const keys = await runSqlQuery(databaseUrl, 'SELECT key FROM catalog_bot.cache ORDER BY key')
      expect(keys.map(({ key }) => key)).toEqual(['"stays"'])
      expect(await runSqlQuery(databaseUrl, 'SELECT key FROM catalog_bot.state')).toEqual([
        { key: '"for ever"' },
      ])
      await store.close()
    })

    test('runs automatically every hour of the clock', async () => {
      const databaseUrl = await postgresServer.database()
      const sleeps: { milliseconds: number; wake: () => void }[] = []
      const byHand = {
        now: () => 0,
        sleep: (
          milliseconds: number,
          signal?: { addEventListener(type: 'abort', listener: () => void): void },
        ) =>
          new Promise<void>((wake) => {
            sleeps.push({ milliseconds, wake })
            signal?.addEventListener('abort', wake)
          }),
      }
      const store = await openStore({ databaseUrl, clock: byHand })
      await store.accept(createPushDelivery('old'), [])
      await runSqlQuery(
        databaseUrl,
        "UPDATE catalog_bot.delivery SET received_at = now() - interval '15 days'",
      )
      expect(sleeps.map(({ milliseconds }) => milliseconds)).toEqual([3600_000])
      sleeps[0]?.wake()
      await waitUntil(() => sleeps.length === 2)
      expect(await runSqlQuery(databaseUrl, 'SELECT guid FROM catalog_bot.delivery')).toEqual([])
      await store.close()
    })
  })
}
