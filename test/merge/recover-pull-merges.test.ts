import { afterAll, expect, test } from '@jest/globals'
import { GitError } from '../../src/adapters/git/git-error.ts'
import { toMergeLeaseName } from '../../src/jobs/auto-renewing-lease.ts'
import { isPullBeingPushed, recoverMergesOfPull } from '../../src/merge/recover-merges.ts'
import { MergeFixture, directPushStrategy } from './merge-fixture.ts'

const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())

test('an interrupted merge is recovered once the branch lease is free', async () => {
  const scene = await mergeFixture.openScenario()
  const { mirror, options, store } = scene
  const dies = () => Promise.reject(new GitError('outcome-unknown', 'git push: the line broke'))
  await expect(
    scene.merge(directPushStrategy, { repository: { ...mirror, pushMerge: dies } }),
  ).rejects.toThrow('the line broke')
  const [intent] = scene.intents
  if (intent === undefined) throw new Error('nothing was begun')
  const { repository: name, pull } = intent

  // The holder of the branch lease may still be merging.
  const lease = await store.acquireLease(toMergeLeaseName(name, 'main'), 60)
  expect(await isPullBeingPushed(name, pull, options)).toBe(true)
  expect(await recoverMergesOfPull(name, pull, options)).toBe(false)
  expect(scene.intents.map(({ outcome }) => outcome)).toEqual([undefined])
  if (lease) await store.releaseLease(lease)
  expect(await isPullBeingPushed(name, pull, options)).toBe(false)

  expect(await recoverMergesOfPull(name, pull, options)).toBe(true)
  expect(scene.intents.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  expect(await recoverMergesOfPull(name, pull, options)).toBe(true)
  await scene.close()
})

test('a merge is not recorded as abandoned because Git could not answer whether the branch contains it', async () => {
  const scene = await mergeFixture.openScenario()
  const { mirror, options } = scene
  const contains = () => Promise.reject(new GitError('timeout', 'git merge-base took too long'))
  const repository = { ...mirror, contains }
  await expect(scene.merge(directPushStrategy, { repository })).rejects.toThrow('took too long')
  const [intent] = scene.intents
  if (intent === undefined) throw new Error('nothing was begun')
  const recover = (more = {}) => recoverMergesOfPull(intent.repository, intent.pull, { ...options, ...more })
  await expect(recover({ repository })).rejects.toThrow('took too long')
  expect(scene.intents.map(({ outcome }) => outcome)).toEqual([undefined])
  expect(await recover()).toBe(true)
  expect(scene.intents.map(({ outcome }) => outcome)).toEqual(['landed'])
  expect(scene.mismatches).toEqual([])
  await scene.close()
})
