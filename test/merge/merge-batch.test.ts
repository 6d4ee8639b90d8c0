// Merges several pull requests with one push. Each is merged once, as validated on top of the previous one, or not at
// all. A problem with one pull request is reported only for that one. The process can crash after every step.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { toPullNumber, type CommitSha } from '../../src/pull-request/ids.ts'
import type { RepositoryName } from '../../src/pull-request/snapshot.ts'
import type { MergeStrategy } from '../../src/policy/merge-strategy.ts'
import { createMergePermit } from '../../src/policy/merge-permit.ts'
import { mergePullBatch, type MergeBatchMember } from '../../src/merge/merge-batch.ts'
import { toMergeLeaseName } from '../../src/jobs/auto-renewing-lease.ts'
import { recoverMergesOnBranch } from '../../src/merge/recover-merges.ts'
import { createStatusChecksRule } from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { injectSimulatedCrash, isMutatingCall, SimulatedCrashError } from './simulated-crash.ts'
import {
  passingCheckRuns,
  MergeFixture,
  botCheckNames,
  directPushStrategy,
  type MergeScenario,
} from './merge-fixture.ts'
import { createPullOptions } from '../sandbox/github/github-fixture.ts'

const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())
const scenariosToClose: MergeScenario[] = []
afterEach(async () => {
  // Closes scenarios of failed tests, too, because an open mirror keeps the process alive.
  for (const scene of scenariosToClose.splice(0)) await scene.close()
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
})

interface MergeBatchScenario {
  readonly scenario: MergeScenario
  readonly pulls: readonly MockPull[]
  readonly members: readonly MergeBatchMember[]
}

/** Opens three pull requests for three files, each validated on top of the previous one. */
async function createMergeBatchScenario(
  method: MergeStrategy = directPushStrategy,
): Promise<MergeBatchScenario> {
  const scenario = await mergeFixture.openScenario({ behind: false })
  scenariosToClose.push(scenario)
  const pulls = [scenario.pull]
  for (const name of ['beta', 'gamma'])
    pulls.push(
      await scenario.github.openPull(
        createPullOptions(name, { [`${name}.yaml`]: `name: ${name}\n` }, { repository: scenario.full }),
      ),
    )
  const members: MergeBatchMember[] = []
  let base: CommitSha | undefined
  for (const pull of pulls) {
    const read = await scenario.options.forge.readSnapshot(toPullNumber(pull.number))
    if (read === null) throw new Error('no pull request')
    base ??= read.base
    const snapshot = { ...read, base }
    await scenario.mirror.fetch('main', snapshot.pull)
    const merge = await scenario.mirror.merge(base, snapshot.head, `Merge ${pull.number}\n`)
    if (merge.kind !== 'clean') throw new Error(merge.kind)
    const { repository, head } = snapshot
    const { commit, tree } = merge
    const pendingMerge = {
      repository,
      pull: snapshot.pull,
      baseRef: 'main',
      base,
      head,
      commit,
      tree,
      config: 'c',
    }
    members.push({
      evaluated: { snapshot },
      permit: createMergePermit(pendingMerge),
      planned: { plan: { method } },
      checks: passingCheckRuns,
    })
    base = commit
  }
  return { scenario, pulls, members }
}

async function mergeBatchInScenario(
  { scenario, members }: MergeBatchScenario,
  options: MergeScenario['options'] = scenario.options,
) {
  const name = toMergeLeaseName({ owner: 'catalogs', name: scenario.full.split('/')[1] ?? '' }, 'main')
  const lease = await options.store.acquireLease(name, 60)
  if (lease === undefined) throw new Error('the lease is held')
  try {
    return await mergePullBatch(members, lease, options)
  } finally {
    await options.store.releaseLease(lease)
  }
}

const listMergeCommits = ({ members }: MergeBatchScenario) => members.map(({ permit }) => permit.merge.commit)
const listPushRequests = ({ scenario }: MergeBatchScenario) =>
  mergeFixture.githubFixture.github.requests.filter(
    ({ path, template }) => path.includes(scenario.full) && template.endsWith('git-receive-pack'),
  ).length

