import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { GitError } from '../../src/git/git-error.ts'
import { leaseName } from '../../src/landing/lease-name.ts'
import { settleLeft } from '../../src/landing/settle-left.ts'
import { LandingWorld, plainPush } from './landing-world.ts'

let world: LandingWorld
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())

test('a landing whose process ended is settled though its pull request does not land now', async () => {
  const scene = await world.scene()
  const { mirror, options, store } = scene
  const dies = () => Promise.reject(new GitError('outcome-unknown', 'git push: the line broke'))
  await expect(scene.land(plainPush, { repository: { ...mirror, land: dies } })).rejects.toThrow(
    'the line broke',
  )
  const [intent] = scene.intents
  if (intent === undefined) throw new Error('nothing was begun')
  const { repository: name, pull } = intent

  // Whoever holds the branch may be at it.
  const lease = await store.acquireLease(leaseName(name, 'main'), 60)
  expect(await settleLeft(name, pull, options)).toBe(false)
  expect(scene.intents.map(({ outcome }) => outcome)).toEqual([undefined])
  if (lease) await store.releaseLease(lease)

  expect(await settleLeft(name, pull, options)).toBe(true)
  expect(scene.intents.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  expect(await settleLeft(name, pull, options)).toBe(true)
  await scene.close()
})
