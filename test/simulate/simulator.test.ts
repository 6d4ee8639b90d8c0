// The simulator itself: a run is deterministic, oracles detect the violations that they exist for, a failing plan is
// minimized, and some generated environments end without a violation.
import { describe, expect, test } from '@jest/globals'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { createMergePermit } from '../../src/policy/merge-permit.ts'
import { applyUserAction, seedRepository } from '../../simulate/apply-user-action.ts'
import { generatePlan } from '../../simulate/generate-plan.ts'
import { checkMergeInvariants } from '../../simulate/oracles/check-merge.ts'
import type { ObservedSimulationRun } from '../../simulate/oracles/observed-run.ts'
import type {
  UserAction,
  PlannedFileEdit,
  PlannedEvent,
  SimulationPlan,
} from '../../simulate/simulation-plan.ts'
import { createInMemoryGitObjectReader } from '../../simulate/ports/memory-repository.ts'
import { InMemoryStoreTables } from '../../simulate/ports/memory-store.ts'
import { runSimulation, type SimulationResult } from '../../simulate/run-simulation.ts'
import { shrinkPlan } from '../../simulate/shrink-plan.ts'
import { createSmallPlan, smallPlanCount } from '../../simulate/small-plans.ts'
import { mainBranch, SimulatedGitHub } from '../../simulate/world/simulated-github.ts'
import { fuzzSeed } from '../seeded.ts'

/** Increase it for mutation tests and for bug hunts. */
const simulationCount = Number(process.env['SIMULATED_WORLDS'] ?? 12)

const openRelease = (at: number, by: string, name: string): PlannedEvent => ({
  at,
  do: 'open',
  by,
  edits: [{ kind: 'release', package: name }],
})

describe('simulated worlds', () => {
  test('end without a violation', async () => {
    const found: string[] = []
    for (let at = 0; at < simulationCount && found.length === 0; at++) {
      const plan = at % 3 === 2 ? createSmallPlan(fuzzSeed + at) : generatePlan(fuzzSeed + at)
      const { violations } = await runSimulation(plan)
      found.push(...violations.map(({ invariant, what }) => `world ${at}: ${invariant}: ${what}`))
    }
    expect(found).toEqual([])
  }, 600_000)

  test('are identical when they run again', async () => {
    const plan = generatePlan(fuzzSeed + 3)
    const first = await runSimulation(plan, { isTraced: true })
    const again = await runSimulation(plan, { isTraced: true })
    expect(again.trace).toEqual(first.trace)
    expect(first.steps).toBeGreaterThan(100)
  })

  test('have pull requests that are merged, and others that are not', async () => {
    const events = [openRelease(0, 'ann', 'foo'), openRelease(0, 'eve', 'bar')]
    const { landings, violations } = await runSimulation({ seed: 1, instances: 1, webhooks: true, events })
    expect({ landings, violations }).toEqual({ landings: 1, violations: [] })
  })
})

test('small worlds are all different, and repeat only after all of them', () => {
  const formatPlanEvents = (number: number) => JSON.stringify(createSmallPlan(number).events)
  expect(new Set(Array.from({ length: 500 }, (_, at) => formatPlanEvents(at))).size).toBeGreaterThan(490)
  expect(formatPlanEvents(smallPlanCount + 7)).toBe(formatPlanEvents(7))
})

