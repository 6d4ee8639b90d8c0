// Crashes the process after each step of a merge that changes state, for every method, and lets another process
// recover. The pull request must be merged exactly once.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { MergeStrategy } from '../../src/policy/merge-strategy.ts'
import { mergePull } from '../../src/merge/merge-pull.ts'
import { removeLeftoverStagingBranches } from '../../src/merge/staging-branches.ts'
import { recoverBranchMerges } from '../../src/merge/recover-merges.ts'
import { createStatusChecksRule } from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { withPowerCut, isMutatingCall, PowerCutError } from './power-cut.ts'
import { MergeFixture, botCheckNames, type MergeScenario } from './merge-fixture.ts'

let mergeFixture: MergeFixture
let scenario: MergeScenario
beforeAll(async () => {
  mergeFixture = await MergeFixture.open()
})
afterAll(async () => mergeFixture.stop())
afterEach(async () => {
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
})

const mergeStrategies: readonly MergeStrategy[] = [
  { kind: 'push', checksFirst: false, signed: false },
  { kind: 'push', checksFirst: true, signed: true },
  { kind: 'github-merge', method: 'merge' },
  { kind: 'github-merge', method: 'squash' },
]
const formatMergeStrategy = (method: MergeStrategy) => Object.values(method).join(' ')

async function mergeWithPowerCut(method: MergeStrategy, left: number): Promise<readonly string[]> {
  const { examined, permit } = await scenario.evaluate()
  const { options, calls } = withPowerCut(
    { ...scenario.options, plan: async () => ({ plan: { method } }) },
    left,
  )
  await mergePull(examined, permit, options).catch((error: unknown) => {
    if (!(error instanceof PowerCutError)) throw error
  })
  return calls
}

/** What the next process does: recovers pending merges, merges the pull request if it is still open, and sweeps. */
async function recoverAfterPowerCut(method: MergeStrategy): Promise<void> {
  scenario.expireLeases()
  await scenario.clock.sleep(31_000)
  await recoverBranchMerges({ owner: 'catalogs', name: scenario.full }, 'main', scenario.options)
  if (scenario.pull.state === 'open') await mergeWithPowerCut(method, Infinity)
  const name = { owner: 'catalogs', name: scenario.full.split('/')[1] ?? '' }
  await removeLeftoverStagingBranches(name, { ...scenario.options, leaseSeconds: 60 })
}

describe.each(mergeStrategies.map((method) => [formatMergeStrategy(method), method] as const))(
  'a merge by %s',
  (_, method) => {
    test('is merged exactly once after a crash at any step', async () => {
      scenario = await mergeFixture.openScenario()
      const steps = await mergeWithPowerCut(method, Infinity)
      await scenario.close()
      const seen = new Set<string>()
      for (const [at, step] of steps.entries()) {
        // Calls between two changes leave the same state, so one of each kind is enough.
        const key = `${step} ${steps.slice(0, at).filter((it) => isMutatingCall(it)).length}`
        if (seen.has(key) || !isMutatingCall(step)) continue
        seen.add(key)
        scenario = await mergeFixture.openScenario()
        if (method.kind === 'push' && method.checksFirst)
          scenario.setRules([createStatusChecksRule(botCheckNames.map((context) => ({ context })))])
        const { permit } = await scenario.evaluate()
        await mergeWithPowerCut(method, at + 1)
        await recoverAfterPowerCut(method)
        const caseName = `cut off after ${step}`
        expect([caseName, scenario.pull.merged?.sha]).toEqual([caseName, scenario.tip()])
        expect([caseName, scenario.intents.filter(({ outcome }) => outcome === 'landed')]).toMatchObject([
          caseName,
          [{ commit: scenario.tip() }],
        ])
        expect([caseName, scenario.intents.filter(({ outcome }) => outcome === undefined)]).toEqual([
          caseName,
          [],
        ])
        expect([caseName, await scenario.parentsOf(scenario.tip())]).toMatchObject([
          caseName,
          { 0: permit.landing.base },
        ])
        expect([caseName, scenario.otherBranches()]).toEqual([caseName, []])
        expect([caseName, scenario.mismatches]).toEqual([caseName, []])
        await scenario.close()
      }
      expect(seen.size).toBeGreaterThan(3)
    }, 120_000)
  },
)
