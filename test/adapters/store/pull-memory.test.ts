// What the store records about pull requests, in the embedded database and on a Postgres server.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toUserId } from '../../../src/pull-request/ids.ts'
import type { Store } from '../../../src/ports/store.ts'
import { openStore } from '../../../src/adapters/store/store.ts'
import { openPreparedStore } from './prepared-store.ts'
import { runSqlQuery, startPostgres } from './postgres-server.ts'
import { testPullHistoryStoreContract } from './pull-memory-contract.ts'
import { realTimeClock } from './sample-records.ts'

const postgresServer = await startPostgres()
afterAll(async () => postgresServer?.remove())

describe('the embedded store', () => {
  let opened: Store
  beforeAll(async () => {
    opened = await openPreparedStore({ clock: realTimeClock })
  })
  afterAll(() => opened.close())
  testPullHistoryStoreContract(() => opened)
})

if (!postgresServer) test.skip('a Postgres server: skipped, because none is installed', () => undefined)
else
  describe('the store on a server', () => {
    let opened: Store
    let databaseUrl: string
    beforeAll(async () => {
      databaseUrl = await postgresServer.database()
      opened = await openStore({ databaseUrl, clock: realTimeClock })
    })
    afterAll(() => opened.close())
    testPullHistoryStoreContract(() => opened)

    test('deletes the authors of commands after an hour, but not the commands', async () => {
      const of = { owner: 'memory', name: 'aged' }
      for (const comment of [1, 2])
        await opened.recordCommand(of, toPullNumber(1), {
          comment,
          command: 'hold',
          user: toUserId(7),
          login: 'x',
          outcome: 'done',
          head: toCommitSha('a'.repeat(40)),
          baseRef: 'main',
          epoch: 0,
        })
      await runSqlQuery(
        databaseUrl,
        `UPDATE catalog_bot.command SET recorded_at = recorded_at - interval '61 minutes'
         WHERE repository = 'memory/aged' AND comment = 1`,
      )
      expect(await opened.recentCommands?.(of)).toEqual(new Map([[7, 1]]))
      expect(await opened.commands(of, toPullNumber(1))).toHaveLength(2)
    })

    test('two instances that evaluate at once start one epoch, and record a command once', async () => {
      const other = await openStore({ databaseUrl, clock: realTimeClock })
      const of = { owner: 'memory', name: 'shared' }
      const state = { head: toCommitSha('a'.repeat(40)), baseRef: 'main', config: 'c' }
      const looks = [opened, other, opened, other].map((store) => store.observe(of, toPullNumber(1), state))
      expect(await Promise.all(looks)).toEqual([0, 0, 0, 0])
      const record = {
        ...state,
        comment: 3,
        command: 'approve',
        user: toUserId(7),
        login: 'x',
        outcome: 'done',
        epoch: 0,
      } as const
      const outcomes = [opened, other].map((store) => store.recordCommand(of, toPullNumber(1), record))
      expect((await Promise.all(outcomes)).sort()).toEqual(['duplicate', 'new'])
      await other.close()
    })
  })
