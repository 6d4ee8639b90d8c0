import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { readMergeQueueRemovalUser } from '../../src/evaluate/merge-plan-input.ts'
import { evaluateMergeGroups } from '../../src/merge/merge-group.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { createMergeRecoveryOptions } from '../../src/merge/recover-merges.ts'
import { readValidatedMergeGroup, recordValidatedMergeGroup } from '../../src/merge/merge-queue-state.ts'
import { toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'
import { type VerdictInput, getRequiredBotChecks } from '../../src/policy/decide.ts'
import type { EvaluationRequest } from '../../src/evaluate/pull-evaluation.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { Store } from '../../src/ports/store.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { toNodeId } from '../../sandbox/github/views/account-view.ts'
import {
  createVerdictInput,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../policy/verdict-inputs.ts'
import {
  createStatusChecksRule,
  createMergeQueueRule,
} from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { MergeFixture, type MergeScenario } from './merge-fixture.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { toPrefixedCheckNames, botCheckNames } from '../../src/report/report-options.ts'
import { createTestAppServices, createTestStore } from '../jobs/job-context.ts'
import { createPullOptions } from '../sandbox/github/github-fixture.ts'

let scenario: MergeScenario
/** Returns what an evaluation finds other than success, by the evaluated head. */
let getVerdictInputOverrides: (order: EvaluationRequest) => Partial<VerdictInput>
const recordedVerdictBaseShas: string[] = []
let enqueuedJobs: { job: Job; seconds: number | undefined }[]
const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())
beforeEach(async () => {
  scenario = await mergeFixture.openScenario()
  getVerdictInputOverrides = () => ({})
  enqueuedJobs = []
  scenario.setRules([
    createMergeQueueRule(),
    createStatusChecksRule(
      requiredCheckNames.map((context) => ({ context, integration_id: mergeFixture.githubFixture.app.id })),
    ),
  ])
  for (const check of requiredCheckNames) await createSuccessfulCheckRun(scenario.pull.headSha, check)
})
afterEach(async () => {
  await scenario.close()
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
  scenario.github.clearFaults()
})

const requiredCheckNames = toPrefixedCheckNames(getRequiredBotChecks(defaultConfig))
const mergeQueueStrategy = { kind: 'queue' } as const
const getRepositoryName = () => scenario.full.split('/')[1] ?? ''
const createSuccessfulCheckRun = (head_sha: string, name: string) =>
  mergeFixture.githubFixture.octokit.rest.checks.create({
    owner: 'catalogs',
    repo: getRepositoryName(),
    name,
    head_sha,
    conclusion: 'success',
  })

/** Opens another pull request with passing checks. */
async function openPullWithPassingChecks(path: string, enqueues = true): Promise<MockPull> {
  const pull = await scenario.github.openPull(
    createPullOptions(path, { [path]: 'name: other\n' }, { repository: scenario.full }),
  )
  for (const check of requiredCheckNames) await createSuccessfulCheckRun(pull.headSha, check)
  if (enqueues) await enqueuePull(pull)
  return pull
}

function createJobContext(): JobContext<Store> {
  const { store } = scenario
  const evaluations: JobContext<Store>['app']['evaluationPool'] = {
    evaluate: async (order) => ({
      kind: 'seen',
      configDigest: 'default',
      epoch: 0,
      commands: [],
      runCommands: [],
      report: { changeLines: [], commandLines: [] },
      verdictInput: createVerdictInput({ snapshot: order.snapshot, ...getVerdictInputOverrides(order) }),
    }),
    isSmall: () => true,
    close: async () => undefined,
  }
  return {
    installation: mergeFixture.githubFixture.installation.id,
    repository: scenario.mirror,
    forge: scenario.options.forge,
    merging: scenario.options.merging,
    mirror: '',
    app: createTestAppServices({
      store: {
        ...store,
        enqueue: async (job: Job, seconds?: number) => void enqueuedJobs.push({ job, seconds }),
        recordVerdict: async ({ base }: { base: string }) => void recordedVerdictBaseShas.push(base),
      },
      evaluationPool: evaluations,
      clock: scenario.clock,
    }),
  }
}
const evaluateOpenMergeGroups = async () => {
  await evaluateMergeGroups(
    {
      kind: 'group',
      installation: 1,
      repository: { owner: 'catalogs', name: getRepositoryName() },
      branch: 'main',
    },
    createJobContext(),
  )
  await scenario.github.passTimeInQueues(scenario.full)
}
/** Adds a pull request to the queue as bob, who has write access. */
const enqueuePull = (pull: MockPull) =>
  mergeFixture.githubFixture
    .client(scenario.github.tokenFor('bob'))
    .graphql(
      `mutation { enqueuePullRequest(input: { pullRequestId: "${toNodeId('PullRequest', pull.id)}" }) { clientMutationId } }`,
    )
const readMergeGroups = () => scenario.options.merging.readMergeQueue('main')
const listCheckConclusions = (headSha: string) =>
  scenario.github.checkRuns({ repo: scenario.pull.repo, headSha }).map(({ conclusion }) => conclusion)
const listMergeIntentOutcomes = () => scenario.intents.map(({ outcome }) => outcome)

describe('a merge through the merge queue', () => {
  test('waits with an open intent, and is completed after GitHub merges the evaluated group', async () => {
    expect(await scenario.merge(mergeQueueStrategy)).toEqual({ kind: 'queued' })
    expect(listMergeIntentOutcomes()).toEqual([undefined])
    // A repeated attempt while the pull request is queued creates no second intent.
    expect(await scenario.merge(mergeQueueStrategy)).toEqual({ kind: 'queued' })
    expect(scenario.intents).toHaveLength(1)
    const [entry] = await readMergeGroups()
    await evaluateOpenMergeGroups()
    expect(scenario.pull.merged?.sha).toBe(entry?.group?.head)
    const { recoverMergesOnBranch: settleBranch } = await import('../../src/merge/recover-merges.ts')
    const settled = await settleBranch(
      { owner: 'catalogs', name: getRepositoryName() },
      'main',
      scenario.options,
    )
    expect(settled).toMatchObject([{ settled: { kind: 'landed', commit: scenario.tip() } }])
    expect(scenario.mismatches).toEqual([])
  })

  test('does not queue a pull request if its head moves right before the request', async () => {
    const outcome = await scenario.merge(mergeQueueStrategy, {
      merging: {
        ...scenario.options.merging,
        enqueue: async (permit) => {
          await scenario.github.pushToPull(scenario.pull, { 'alpha.yaml': 'name: evil\n' })
          return scenario.options.merging.enqueue(permit)
        },
      },
    })
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(await readMergeGroups()).toEqual([])
    expect(listMergeIntentOutcomes()).toEqual(['abandoned'])
  })

  test('is queued if bob has already added the pull request', async () => {
    await enqueuePull(scenario.pull)
    expect(await scenario.merge(mergeQueueStrategy)).toEqual({ kind: 'queued' })
  })

  test('is rejected for the pull request, and not requeued, after failed checks in the queue', async () => {
    await scenario.merge(mergeQueueStrategy)
    await scenario.clock.sleep(31_000)
    await scenario.github.removeFromQueue(scenario.pull, 'CI_FAILURE')
    expect(await scenario.merge(mergeQueueStrategy)).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'pull' },
    })
    expect(listMergeIntentOutcomes()).toEqual(['abandoned'])
    expect(await readMergeGroups()).toEqual([])
  })

  describe('that a person removed from the queue', () => {
    const head = () => scenario.pull.headSha as never
    const about = () => ({
      repository: { owner: 'catalogs', name: getRepositoryName() },
      pull: toPullNumber(scenario.pull.number),
      head: head(),
    })
    const held = (commands: readonly object[] = [], comments: readonly object[] = [], of = head()) =>
      readMergeQueueRemovalUser(
        { ...about(), head: of, comments: comments as never },
        async () => commands as never,
        scenario.store,
      )
    const removes = async (by = 'bob') => {
      await scenario.merge(mergeQueueStrategy)
      await scenario.clock.sleep(31_000)
      await scenario.github.removeFromQueue(scenario.pull, 'MANUAL', by)
    }

    test('is not requeued, and the person who removed it is recorded', async () => {
      await removes()
      expect(await scenario.merge(mergeQueueStrategy)).toEqual({
        kind: 'again',
        why: 'the pull request was removed from the merge queue',
      })
      expect(await held()).toBe('bob')
      expect(await readMergeGroups()).toEqual([])
      expect(await held([], [], 'f'.repeat(40) as never)).toBeUndefined()
    })

    test('is not requeued by the next attempt if a person had added it', async () => {
      await enqueuePull(scenario.pull)
      await scenario.github.removeFromQueue(scenario.pull, 'MANUAL', 'bob')
      expect(await scenario.merge(mergeQueueStrategy)).toMatchObject({ kind: 'again' })
      expect(await readMergeGroups()).toEqual([])
      // The removal is recorded. The policy decides whether it blocks the merge, and a permit allows the merge.
      expect(await scenario.merge(mergeQueueStrategy)).toEqual({ kind: 'queued' })
    })

    test('waits for a later accepted merge command for the same head', async () => {
      await removes()
      await scenario.merge(mergeQueueStrategy)
      const at = (seconds: number) => new Date(scenario.clock.now() + seconds * 1000).toISOString()
      const merge = { command: 'merge', outcome: 'done', comment: 7, head: head() }
      const later = [{ id: 7, createdAt: at(5) }]
      expect(await held([merge], later)).toBeUndefined()
      expect(await held([merge], [{ id: 7, createdAt: at(-5) }])).toBe('bob')
      expect(await held([merge], [])).toBe('bob')
      expect(await held([{ ...merge, outcome: 'denied' }], later)).toBe('bob')
      expect(await held([{ ...merge, command: 'recheck' }], later)).toBe('bob')
      expect(await held([{ ...merge, head: 'f'.repeat(40) }], later)).toBe('bob')
    })

    test('does not include a removal by catalog-bot or by a timeout in the queue', async () => {
      await scenario.merge(mergeQueueStrategy)
      await scenario.options.merging.dequeue(toPullNumber(scenario.pull.number))
      await scenario.clock.sleep(31_000)
      expect(await scenario.merge(mergeQueueStrategy)).toMatchObject({ kind: 'refused' })
      expect(await scenario.merge(mergeQueueStrategy)).toEqual({ kind: 'queued' })
      await scenario.clock.sleep(31_000)
      await scenario.github.removeFromQueue(scenario.pull, 'CI_TIMEOUT')
      expect(await scenario.merge(mergeQueueStrategy)).toMatchObject({
        kind: 'refused',
        rejection: { scope: 'pull', reason: 'a required check timed out in the merge queue' },
      })
      expect(await held()).toBeUndefined()
    })
  })

  describe('of a group that catalog-bot did not validate', () => {
    const merges = async () => {
      await scenario.merge(mergeQueueStrategy)
      const [entry] = await readMergeGroups()
      for (const check of requiredCheckNames) await createSuccessfulCheckRun(entry?.group?.head ?? '', check)
      await scenario.github.passTimeInQueues(scenario.full)
      expect(scenario.pull.merged).not.toBeNull()
      const { recoverMergesOnBranch: settleBranch } = await import('../../src/merge/recover-merges.ts')
      const { auditMerge } = createMergeRecoveryOptions(createJobContext())
      const options = { ...scenario.options, ...(auditMerge && { auditMerge }) }
      return () => settleBranch({ owner: 'catalogs', name: getRepositoryName() }, 'main', options)
    }
    beforeEach(() => void recordedVerdictBaseShas.splice(0))

    test('is recorded as merged if it is valid on its actual parent, even during a freeze', async () => {
      const { base, head } = (await scenario.evaluate()).permit.merge
      const evaluations: unknown[] = []
      getVerdictInputOverrides = ({ snapshot }) => {
        evaluations.push([snapshot.base, snapshot.head, snapshot.state])
        return { merge: { kind: 'clean', commit: head, tree: head as never } }
      }
      const settle = await merges()
      scenario.store.listFreezes = async () => [
        { kind: 'frozen', branch: 'main', since: 0, times: 1 } as never,
      ]
      await settle()
      expect(listMergeIntentOutcomes()).toEqual(['landed'])
      expect(scenario.mismatches).toEqual([])
      expect(evaluations).toEqual([[base, head, 'open']])
      expect(recordedVerdictBaseShas).toEqual([base])
    })

    test('is a mismatch if the change still needs an approval', async () => {
      getVerdictInputOverrides = () => ({
        outcomes: createOutcomesForAllChecks({
          ...createPassedCheckOutcome('ownership'),
          waiting: [{ what: 'an owner must approve', who: ['bob'] }],
        }),
      })
      await (
        await merges()
      )()
      expect(listMergeIntentOutcomes()).toEqual(['mismatch'])
      expect(scenario.mismatches[0]?.differs).toContain('an owner must approve')
    })

    test('stays unclear without an immediate second evaluation while an answer is missing', async () => {
      let evaluationCount = 0
      getVerdictInputOverrides = () => {
        evaluationCount += 1
        return {
          outcomes: createOutcomesForAllChecks({
            ...createPassedCheckOutcome('validation'),
            unanswered: [{ question: 'q', reason: 'away', retryAfter: 5 }],
          }),
        }
      }
      const settle = await merges()
      expect(await settle()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(await settle()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(evaluationCount).toBe(1)
      expect(scenario.mismatches).toEqual([])
    })

    test('stays unclear while GitHub does not find the pull request', async () => {
      const settle = await merges()
      jest.spyOn(scenario.options.forge, 'readSnapshot').mockResolvedValueOnce(null)
      expect(await settle()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(scenario.mismatches).toEqual([])
    })
  })

  test('of a group without validation is a mismatch if recovery does not evaluate it', async () => {
    await scenario.merge(mergeQueueStrategy)
    const [entry] = await readMergeGroups()
    for (const check of requiredCheckNames) await createSuccessfulCheckRun(entry?.group?.head ?? '', check)
    await scenario.github.passTimeInQueues(scenario.full)
    expect(scenario.pull.merged).not.toBeNull()
    const { recoverMergesOnBranch: settleBranch } = await import('../../src/merge/recover-merges.ts')
    await settleBranch({ owner: 'catalogs', name: getRepositoryName() }, 'main', scenario.options)
    expect(listMergeIntentOutcomes()).toEqual(['mismatch'])
    expect(scenario.mismatches).toHaveLength(1)
  })

  test('is in the queue at most once after a lost response', async () => {
    const isMutation = ({ template }: { template: string }) => template === '/graphql'
    const { merging } = scenario.options
    await expect(
      scenario.merge(mergeQueueStrategy, {
        merging: {
          ...merging,
          enqueue: async (permit) => {
            scenario.github.fail(isMutation, { applyThenFail: 502 }, 2)
            return merging.enqueue(permit)
          },
        },
      }),
    ).rejects.toMatchObject({ code: 'unavailable' })
    scenario.github.clearFaults()
    await scenario.clock.sleep(31_000)
    const after = await scenario.merge(mergeQueueStrategy)
    expect(['queued', 'refused']).toContain(after.kind)
    expect((await readMergeGroups()).length).toBeLessThanOrEqual(1)
  })
})

describe('a group of the merge queue', () => {
  /** Another required check holds the queue, so neither is merged before both are evaluated. Resolves to the second one. */
  const enqueueTwoPulls = async () => {
    scenario.setRules([createStatusChecksRule([{ context: 'slow ci' }])])
    await createSuccessfulCheckRun(scenario.pull.headSha, 'slow ci')
    await enqueuePull(scenario.pull)
    const second = await openPullWithPassingChecks('beta.yaml', false)
    await createSuccessfulCheckRun(second.headSha, 'slow ci')
    await enqueuePull(second)
    return second
  }

  test('of several pull requests is merged after each one and the group are evaluated', async () => {
    const second = await enqueueTwoPulls()
    const evaluatedHeads: string[] = []
    getVerdictInputOverrides = ({ snapshot }) => {
      evaluatedHeads.push(snapshot.head)
      return {}
    }
    await evaluateOpenMergeGroups()
    for (const { group } of await readMergeGroups())
      await createSuccessfulCheckRun(group?.head ?? '', 'slow ci')
    await scenario.github.passTimeInQueues(scenario.full)
    expect([scenario.pull.merged, second.merged]).not.toContain(null)
    // The group with only the first; then the first, the second, and both together.
    expect(evaluatedHeads).toEqual([
      scenario.pull.headSha,
      scenario.pull.headSha,
      second.headSha,
      expect.not.stringMatching(new RegExp(`^(?:${scenario.pull.headSha}|${second.headSha})$`)),
    ])
  })

  test('fails if a pull request may not be merged after the earlier ones, for example because they remove its owner', async () => {
    const second = await enqueueTwoPulls()
    const [alone, together] = (await readMergeGroups()).map(({ group }) => group)
    const treeOf = (commit = '') => scenario.mirror.treeOf(toCommitSha(commit))
    const waiting = { what: 'an owner must approve', who: ['bob'] }
    const ownership = { ...createPassedCheckOutcome('ownership'), waiting: [waiting] }
    const bases: string[] = []
    getVerdictInputOverrides = ({ snapshot }) => {
      if (snapshot.head !== second.headSha) return {}
      bases.push(snapshot.base)
      return snapshot.base === alone?.base ? {} : { outcomes: createOutcomesForAllChecks(ownership) }
    }
    await evaluateOpenMergeGroups()
    expect(await Promise.all(bases.map((base) => treeOf(base)))).toEqual([await treeOf(alone?.head)])
    expect(listCheckConclusions(alone?.head ?? '')).not.toContain('failure')
    expect(listCheckConclusions(together?.head ?? '')).toEqual(botCheckNames.map(() => 'failure'))
  })

  test('with a pull request that may not be merged fails and reports which one and why', async () => {
    await enqueuePull(scenario.pull)
    getVerdictInputOverrides = () => ({ heldBy: { login: 'bob', isBack: false } })
    const head = (await readMergeGroups())[0]?.group?.head ?? ''
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head)).toEqual(botCheckNames.map(() => 'failure'))
    expect(scenario.github.checkRuns({ repo: scenario.pull.repo, headSha: head })[0]?.summary).toContain(
      'pull request 1: this pull request was put on hold by bob',
    )
    expect(scenario.pull.merged).toBeNull()
  })

  test('fails if its pull requests are valid alone and invalid together', async () => {
    const second = await enqueueTwoPulls()
    const together = (await readMergeGroups())[1]?.group?.head ?? ''
    const alone = [scenario.pull.headSha, second.headSha]
    const broken = createPassedCheckOutcome('validation', {
      findings: [
        {
          rule: 'two-heads',
          severity: 'error',
          at: { file: 'x.yaml', line: 1, column: 1 },
          data: {},
          related: [],
        } as never,
      ],
    })
    getVerdictInputOverrides = ({ snapshot }) =>
      alone.includes(snapshot.head) ? {} : { outcomes: createOutcomesForAllChecks(broken) }
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(together)).toEqual(botCheckNames.map(() => 'failure'))
  })

  test('fails if its tree differs from the merge of its pull requests', async () => {
    await enqueuePull(scenario.pull)
    const head = (await readMergeGroups())[0]?.group?.head ?? ''
    const treeOf = scenario.mirror.treeOf.bind(scenario.mirror)
    const { base } = (await scenario.evaluate()).permit.merge
    const other = await treeOf(base)
    scenario.mirror.treeOf = async (commit) => (commit === head ? other : treeOf(commit))
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head)).toEqual(botCheckNames.map(() => 'failure'))
    expect(scenario.pull.merged).toBeNull()
  })

  test('with a missing answer waits, is evaluated again, and fails after a timeout', async () => {
    await enqueuePull(scenario.pull)
    const head = (await readMergeGroups())[0]?.group?.head ?? ''
    const open = createPassedCheckOutcome('images', {
      unanswered: [{ question: 'image a', reason: 'no answer', retryAfter: 30 }],
    })
    getVerdictInputOverrides = () => ({ outcomes: createOutcomesForAllChecks(open) })
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head)).toEqual(botCheckNames.map(() => null))
    expect(enqueuedJobs).toMatchObject([
      { job: { kind: 'group', branch: 'main' }, seconds: expect.any(Number) },
    ])
    await scenario.clock.sleep(11 * 60_000)
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head)).toEqual(botCheckNames.map(() => 'failure'))
    expect(scenario.pull.merged).toBeNull()
  })

  test('waits while GitHub does not find its pull request', async () => {
    await enqueuePull(scenario.pull)
    const head = (await readMergeGroups())[0]?.group?.head ?? ''
    jest.spyOn(scenario.options.forge, 'readSnapshot').mockResolvedValueOnce(null)
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head)).toEqual(botCheckNames.map(() => null))
  })

  test('is evaluated once, and its checks are not written again', async () => {
    scenario.setRules([createStatusChecksRule([{ context: 'slow ci' }])])
    await createSuccessfulCheckRun(scenario.pull.headSha, 'slow ci')
    await enqueuePull(scenario.pull)
    const head = (await readMergeGroups())[0]?.group?.head ?? ''
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head).toSorted()).toEqual([
      'neutral',
      ...requiredCheckNames.map(() => 'success'),
    ])
    const count = scenario.github.requests.filter(({ method }) => method !== 'GET').length
    getVerdictInputOverrides = () => {
      throw new Error('nobody looks again')
    }
    await evaluateOpenMergeGroups()
    expect(listCheckConclusions(head)).toHaveLength(botCheckNames.length)
    const written = scenario.github.requests
      .filter(({ method }) => method !== 'GET')
      .slice(count)
      .filter(({ path }) => path.includes('check-runs'))
    expect(written).toEqual([])
  })

  test('is recorded as valid before its checks are reported to GitHub', async () => {
    await enqueuePull(scenario.pull)
    const order: string[] = []
    const where = createJobContext()
    await evaluateMergeGroups(
      {
        kind: 'group',
        installation: 1,
        repository: { owner: 'catalogs', name: getRepositoryName() },
        branch: 'main',
      },
      {
        ...where,
        app: {
          ...where.app,
          store: {
            ...where.app.store,
            writeState: async (...state) => {
              order.push('record')
              await where.app.store.writeState(...state)
            },
          },
        },
        forge: {
          ...where.forge,
          perform: async (action) => {
            order.push('check')
            return where.forge.perform(action)
          },
        },
      },
    )
    expect(order).toEqual(['record', 'check'])
  })
})

