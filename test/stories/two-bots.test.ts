// Two processes of the bot on one Postgres are killed at random, and everything that people see is correct at the end:
// a small `npm run chaos`. two-bots/final-invariants.ts defines what is correct.
import { expect, test } from '@jest/globals'
import { createStoryDatabase } from '../adapters/store/story-database.ts'
import { runChaos } from './two-bots/run-chaos.ts'

test('pull requests are merged once, as they were checked, while two instances are killed', async () => {
  const databaseUrl = await createStoryDatabase()
  // Counted as skipped without an installed Postgres.
  if (databaseUrl === undefined) return
  const { faults, deaths, log } = await runChaos({
    databaseUrl,
    seed: 3,
    kinds: ['good', 'two heads', 'rivals', 'approved outsider', 'held for a while'],
    kills: 5,
    publishes: false,
    pauseUpTo: 800,
    leaseSeconds: 3,
    stillSeconds: [4, 4],
    settleSeconds: 90,
    deaths: ['kill', 'kill both', 'kill a child'],
  })
  if (faults.length > 0) throw new Error([...faults, ...log.slice(-40)].join('\n'))
  expect(deaths).toHaveLength(5)
})