/** Plans that once ended with a violation. */
test.each<[claim: string, run: Omit<SimulationPlan, 'events'>, merges: number, events: PlannedEvent[]]>([
  [
    'I24: settles an unreported merge, even if its pull request has another base branch since then',
    { seed: 21_270, instances: 1, webhooks: false },
    0,
    [
      { at: 38, do: 'open', by: 'amy', edits: [{ kind: 'executable', package: 'foo' }] },
      openRelease(43, 'bob', 'bar'),
      { at: 54, fault: 'fails', to: 'push', when: 'before', times: 1 },
      { at: 210, do: 'comment', by: 'wes', pull: 2, body: '/override several-heads because it is wanted' },
      { at: 268, do: 'retarget', by: 'eve', pull: 2, base: 'release' },
    ],
  ],
  [
    'I19: a pull request that is merged during its evaluation is not reported as blocked',
    { seed: 20_482, instances: 1, webhooks: false },
    1,
    [
      openRelease(4, 'amy', 'foo'),
      openRelease(5, 'ann', 'foo'),
      { ...openRelease(16, 'amy', 'foo'), draft: true } as PlannedEvent,
      { at: 161, fault: 'pause', seconds: 20 },
    ],
  ],
  [
    'I4: an approval does not survive a temporary change to a base branch that the bot does not serve',
    { seed: 6023, instances: 2, webhooks: false },
    0,
    [
      openRelease(2, 'bo', 'foo'),
      { at: 4, do: 'label', by: 'max', pull: 1, label: 'hold' },
      { at: 131, do: 'comment', by: 'amy', pull: 1, body: '/approve' },
      { at: 224, do: 'retarget', by: 'bo', pull: 1, base: 'release' },
      { at: 281, do: 'retarget', by: 'bo', pull: 1, base: 'main' },
      { at: 334, do: 'label', by: 'max', pull: 1, label: 'hold', off: true },
    ],
  ],
  [
    'I4: an approval that was unread when the pull request left for another branch does not count later',
    { seed: 20_095, instances: 1, webhooks: true },
    0,
    [
      openRelease(2, 'eve', 'bar'),
      { at: 70, do: 'review', by: 'bob', pull: 1, state: 'approved' },
      { at: 76, do: 'retarget', by: 'eve', pull: 1, base: 'release' },
      { at: 131, do: 'retarget', by: 'eve', pull: 1, base: 'main' },
    ],
  ],
  [
    'I4: a pull request that changed between its verdict and its merge is evaluated again',
    { seed: 7133, instances: 1, webhooks: true },
    0,
    [
      openRelease(1, 'eve', 'foo'),
      { at: 124, do: 'comment', by: 'amy', pull: 1, body: '/approve' },
      {
        at: 165,
        do: 'push',
        by: 'eve',
        pull: 1,
        edits: [{ kind: 'extra', package: 'bar', part: 2 }],
        force: true,
      },
      { at: 223, do: 'return', by: 'eve', pull: 1 },
    ],
  ],
])('%s', async (_claim, run, merges, events) => {
  const { landings, violations } = await runSimulation({ ...run, events })
  expect({ landings, violations }).toEqual({ landings: merges, violations: [] })
})

