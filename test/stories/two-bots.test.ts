// Two processes of the bot on one Postgres die in the middle of whatever they do, and all that people see is right in the end:
// `npm run chaos` in the small. What counts as right stands in two-bots/world-truths.ts.
import { expect, test } from '@jest/globals'
import { createStoryDatabase } from '../adapters/store/story-database.ts'
import { runChaos } from './two-bots/run-chaos.ts'

test('pull requests land once, as they were checked, while two instances are killed', async () => {
  const databaseUrl = await createStoryDatabase()
  // A machine without Postgres: counted as left out.
  if (databaseUrl === undefined) return
  const { faults, deaths, log } = await runChaos({
    databaseUrl,
    seed: 3,
    kinds: ['good', 'two heads', 'rivals', 'approved stranger', 'held for a while'],
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
}, 180_000)
