// The process ends after each single thing that a landing does to the world, in every method; another one comes along. The
// pull request lands once, or not at all where it could not; nothing is asked for twice that could happen twice.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { LandingMethod } from '../../src/gate/landing-method.ts'
import { landPull } from '../../src/landing/land-pull.ts'
import { removeLeftStaged } from '../../src/landing/remove-staged.ts'
import { settleBranch } from '../../src/landing/settle-landings.ts'
import { checksRule } from '../sandbox/github/branch-rules/landing-ground.ts'
import { dying, isAct, PowerCut } from './dying.ts'
import { LandingWorld, ownChecks, type Scene } from './landing-world.ts'

let world: LandingWorld
let scene: Scene
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())
afterEach(async () => {
  expect(world.it.github.violations.splice(0)).toEqual([])
})

const methods: readonly LandingMethod[] = [
  { kind: 'push', checksFirst: false, signed: false },
  { kind: 'push', checksFirst: true, signed: true },
  { kind: 'github-merge', method: 'merge' },
  { kind: 'github-merge', method: 'squash' },
]
const nameOf = (method: LandingMethod) => Object.values(method).join(' ')

async function land(method: LandingMethod, left: number): Promise<readonly string[]> {
  const { examined, permit } = await scene.examine()
  const { options, calls } = dying({ ...scene.options, plan: async () => ({ plan: { method } }) }, left)
  await landPull(examined, permit, options).catch((error: unknown) => {
    if (!(error instanceof PowerCut)) throw error
  })
  return calls
}

/** What the next process does: it looks at the pull request if that is open, settles what is open, and sweeps. */
async function comeBack(method: LandingMethod): Promise<void> {
  scene.expireLeases()
  await scene.clock.sleep(31_000)
  await settleBranch({ owner: 'catalogs', name: scene.full }, 'main', scene.options)
  if (scene.pull.state === 'open') await land(method, Infinity)
  const name = { owner: 'catalogs', name: scene.full.split('/')[1] ?? '' }
  await removeLeftStaged(name, { ...scene.options, leaseSeconds: 60 })
}

describe.each(methods.map((method) => [nameOf(method), method] as const))('a landing by %s', (_, method) => {
  test('that is cut off after any single step ends right', async () => {
    scene = await world.scene()
    const steps = await land(method, Infinity)
    await scene.close()
    const seen = new Set<string>()
    for (const [at, step] of steps.entries()) {
      // After the same kind of reading in a row the world is the same.
      const key = `${step} ${steps.slice(0, at).filter((it) => isAct(it)).length}`
      if (seen.has(key) || !isAct(step)) continue
      seen.add(key)
      scene = await world.scene()
      if (method.kind === 'push' && method.checksFirst)
        scene.rules([checksRule(ownChecks.map((context) => ({ context })))])
      const { permit } = await scene.examine()
      await land(method, at + 1)
      await comeBack(method)
      const told = `cut off after ${step}`
      expect([told, scene.pull.merged?.sha]).toEqual([told, scene.tip()])
      expect([told, scene.intents.filter(({ outcome }) => outcome === 'landed')]).toMatchObject([
        told,
        [{ commit: scene.tip() }],
      ])
      expect([told, scene.intents.filter(({ outcome }) => outcome === undefined)]).toEqual([told, []])
      expect([told, await scene.parentsOf(scene.tip())]).toMatchObject([told, { 0: permit.landing.base }])
      expect([told, scene.otherBranches()]).toEqual([told, []])
      expect([told, scene.mismatches]).toEqual([told, []])
      await scene.close()
    }
    expect(seen.size).toBeGreaterThan(3)
  }, 120_000)
})