describe('a merge batch', () => {
  test('merges all of its members with one push, each as validated', async () => {
    const it = await createMergeBatchScenario()
    const { outcomes, rejection } = await mergeBatchInScenario(it)
    expect(rejection).toBeUndefined()
    expect([...outcomes.values()]).toEqual(listMergeCommits(it).map((commit) => ({ kind: 'landed', commit })))
    expect(it.scenario.tip()).toBe(listMergeCommits(it).at(-1))
    expect(listPushRequests(it)).toBe(1)
    expect(it.pulls.map(({ merged }) => merged?.sha)).toEqual(it.pulls.map(() => expect.any(String)))
    expect(it.scenario.intents.map(({ outcome }) => outcome)).toEqual(['landed', 'landed', 'landed'])
  })

  test('merges if the bulk query fails and the keys of a stored snapshot are in another order', async () => {
    const it = await createMergeBatchScenario()
    mergeFixture.githubFixture.github.fail('POST /graphql', { status: 502 })
    const kept = it.members.map((member) => {
      const { snapshot } = member.evaluated
      return {
        ...member,
        evaluated: { snapshot: Object.fromEntries(Object.entries(snapshot).toReversed()) as typeof snapshot },
      }
    })
    const { outcomes } = await mergeBatchInScenario({ ...it, members: kept })
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['landed', 'landed', 'landed'])
  })

  test('ends before a member with a new push, and merges the members before it', async () => {
    const it = await createMergeBatchScenario()
    const [, second] = it.pulls
    if (second === undefined) throw new Error('no pull request')
    await it.scenario.github.pushToPull(second, { 'beta.yaml': 'name: other\n' })
    const { outcomes } = await mergeBatchInScenario(it)
    expect([...outcomes].map(([pull, { kind }]) => [pull, kind]).sort()).toEqual([
      [it.pulls[0]?.number, 'landed'],
      [second.number, 'again'],
    ])
    expect(it.scenario.tip()).toBe(listMergeCommits(it)[0])
    expect(it.pulls.map(({ merged }) => merged !== null)).toEqual([true, false, false])
  })

  test('does not merge a member that was labeled after the evaluation', async () => {
    const it = await createMergeBatchScenario()
    const third = it.pulls[2]
    if (third === undefined) throw new Error('no pull request')
    await it.scenario.github.label(third, 'do-not-merge')
    const { outcomes } = await mergeBatchInScenario(it)
    expect(outcomes.get(toPullNumber(third.number))?.kind).toBe('again')
    expect(third.merged).toBeNull()
  })

  test('ends before a member that changed and changed back after the evaluation', async () => {
    const it = await createMergeBatchScenario()
    const members = it.members.map((member) => ({ ...member, evaluated: { ...member.evaluated, epoch: 4 } }))
    const second = members[1]?.permit.merge.pull
    const { options } = it.scenario
    const store = { ...options.store, observe: async (_: unknown, pull: number) => (pull === second ? 6 : 4) }
    const { outcomes } = await mergeBatchInScenario({ ...it, members }, { ...options, store })
    expect([...outcomes.values()].map(({ kind }) => kind).sort()).toEqual(['again', 'landed'])
    expect(it.scenario.tip()).toBe(listMergeCommits(it)[0])
  })

  test('merges nothing and reevaluates all members if merging is frozen during preparation', async () => {
    const it = await createMergeBatchScenario()
    const { options } = it.scenario
    const tip = it.scenario.tip()
    let reads = 0
    const stop = { kind: 'frozen', reason: '', by: { kind: 'bot' }, since: 0, times: 1 } as const
    // The bot reads the freezes once for each member and once more before the push.
    const listFreezes = async (repository: RepositoryName) =>
      (reads += 1) > it.members.length ? [{ ...stop, repository }] : []
    const { outcomes } = await mergeBatchInScenario(it, {
      ...options,
      store: { ...options.store, listFreezes },
    })
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['again', 'again', 'again'])
    expect(it.scenario.tip()).toBe(tip)
  })

  test('merges nothing and blames no member if GitHub rejects the push', async () => {
    const it = await createMergeBatchScenario()
    const tip = it.scenario.tip()
    it.scenario.setRules([createStatusChecksRule(botCheckNames.map((context) => ({ context })))])
    const { outcomes, rejection } = await mergeBatchInScenario(it)
    expect(rejection).toMatch(/check/)
    expect([...outcomes]).toEqual([])
    expect(it.scenario.tip()).toBe(tip)
    expect(it.scenario.intents.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned', 'abandoned'])
  })

  test('merges where the checks of catalog-bot are required, and leaves no temporary branch', async () => {
    const it = await createMergeBatchScenario({ kind: 'push', checksFirst: true, signed: false })
    it.scenario.setRules([createStatusChecksRule(botCheckNames.map((context) => ({ context })))])
    const { outcomes, rejection } = await mergeBatchInScenario(it)
    expect(rejection).toBeUndefined()
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['landed', 'landed', 'landed'])
    expect(it.scenario.tip()).toBe(listMergeCommits(it).at(-1))
    expect(it.scenario.otherBranches().filter((ref) => ref.includes('catalog-bot'))).toEqual([])
  })

  test('merges nothing on a base that moved, and abandons all intents', async () => {
    const it = await createMergeBatchScenario()
    await it.scenario.github.pushToBase(it.scenario.full, { 'meanwhile.txt': 'x\n' })
    const tip = it.scenario.tip()
    await mergeBatchInScenario(it)
    expect(it.scenario.tip()).toBe(tip)
    expect(it.scenario.intents.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned', 'abandoned'])
  })

  test('pushes nothing if it loses its lease between its intents', async () => {
    const it = await createMergeBatchScenario()
    const tip = it.scenario.tip()
    const { store } = it.scenario.options
    let starts = 0
    await mergeBatchInScenario(it, {
      ...it.scenario.options,
      store: {
        ...store,
        startMerge: async (lease, intent) =>
          (starts += 1) === 3 ? undefined : store.startMerge(lease, intent),
      },
    })
    expect(it.scenario.tip()).toBe(tip)
    expect(it.scenario.intents.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned'])
  })

  test('merges each member once or not at all after a crash at any step', async () => {
    const first = await createMergeBatchScenario()
    const whole = injectSimulatedCrash(first.scenario.options, Infinity)
    await mergeBatchInScenario(first, whole.options)
    // Tests the first and the last call of each kind; the calls in between behave the same.
    const acts = whole.calls
      .map((step, at) => [step, at] as const)
      .filter(
        ([step, at]) =>
          isMutatingCall(step) && [whole.calls.indexOf(step), whole.calls.lastIndexOf(step)].includes(at),
      )
    expect(acts.map(([step]) => step)).toContain('repository.pushMergeBatch')
    for (const [step, at] of acts) {
      const it = await createMergeBatchScenario()
      const { scenario } = it
      await mergeBatchInScenario(it, injectSimulatedCrash(scenario.options, at + 1).options).catch(
        (error: unknown) => {
          if (!(error instanceof SimulatedCrashError)) throw error
        },
      )
      scenario.expireLeases()
      await scenario.clock.sleep(31_000)
      await recoverMergesOnBranch({ owner: 'catalogs', name: scenario.full }, 'main', scenario.options)
      const caseName = `cut off after ${step}`
      const pushed = scenario.tip() === listMergeCommits(it).at(-1)
      const intents = scenario.intents.map(({ pull, outcome }) => [caseName, pull, outcome])
      expect(intents).toEqual(
        it.pulls
          .slice(0, intents.length)
          .map(({ number }) => [caseName, number, pushed ? 'landed' : 'abandoned']),
      )
      expect([caseName, it.pulls.map(({ merged }) => merged !== null)]).toEqual([
        caseName,
        it.pulls.map(() => pushed),
      ])
      expect([caseName, scenario.mismatches]).toEqual([caseName, []])
    }
  })
})
