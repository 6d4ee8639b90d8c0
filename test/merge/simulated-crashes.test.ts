// Crashes the process after each step of a merge that changes state, for every method, and lets another process
// recover. The pull request must be merged exactly once.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import type { MergeStrategy } from '../../src/policy/merge-strategy.ts'
import { removeLeftoverStagingBranches } from '../../src/merge/push-merge.ts'
import { recoverMergesOnBranch } from '../../src/merge/recover-merges.ts'
import { createStatusChecksRule } from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { injectSimulatedCrash, isMutatingCall, SimulatedCrashError } from './simulated-crash.ts'
import { MergeFixture, botCheckNames, type MergeScenario } from './merge-fixture.ts'
import { mergePull } from './merge-harness.ts'

let mergeScenario: MergeScenario
const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())
afterEach(async () => {
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
})

const testedMergeStrategies: readonly MergeStrategy[] = [
  { kind: 'push', checksFirst: false, signed: false },
  { kind: 'push', checksFirst: true, signed: true },
  { kind: 'github-merge', method: 'merge' },
  { kind: 'github-merge', method: 'squash' },
]
const formatMergeStrategy = (method: MergeStrategy) => Object.values(method).join(' ')

async function mergeWithSimulatedCrash(method: MergeStrategy, left: number): Promise<readonly string[]> {
  const { evaluated, permit } = await mergeScenario.evaluate()
  const { options, calls } = injectSimulatedCrash(
    { ...mergeScenario.options, plan: async () => ({ plan: { method } }) },
    left,
  )
  await mergePull(evaluated, permit, options).catch((error: unknown) => {
    if (!(error instanceof SimulatedCrashError)) throw error
  })
  return calls
}

/** What the next process does: recovers pending merges, merges the pull request if it is still open, and sweeps. */
async function recoverAfterSimulatedCrash(method: MergeStrategy): Promise<void> {
  mergeScenario.expireLeases()
  await mergeScenario.clock.sleep(31_000)
  await recoverMergesOnBranch({ owner: 'catalogs', name: mergeScenario.full }, 'main', mergeScenario.options)
  if (mergeScenario.pull.state === 'open') await mergeWithSimulatedCrash(method, Infinity)
  const name = { owner: 'catalogs', name: mergeScenario.full.split('/')[1] ?? '' }
  await removeLeftoverStagingBranches(name, { ...mergeScenario.options, leaseSeconds: 60 })
}

describe.each(testedMergeStrategies.map((method) => [formatMergeStrategy(method), method] as const))(
  'a merge by %s',
  (_, method) => {
    test('is merged exactly once after a crash at any step', async () => {
      mergeScenario = await mergeFixture.openScenario()
      const steps = await mergeWithSimulatedCrash(method, Infinity)
      await mergeScenario.close()
      const seen = new Set<string>()
      for (const [at, step] of steps.entries()) {
        // Calls between two changes leave the same state, so one of each kind is enough.
        const key = `${step} ${steps.slice(0, at).filter((it) => isMutatingCall(it)).length}`
        if (seen.has(key) || !isMutatingCall(step)) continue
        seen.add(key)
        mergeScenario = await mergeFixture.openScenario()
        if (method.kind === 'push' && method.checksFirst)
          mergeScenario.setRules([createStatusChecksRule(botCheckNames.map((context) => ({ context })))])
        const base = mergeScenario.tip()
        await mergeWithSimulatedCrash(method, at + 1)
        await recoverAfterSimulatedCrash(method)
        const caseName = `cut off after ${step}`
        expect([caseName, mergeScenario.pull.merged?.sha]).toEqual([caseName, mergeScenario.tip()])
        expect([caseName, mergeScenario.intents.filter(({ outcome }) => outcome === 'landed')]).toMatchObject(
          [caseName, [{ commit: mergeScenario.tip() }]],
        )
        expect([caseName, mergeScenario.intents.filter(({ outcome }) => outcome === undefined)]).toEqual([
          caseName,
          [],
        ])
        expect([caseName, await mergeScenario.parentsOf(mergeScenario.tip())]).toMatchObject([
          caseName,
          { 0: base },
        ])
        expect([caseName, mergeScenario.otherBranches()]).toEqual([caseName, []])
        expect([caseName, mergeScenario.mismatches]).toEqual([caseName, []])
        await mergeScenario.close()
      }
      expect(seen.size).toBeGreaterThan(3)
    })
  },
)
