// Preview images: which results get one, and when it is removed.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { checkIds } from '../../packages/findings/src/checks.ts'
import {
  cancelPreviews,
  decidePreviewRequest,
  type PreviewCandidatePull,
  builtPreviewStateNamespace,
  previewRequestStateNamespace,
} from '../../src/publish/preview.ts'
import { loadClusterTestImagesByCatalog } from '../../src/cluster-test/run-cluster-tests.ts'
import type { ClusterTestRequest } from '../../src/cluster-test/request-cluster-test.ts'
import { toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'
import type { CheckOutcome } from '../../src/checks/check.ts'
import type { CommandRecord } from '../../src/policy/command-records.ts'
import type { GitHubApp } from '../../src/adapters/github/github-app.ts'
import type { Store } from '../../src/ports/store.ts'
import type { GitHubFixture } from '../sandbox/github/github-fixture.ts'
import { createJobFixture, type JobFixture } from '../server/jobs/job-fixture.ts'
import {
  createPublishConfig,
  createPackageYaml,
  catalogImageName,
  createPublishScenario,
  type PublishScenario,
} from './publish-scenario.ts'
import { createPullOptions } from '../sandbox/github/github-fixture.ts'

const headCommitSha = toCommitSha('a'.repeat(40))
const sampleMergeResult = { commit: toCommitSha('b'.repeat(40)), tree: toTreeSha('c'.repeat(40)) }
const createCheckOutcome = (
  check: CheckOutcome['check'],
  more: Partial<CheckOutcome> = {},
): CheckOutcome => ({ check, findings: [], unanswered: [], waiting: [], summary: '', ...more })
const errorFindings = [{ severity: 'error' }] as unknown as CheckOutcome['findings']
const pendingLookups = [{ question: 'q', reason: 'r', retryAfter: 1 }]
const requiredApprovals = [{ what: 'approval', who: ['alice'] }]
const createPreviewCandidate = (
  outcomes: readonly CheckOutcome[],
  more: { state?: string; result?: unknown } = {},
): Omit<PreviewCandidatePull, 'hasPreviews' | 'runCommands'> =>
  ({
    snapshot: { head: headCommitSha, baseRef: 'main', state: more.state ?? 'open' },
    verdict: { outcomes, ...('result' in more ? { result: more.result } : { result: sampleMergeResult }) },
    epoch: 2,
  }) as never
const createCommandRecord = (more: Partial<CommandRecord> = {}): CommandRecord =>
  ({
    comment: 5,
    command: 'preview',
    outcome: 'done',
    head: headCommitSha,
    epoch: 2,
    ...more,
  }) as CommandRecord

const outcomesAwaitingApproval = [
  createCheckOutcome('ownership', { waiting: requiredApprovals }),
  createCheckOutcome('validation'),
  createCheckOutcome('images'),
]
const passedOutcomes = checkIds.map((id) => createCheckOutcome(id))

describe('a preview', () => {
  test('is built from the validated result on request, even if approvals are missing', () => {
    expect(
      decidePreviewRequest({
        ...createPreviewCandidate(outcomesAwaitingApproval),
        runCommands: [createCommandRecord()],
      }),
    ).toEqual({
      head: headCommitSha,
      tree: sampleMergeResult.tree,
      baseRef: 'main',
      isAsked: true,
      comment: 5,
      isClosed: false,
    })
  })

  test('is built without a request when all checks passed', () => {
    expect(
      decidePreviewRequest({ ...createPreviewCandidate(passedOutcomes), runCommands: [] }),
    ).toMatchObject({ isAsked: false })
  })

  test.each<[string, ReturnType<typeof createPreviewCandidate>, readonly CommandRecord[]]>([
    ['there is no request and approvals are missing', createPreviewCandidate(outcomesAwaitingApproval), []],
    [
      'the requester is not authorized',
      createPreviewCandidate(outcomesAwaitingApproval),
      [createCommandRecord({ outcome: 'denied' })],
    ],
    [
      'the request was for another commit',
      createPreviewCandidate(outcomesAwaitingApproval),
      [createCommandRecord({ head: toCommitSha('d'.repeat(40)) })],
    ],
    [
      'the request was made before the base changed',
      createPreviewCandidate(outcomesAwaitingApproval),
      [createCommandRecord({ epoch: 1 })],
    ],
    [
      'validation failed',
      createPreviewCandidate([
        createCheckOutcome('validation', { findings: errorFindings }),
        createCheckOutcome('images'),
      ]),
      [createCommandRecord()],
    ],
    [
      'the images check is inconclusive',
      createPreviewCandidate([
        createCheckOutcome('validation'),
        createCheckOutcome('images', { unanswered: pendingLookups }),
      ]),
      [createCommandRecord()],
    ],
    [
      'a check is missing',
      createPreviewCandidate([createCheckOutcome('validation')]),
      [createCommandRecord()],
    ],
    ['nothing was checked', createPreviewCandidate([]), [createCommandRecord()]],
    [
      'head and base do not merge',
      createPreviewCandidate(passedOutcomes, { result: undefined }),
      [createCommandRecord()],
    ],
    [
      'the pull request is closed',
      createPreviewCandidate(passedOutcomes, { state: 'closed' }),
      [createCommandRecord()],
    ],
  ])('is not built when %s', (_name, given, runCommands) => {
    expect(decidePreviewRequest({ ...given, runCommands })).toBeUndefined()
  })
})

describe('the preview of a pull request', () => {
  let jobFixture: JobFixture
  let github: GitHubFixture
  let app: GitHubApp
  let store: Store
  let directory: string
  let scene: PublishScenario

  beforeAll(async () => {
    jobFixture = await createJobFixture()
    ;({ github, app, store, directory } = jobFixture)
    scene = await createPublishScenario(github, app, store, directory, {
      '.github/catalog-bot.yml': createPublishConfig('    preview: {expires: 1d}\n'),
    })
    await scene.run()
  })
  afterAll(async () => {
    await scene.close()
    await jobFixture.close()
  })

  /** Opens a pull request, treats its head as the validated result, and requests a preview of it. */
  async function wished(text: string) {
    const pull = await github.github.openPull(
      createPullOptions('More', { 'catalogs/v4.18/alpha/catalog.yaml': text }, { repository: scene.full }),
    )
    const { repository } = scene.ctx
    await repository.fetch('main', toPullNumber(pull.number))
    const commit = await repository.pullHead(toPullNumber(pull.number))
    if (commit === undefined) throw new Error('no head')
    const tree = await repository.treeOf(commit)
    const previewRequest = { head: commit, tree, baseRef: 'main', isAsked: true, comment: 5, isClosed: false }
    await store.writeState(
      previewRequestStateNamespace,
      scene.ctx.forge.repository,
      new Map([[String(pull.number), previewRequest]]),
    )
    await scene.preview(pull.number)
    return { pull, commit, tag: `${catalogImageName}:pr-${pull.number}-v4.18` }
  }

  test('has a separate tag, leaves the other tags alone, and is removed when it expires', async () => {
    const before = scene.registry.findDigest(`${catalogImageName}:latest`)
    const { pull, commit, tag } = await wished(createPackageYaml('alpha', 'preview'))
    expect(scene.registry.readText(tag)).toContain('name: preview')
    expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBe(before)
    expect(scene.check(commit, 'preview')).toMatchObject({ conclusion: 'neutral' })
    expect(scene.check(commit, 'preview')?.summary).toContain(`\`${tag}\``)
    const count = scene.registry.calls.length
    await scene.preview(pull.number)
    expect(scene.registry.calls).toHaveLength(count)
    scene.advanceTime(25 * 3600)
    await scene.preview(pull.number)
    expect(scene.registry.findDigest(tag)).toBeUndefined()
    await scene.preview(pull.number)
    expect(scene.registry.findDigest(tag)).toBeUndefined()
  })

  test('is used by an OLM v1 test of its tree, with the published image of its base tree', async () => {
    const { pull, commit, tag } = await wished(createPackageYaml('alpha', 'tried'))
    const { repository } = scene.ctx
    const [tree, baseTree] = [await repository.treeOf(commit), await repository.treeOf(await mainTip())]
    const root = 'catalogs/v4.18'
    const imagesOf = async (more: Partial<ClusterTestRequest> = {}, number = pull.number) => {
      const installTest = { target: 'OLM v1' } as ClusterTestRequest['trials'][number]['trial']
      const clusterTestRequest = {
        head: commit,
        tree,
        baseTree,
        trials: [{ root, trial: installTest }],
        ...more,
      } as ClusterTestRequest
      const found = await loadClusterTestImagesByCatalog(toPullNumber(number), clusterTestRequest, scene.ctx)
      return [...found.values()][0]
    }
    const head = `${catalogImageName}@${scene.registry.findDigest(tag) ?? ''}`
    expect(await imagesOf()).toEqual({
      head,
      base: `${catalogImageName}@${scene.registry.findDigest(`${catalogImageName}:latest`) ?? ''}`,
    })
    // The catalog on the branch differs from what is published.
    expect(await imagesOf({ baseTree: tree })).toEqual({ head })
    expect(await imagesOf({ tree: baseTree })).toMatchObject({ why: expect.stringContaining('/preview') })
    expect(await imagesOf({}, 9999)).toMatchObject({ why: expect.stringContaining('/preview') })
    expect(
      await imagesOf({ trials: [{ root: 'catalogs/v4.19', trial: { target: 'OLM v1' } as never }] }),
    ).toMatchObject({ why: expect.stringContaining('does not enable previews') })
    expect(await imagesOf({ trials: [{ root, trial: { target: 'OLM v0' } as never }] })).toBeUndefined()
    // Requested but not built yet.
    const key = String(pull.number)
    const { repository: name } = scene.ctx.forge
    const made = await store.readState(builtPreviewStateNamespace, name, key)
    await store.writeState(
      builtPreviewStateNamespace,
      name,
      new Map([[key, { images: [], ended: [], attempts: 0 }]]),
    )
    expect(await imagesOf()).toBe('coming')
    expect(await imagesOf({ head: await mainTip() })).toMatchObject({ why: expect.any(String) })
    if (made) await store.writeState(builtPreviewStateNamespace, name, new Map([[key, made]]))
    scene.advanceTime(25 * 3600)
    expect(await imagesOf()).toMatchObject({ why: expect.any(String) })
    await scene.preview(pull.number)
    expect(await imagesOf()).toMatchObject({ why: expect.any(String) })
  })

  async function mainTip() {
    const { repository } = scene.ctx
    await repository.fetch('main')
    const tip = await repository.tip('main')
    if (tip === undefined) throw new Error('no branch')
    return tip
  }

  test('is removed when its pull request is closed', async () => {
    const { pull, tag } = await wished(createPackageYaml('alpha', 'closing'))
    expect(scene.registry.findDigest(tag)).toBeDefined()
    await cancelPreviews(toPullNumber(pull.number), scene.ctx)
    expect(scene.enqueued.at(-1)?.job).toMatchObject({ kind: 'preview', pull: pull.number })
    await scene.preview(pull.number)
    expect(scene.registry.findDigest(tag)).toBeUndefined()
    const key = String(pull.number)
    expect(await store.readState(builtPreviewStateNamespace, scene.ctx.forge.repository, key)).toMatchObject({
      images: [],
    })
    expect(scene.registry.findDigest(`${catalogImageName}:latest`)).toBeDefined()
  })

  test('is not built if the catalog is the same as on the branch', async () => {
    const count = scene.registry.calls.length
    await wished(createPackageYaml('alpha'))
    expect(scene.registry.calls).toHaveLength(count)
  })
})
