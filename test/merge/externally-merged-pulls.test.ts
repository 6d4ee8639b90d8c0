// Reports on pull requests that catalog-bot does not handle anymore.
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import pino from 'pino'
import type { JobContext } from '../../src/jobs/job-context.ts'
import {
  reportPullMergedByOthers,
  reportPullOnUnmanagedBranch,
} from '../../src/merge/externally-merged-pulls.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../src/pull-request/snapshot.ts'
import type { VerdictInput } from '../../src/policy/decide.ts'
import { commentMarker } from '../../src/report/comment.ts'
import type { MergeApi } from '../../src/ports/merge-api.ts'
import type { Store } from '../../src/ports/store.ts'
import {
  createVerdictInput,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../policy/verdict-inputs.ts'
import { createPassingCheckRuns } from './merge-harness.ts'
import { MergeFixture, botCheckNames, type MergeScenario } from './merge-fixture.ts'

let mergeScenario: MergeScenario
let verdictInputOverrides: Partial<VerdictInput>
let evaluatedHeadShas: string[]
let mergeApiOverrides: Partial<MergeApi>
const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())
beforeEach(async () => {
  mergeScenario = await mergeFixture.openScenario()
  verdictInputOverrides = {}
  evaluatedHeadShas = []
  mergeApiOverrides = {}
})
afterEach(async () => {
  await mergeScenario.close()
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
})

const getRepositoryName = () => mergeScenario.full.split('/')[1] ?? ''
const readCurrentPullSnapshot = async (): Promise<PullSnapshot> => {
  const snapshot = await mergeScenario.options.forge.readSnapshot(toPullNumber(mergeScenario.pull.number))
  if (snapshot === null) throw new Error('no pull request')
  return snapshot
}
const createJobContext = () =>
  ({
    installation: mergeFixture.githubFixture.installation.id,
    repository: mergeScenario.mirror,
    forge: mergeScenario.options.forge,
    merging: { ...mergeScenario.options.merging, ...mergeApiOverrides },
    mirror: '',
    app: {
      settings: readSettings({}),
      store: { ...mergeScenario.store, recordVerdict: async () => undefined, observe: async () => 0 },
      registries: { forEvaluation: () => () => Promise.reject(new Error('no registry is asked')) },
      evaluationPool: {
        evaluate: async ({ snapshot }: { snapshot: PullSnapshot }) => {
          evaluatedHeadShas.push(snapshot.base)
          return {
            kind: 'seen',
            configDigest: 'default',
            epoch: 0,
            commands: [],
            report: { changeLines: [], commandLines: [] },
            verdictInput: createVerdictInput({ snapshot, ...verdictInputOverrides }),
          }
        },
      },
      clock: mergeScenario.clock,
      log: pino({ level: 'silent' }),
    },
  }) as unknown as JobContext<Store>
const publishBotComment = async (body: string) => {
  const { pull, head } = await readCurrentPullSnapshot()
  const present = await mergeScenario.options.forge.readOwnReports(pull, head)
  await mergeScenario.options.forge.perform({ kind: 'put-comment', pull, body, present })
}
const listCommentBodies = () => mergeScenario.pull.comments.map(({ body }) => body)
const mergePullAsBob = async (merge_method: 'merge' | 'squash') =>
  void (await mergeFixture.githubFixture
    .client(mergeScenario.github.tokenFor('bob'))
    .rest.pulls.merge({
      owner: 'catalogs',
      repo: getRepositoryName(),
      pull_number: mergeScenario.pull.number,
      merge_method,
    }))

test('an unhandled base branch is reported in the comment and in check runs that block', async () => {
  await publishBotComment(`${commentMarker}\n\nAll checks pass.`)
  const [name = ''] = botCheckNames
  const head = mergeScenario.pull.headSha as never
  await mergeScenario.options.forge.perform({
    kind: 'put-checks',
    head,
    runs: createPassingCheckRuns([name]),
    present: [],
  })
  const snapshot = { ...(await readCurrentPullSnapshot()), baseRef: 'release-1' }
  for (let times = 0; times < 2; times++)
    await reportPullOnUnmanagedBranch(snapshot, createJobContext(), undefined)
  expect(listCommentBodies()).toHaveLength(1)
  expect(listCommentBodies()[0]).toContain('catalog-bot does not handle the branch `release-1`')
  const runs = mergeScenario.github.checkRuns(mergeScenario.pull)
  // The newest check run of a name counts, and it is created once.
  expect(runs.map(({ conclusion }) => conclusion)).toEqual(['success', 'action_required'])
})

test('nothing is reported on a pull request that has no report of catalog-bot', async () => {
  await reportPullOnUnmanagedBranch(
    { ...(await readCurrentPullSnapshot()), baseRef: 'release-1' },
    createJobContext(),
    undefined,
  )
  await mergePullAsBob('merge')
  await reportPullMergedByOthers(await readCurrentPullSnapshot(), createJobContext(), undefined)
  expect(listCommentBodies()).toEqual([])
  expect(mergeScenario.github.checkRuns(mergeScenario.pull)).toEqual([])
  expect(evaluatedHeadShas).toEqual([])
})

test.each(['merge', 'squash'] as const)(
  'the report on an auto-merge by %s names who enabled it, and has the verdict on the actual parent',
  async (method) => {
    await publishBotComment(`${commentMarker}\n\nWaiting for approval.`)
    await mergeScenario.github.pushToBase(mergeScenario.full, { 'later.txt': 'x\n' })
    const parent = mergeScenario.tip()
    await mergePullAsBob(method)
    const { merging } = mergeScenario.options
    mergeApiOverrides = {
      readMergeState: async (pull) => ({ ...(await merging.readMergeState(pull))!, autoMergeBy: 'carol' }),
    }
    await reportPullMergedByOthers(await readCurrentPullSnapshot(), createJobContext(), undefined)
    expect(listCommentBodies()).toHaveLength(1)
    expect(listCommentBodies()[0]).toContain(
      "GitHub's auto-merge, which carol enabled, merged this pull request",
    )
    expect(listCommentBodies()[0]).toContain('all checks passed')
    expect(evaluatedHeadShas).toEqual([parent])
    // A later delivery causes no second evaluation.
    await reportPullMergedByOthers(await readCurrentPullSnapshot(), createJobContext(), undefined)
    expect(evaluatedHeadShas).toHaveLength(1)
  },
)

test('the report on a merge by a person has the reasons why catalog-bot would not have merged', async () => {
  await publishBotComment(`${commentMarker}\n\nWaiting for approval.`)
  await mergePullAsBob('squash')
  verdictInputOverrides = {
    outcomes: createOutcomesForAllChecks({
      ...createPassedCheckOutcome('ownership'),
      waiting: [{ what: 'an owner must approve', who: ['bob'] }],
    }),
  }
  await reportPullMergedByOthers(await readCurrentPullSnapshot(), createJobContext(), undefined)
  expect(listCommentBodies()[0]).toContain('Merged by bob')
  expect(listCommentBodies()[0]).toContain('would not have merged')
  expect(listCommentBodies()[0]).toContain('an owner must approve')
})