test('removing a pull request from the queue succeeds even if it is not queued', async () => {
  await scenario.options.merging.dequeue(toPullNumber(scenario.pull.number))
  await scenario.merge(mergeQueueStrategy)
  await scenario.options.merging.dequeue(toPullNumber(scenario.pull.number))
  expect(await readMergeGroups()).toEqual([])
})

test('groups of two branches that pass at the same time are both recorded', async () => {
  const name = { owner: 'acme', name: 'catalog' }
  const app = { store: createTestStore(() => 0) }
  const createGroup = (baseRef: string, digit: string) => ({
    ...{ head: toCommitSha(digit.repeat(40)), tree: toTreeSha(digit.repeat(40)), baseRef, pulls: [] },
    base: toCommitSha('0'.repeat(40)),
  })
  const groups = [createGroup('main', '1'), createGroup('release', '2'), createGroup('main', '3')] as const
  await Promise.all(groups.slice(0, 2).map((group) => recordValidatedMergeGroup(name, group, app)))
  await recordValidatedMergeGroup(name, groups[2], app)
  for (const group of groups)
    expect(await readValidatedMergeGroup(name, group.baseRef, group.head, app)).toEqual(group)
  expect(await readValidatedMergeGroup(name, 'release', groups[0].head, app)).toBeUndefined()
})