describe('a merge is judged by the state of the simulated world', () => {
  const release: PlannedFileEdit = { kind: 'release', package: 'foo' }
  const open = (by: string, ...edits: PlannedFileEdit[]): UserAction => ({ do: 'open', by, edits })

  interface Meanwhile {
    /** What people do after the merge was created, and before it reaches the branch. */
    readonly meanwhile?: readonly UserAction[]
    readonly isUnwritten?: boolean
  }

  /** The violations that the oracles report when the pull request is merged after these actions. */
  async function listViolations(
    actions: readonly UserAction[],
    { meanwhile = [], isUnwritten = false }: Meanwhile = {},
  ) {
    const time = { step: 1, now: Date.parse('2026-01-01T00:00:00Z') }
    const server = new SimulatedGitHub(() => time)
    seedRepository(server)
    const number = toPullNumber(1)
    const evaluations: ObservedSimulationRun['evaluations'] = []
    for (const deed of actions) {
      time.step += 10
      time.now += 60_000
      applyUserAction(server, deed)
      evaluations.push({ pull: number, since: time.step + 1, until: time.step + 2 })
    }
    const pull = server.pull(number)
    if (pull === undefined) throw new Error('there is no pull request')
    const base = server.mustTip(mainBranch)
    const merged = await createInMemoryGitObjectReader(server.objects).merge(base, pull.head, 'Merge')
    if (merged.kind !== 'clean') throw new Error(merged.kind)
    const { commit, tree } = merged
    const of = {
      repository: server.name,
      pull: number,
      baseRef: mainBranch,
      base,
      head: pull.head,
      config: 'c',
    }
    const permit = createMergePermit({ ...of, commit, tree })
    for (const deed of meanwhile) applyUserAction(server, deed)
    const tables = new InMemoryStoreTables()
    if (isUnwritten !== true)
      tables.intents.push({ intent: { ...permit.merge, id: 1, fence: 1 }, lease: 'land' })
    const process = { name: 'bot 1', isAlive: true, pausedUntil: 0, skew: 0 }
    const observed: ObservedSimulationRun = {
      server,
      tables,
      merges: [],
      freshReads: new Map(),
      evaluations,
      leasesTaken: new Map(),
      ownFailures: [],
      hadTwins: false,
    }
    const { step, now: at } = time
    const pendingMerge = {
      process,
      pull: number,
      permit,
      by: 'push' as const,
      commit,
      on: server.mustTip(mainBranch),
      step,
      at,
    }
    return checkMergeInvariants(observed, pendingMerge).map(({ invariant }) => invariant)
  }

  test('accepts a release by an owner, and a release that an owner approved', async () => {
    expect(await listViolations([open('ann', release)])).toEqual([])
    const approve: UserAction = { do: 'review', by: 'amy', pull: 1, state: 'approved' }
    expect(await listViolations([open('eve', release), approve])).toEqual([])
    expect(
      await listViolations([open('eve', release), { do: 'comment', by: 'max', pull: 1, body: '/approve' }]),
    ).toEqual([])
  })

  test.each<[string, string, readonly UserAction[]]>([
    ['I1', 'an invalid catalog', [open('ann', { ...release, flaw: 'fork' })]],
    ['I1', 'an image that does not exist', [open('ann', { ...release, flaw: 'missing-image' })]],
    ['I3', "an outsider's change", [open('eve', release)]],
    ['I3', 'what nobody may change but by hand', [open('ann', { kind: 'workflow' })]],
    ['I3', 'who makes themselves an owner', [open('eve', { kind: 'own', package: 'foo', who: 'eve' })]],
    ['I9', 'a link', [open('ann', { kind: 'link', package: 'foo' })]],
    ['I13', 'a draft', [open('ann', release), { do: 'draft', by: 'ann', pull: 1 }]],
    ['I13', 'what is held', [open('ann', release), { do: 'comment', by: 'amy', pull: 1, body: '/hold' }]],
    ['I13', 'a label that holds', [open('ann', release), { do: 'label', by: 'wes', pull: 1, label: 'hold' }]],
    [
      'I4',
      'what an owner objects to',
      [open('ann', release), { do: 'review', by: 'amy', pull: 1, state: 'changes-requested' }],
    ],
    [
      'I3',
      'an approval of another head',
      [
        open('eve', release),
        { do: 'review', by: 'amy', pull: 1, state: 'approved' },
        { do: 'push', by: 'eve', pull: 1, edits: [{ kind: 'extra', package: 'foo', part: 1 }] },
      ],
    ],
    [
      'I3',
      'an approval that was dismissed',
      [
        open('eve', release),
        { do: 'review', by: 'amy', pull: 1, state: 'approved' },
        { do: 'dismiss', by: 'amy', pull: 1 },
      ],
    ],
    [
      'I3',
      'an approval for another base branch',
      [
        open('eve', release),
        { do: 'comment', by: 'amy', pull: 1, body: '/approve' },
        { do: 'retarget', by: 'eve', pull: 1, base: 'release' },
        { do: 'retarget', by: 'eve', pull: 1, base: 'main' },
      ],
    ],
  ])('%s: %s', async (invariant, _, actions) => {
    expect(await listViolations(actions)).toContain(invariant)
  })

  test('I2 and I11: rejects a merge on another base, and a merge without a record', async () => {
    const moved: UserAction = { do: 'push-base', by: 'max', edits: [{ kind: 'readme' }] }
    expect(await listViolations([open('ann', release)], { meanwhile: [moved] })).toContain('I2')
    expect(await listViolations([open('ann', release)], { isUnwritten: true })).toEqual(['I11'])
  })
})

describe('a plan that fails', () => {
  const deed = (at: number, pull: number): PlannedEvent => ({ at, do: 'close', by: 'eve', pull })
  const events = Array.from({ length: 20 }, (_, at) => deed(at, at))
  const plan: SimulationPlan = { seed: 1, instances: 2, webhooks: false, events }
  /** Fails as soon as two of the twenty events are present. */
  const outcome = async (changed: SimulationPlan): Promise<SimulationResult> => {
    const ats = changed.events.map(({ at }) => at)
    const isBad = ats.includes(3) && ats.includes(17)
    return {
      plan: changed,
      violations: isBad ? [{ invariant: 'I1', what: 'as planned' }] : [],
      trace: [],
      steps: 1,
      landings: 0,
      isModelled: true,
      taken: [],
      idleAt: 1,
    }
  }

  test('is minimized', async () => {
    const { result, runs } = await shrinkPlan(await outcome(plan), outcome)
    expect(result.plan.events).toEqual([deed(3, 3), deed(17, 17)])
    expect(result.plan).toMatchObject({ instances: 1, webhooks: true })
    expect(runs).toBeLessThan(60)
  })
})
