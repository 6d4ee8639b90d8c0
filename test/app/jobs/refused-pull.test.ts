// What becomes of a refusal whose text is not known: the pull request that met it waits, and the branch only when a second one
// meets the same.
import { beforeEach, expect, test } from '@jest/globals'
import pino from 'pino'
import { actOnRefusal, forgetRefusals, whatKeepsBack } from '../../../src/app/jobs/refused-pull.ts'
import { pullNumber } from '../../../src/change/ids.ts'
import { whatRefused } from '../../../src/landing/what-refused.ts'
import { openMemoryStore, Tables } from '../../../simulate/ports/memory-store.ts'
import { aSnapshot } from '../../gate/build.ts'

type Place = Parameters<typeof actOnRefusal>[2]

let place: Place
beforeEach(() => {
  const store = openMemoryStore({ tables: new Tables(), now: () => 1000, turn: async (_, act) => act() })
  place = {
    app: { store, clock: { now: () => 1000 }, log: pino({ level: 'silent' }) },
    forge: { othersChecks: async () => [] },
  } as unknown as Place
})

const at = (number: number, baseRef = 'main') => aSnapshot({ pull: pullNumber(number), baseRef })
async function meets(number: number, message: string, baseRef?: string): Promise<void> {
  const outcome = whatRefused({
    kind: 'refused',
    reason: message,
    words: { by: 'rest', status: 405, message },
  })
  if (outcome.kind !== 'refused') throw new Error(outcome.kind)
  await actOnRefusal(at(number, baseRef), outcome.refusal, place)
}
const stops = async (baseRef = 'main') => (await whatKeepsBack(at(99, baseRef), place)).stopped.length

test('an unknown text stops the pull request that met it, however often, and not the branch', async () => {
  for (let times = 0; times < 3; times++) await meets(1, 'The moon must be full.')
  expect(await stops()).toBe(0)
  expect((await whatKeepsBack(at(1), place)).refused).toBe('The moon must be full.')
  expect((await whatKeepsBack(at(2), place)).refused).toBeUndefined()
})

test('the same text at a second pull request stops the branch; numbers and commits in it do not count', async () => {
  await meets(1, 'Pull 1 at 0a1b2c3d must wait for the moon.')
  await meets(2, 'Pull 2 at 9f8e7d6c must wait for the moon.')
  expect(await stops()).toBe(1)
})

test('another text at a second pull request, or the same on another branch, stops nothing', async () => {
  await meets(1, 'The moon must be full.')
  await meets(2, 'The tide must be high.')
  expect(await stops()).toBe(0)
  await meets(3, 'The tide must be high.', 'release')
  expect([await stops(), await stops('release')]).toEqual([0, 0])
})

test('a merge in between shows that the text is not about the branch', async () => {
  await meets(1, 'The moon must be full.')
  await forgetRefusals(at(3), place)
  await meets(2, 'The moon must be full.')
  expect(await stops()).toBe(0)
})

test('a known text about the branch stops it at once, and one about the pull request never', async () => {
  const workflow = (name: string) => `Required workflow '${name}' is not satisfied`
  for (const number of [1, 2]) await meets(number, workflow('e2e'))
  for (const number of [1, 2]) await meets(number, 'Merge already in progress')
  expect(await stops()).toBe(0)
  await meets(1, 'Changes must be made through the merge queue')
  expect(await stops()).toBe(1)
})

test('an unknown text about a temporary branch is not the branch’s either, and a known one is', () => {
  const refused = (text: string) =>
    whatRefused({
      kind: 'refused',
      reason: 'a temporary branch',
      words: { by: 'push', text },
      scope: 'branch',
    })
  expect(refused('The moon must be full.')).toMatchObject({ refusal: { scope: 'pull', isKnown: false } })
  expect(refused('Cannot create ref due to creations being restricted.')).toMatchObject({
    refusal: { scope: 'branch', isKnown: true },
  })
})
