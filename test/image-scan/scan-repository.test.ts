// Scans against the sandbox's GitHub, a real mirror and a real store; the registry's answers and the time are the
// test's own.
import { rejectingReleasePool } from '../release/rejecting-release-pool.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import pino from 'pino'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { createMetrics } from '../../src/jobs/metrics.ts'
import { createJobScheduler } from '../../src/jobs/job-scheduler.ts'
import { isScanDue, scanRepository } from '../../src/image-scan/scan-repository.ts'
import { readScanState } from '../../src/image-scan/scan-state.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import type { ImageAnswer } from '../../src/checks/questions.ts'
import { openMirror, type GitMirror } from '../../src/adapters/git/mirror.ts'
import { openForge } from '../../src/adapters/github/forge.ts'
import { openMergeApi } from '../../src/adapters/github/merge-api.ts'
import type { GitHubApp } from '../../src/adapters/github/github-app.ts'
import { missingImagesMarker } from '../../src/report/missing-images-issue.ts'
import type { Job, Store } from '../../src/ports/store.ts'
import type { MockIssue } from '../../sandbox/github/github-data.ts'
import { allPermissions, type GitHubFixture } from '../sandbox/github/github-fixture.ts'
import { rejectingPublisher } from '../publish/process/rejecting-publisher.ts'
import { rejectingClusterTests } from '../cluster-test/process/rejecting-cluster-tests.ts'
import { openJobFixture, type JobFixture } from '../server/jobs/job-fixture.ts'
import { systemTestClock as realClock } from '../adapters/store/sample-records.ts'

const hourMs = 3600_000
const imageDigest = `sha256:${'a'.repeat(64)}`
const createOkAnswer = (of = imageDigest): ImageAnswer => ({ kind: 'ok', digest: of, mediaType: '', size: 1 })
const missingAnswer: ImageAnswer = { kind: 'missing', reason: 'the registry does not have it (404)' }
const unavailableAnswer: ImageAnswer = { kind: 'unknown', reason: 'it answered 503', retryAfter: 60 }

let jobFixture: JobFixture
let githubFixture: GitHubFixture
let app: GitHubApp
let store: Store
let directory: string
let repositoryCount = 0

beforeAll(async () => {
  jobFixture = await openJobFixture()
  ;({ github: githubFixture, app, store, directory } = jobFixture)
}, 180_000)
afterAll(async () => {
  await jobFixture.close()
}, 180_000)

/** A repository of its own for each test, and a bot that scans it by hand. */
interface ScanScenario {
  readonly full: string
  readonly answers: Map<string, ImageAnswer>
  readonly askedReferences: string[]
  /** What the log warned of. */
  readonly warnings: string[]
  readonly ctx: JobContext<Store>
  /** Lets time pass, then does what the sweep would have done and all jobs that follow. */
  advanceHours(hours: number): Promise<void>
  /** A day, for the next round, and an hour, for a second look. */
  advanceDay(): Promise<void>
  /** One job alone; the answer: in how many seconds the next one comes. */
  step(): Promise<number | undefined>
  /** After so many references more the process is as good as dead. */
  dieAfter(references: number): void
  issues(): readonly MockIssue[]
  close(): Promise<void>
}

const createBundleBlob = (name: string, image: string, related: readonly string[] = []) => ({
  schema: 'olm.bundle',
  package: 'alpha',
  name,
  image,
  relatedImages: related.map((text, index) => ({ name: `r${index}`, image: text })),
})
const renderCatalog = (...bundles: readonly ReturnType<typeof createBundleBlob>[]) =>
  bundles.map((each) => JSON.stringify(each)).join('\n')

const firstImage = 'registry.test/alpha:v1'
const secondImage = 'registry.test/alpha:v2'
const catalogFiles = {
  'catalogs/v4.18/alpha/catalog.json': renderCatalog(
    createBundleBlob('alpha.v1', firstImage),
    createBundleBlob('alpha.v2', secondImage),
  ),
  'operators/alpha/ci.yaml': 'reviewers:\n  - alice\n',
}

async function openScanScenario(
  files: Readonly<Record<string, string>> = catalogFiles,
  given: Readonly<Record<string, string>> = {},
): Promise<ScanScenario> {
  const name = `scanned-${++repositoryCount}`
  const full = `catalogs/${name}`
  await githubFixture.github.createRepository('catalogs', name, { files })
  githubFixture.github.changeInstallation(githubFixture.installation, [full])
  const repository = { owner: 'catalogs', name }
  let now = Date.UTC(2026, 10, 20)
  const clock: JobContext['app']['clock'] = { ...realClock, now: () => now }
  const answers = new Map<string, ImageAnswer>()
  const askedReferences: string[] = []
  let left = Number.POSITIVE_INFINITY
  const warnings: string[] = []
  const next: { seconds: number | undefined } = { seconds: undefined }
  const mirror: GitMirror = await openMirror({
    directory: join(directory, name),
    url: `${githubFixture.github.url}/${full}.git`,
    repository,
    credential: async () => ({
      username: 'x-access-token',
      password: await app.gitToken(githubFixture.installation.id, repository),
    }),
  })
  const loaded = { read: async (bytes: Uint8Array) => parseCatalogFile(bytes), close: async () => undefined }
  const ctx: JobContext<Store> = {
    installation: githubFixture.installation.id,
    repository: mirror,
    mirror: '',
    forge: openForge(await app.octokit(githubFixture.installation.id), repository, app),
    merging: openMergeApi(await app.octokit(githubFixture.installation.id), repository),
    app: {
      settings: readSettings(given),
      store: { ...store, enqueue: async (_job: Job, seconds = 0) => void (next.seconds = seconds) },
      registries: {
        forEvaluation: () => () => Promise.reject(new Error('a scan has its own way of asking')),
        refreshImage: async (reference) => {
          if (left-- <= 0) throw new Error('killed')
          askedReferences.push(reference)
          return answers.get(reference) ?? createOkAnswer()
        },
        close: async () => undefined,
      },
      publishing: rejectingPublisher,
      clusterTests: rejectingClusterTests,
      loader: createCatalogLoader(loaded, store),
      evaluationPool: {
        evaluate: () => Promise.reject(new Error('nobody looks here')),
        isSmall: () => true,
        close: () => Promise.resolve(),
      },
      releases: rejectingReleasePool,
      scheduler: createJobScheduler(clock),
      metrics: createMetrics(),
      clock,
      log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
    },
  }
  const job = { kind: 'scan', installation: githubFixture.installation.id, repository } as const
  const step = async () => {
    next.seconds = undefined
    await scanRepository(job, ctx)
    return next.seconds
  }
  const advanceHours = async (hours: number) => {
    now += hours * hourMs
    while (await isScanDue(repository, ctx.app))
      for (let again = await step(); again !== undefined; again = await step()) now += again * 1000
  }
  return {
    full,
    answers,
    askedReferences,
    warnings,
    ctx,
    step,
    advanceHours,
    advanceDay: async () => {
      await advanceHours(24)
      await advanceHours(1.05)
    },
    dieAfter: (references) => void (left = references),
    issues: () => [...githubFixture.github.repository(full).issues.values()],
    close: () => mirror.close(),
  }
}

let scenario: ScanScenario
const openedScenarios: ScanScenario[] = []
const openScenario = async (...given: Parameters<typeof openScanScenario>) => {
  scenario = await openScanScenario(...given)
  openedScenarios.push(scenario)
  return scenario
}
afterEach(async () => {
  githubFixture.github.clearFaults()
  for (const each of openedScenarios.splice(0)) await each.close()
})
const countIssueWrites = () =>
  githubFixture.github.requests.filter(
    ({ method, path }) => method !== 'GET' && path.includes(`${scenario.full}/issues`),
  ).length

describe('an image that goes', () => {
  beforeEach(async () => {
    await openScenario()
  }, 180_000)

  test('is told of after a second look an hour later, in one issue by our App, by package and place', async () => {
    await scenario.advanceDay()
    expect(scenario.issues()).toEqual([])
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    const [issue, ...more] = scenario.issues()
    expect(more).toEqual([])
    expect(issue).toMatchObject({
      state: 'open',
      title: '1 image in alpha is missing or changed',
      app: githubFixture.app,
    })
    expect(issue?.body).toContain(`\`${firstImage}\` **is missing**`)
    expect(issue?.body).toContain('Owners: `alice`')
    expect(issue?.body).toContain(
      '`alpha.v1` in the catalog `catalogs/v4.18`: `catalogs/v4.18/alpha/catalog.json:1`',
    )
    expect(issue?.body).not.toContain(secondImage)
  }, 180_000)

  test('is not told of when it was back at the second look', async () => {
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceHours(0)
    scenario.answers.delete(firstImage)
    await scenario.advanceHours(1.05)
    expect(scenario.issues()).toEqual([])
    expect((await readScanState(store, scenario.ctx.forge.repository)).missingImages).toEqual({})
  }, 180_000)

  test('is told of in the same issue as the next one; an unchanged set is not written again', async () => {
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    const before = countIssueWrites()
    await scenario.advanceDay()
    expect(countIssueWrites()).toBe(before)
    scenario.answers.set(secondImage, missingAnswer)
    await scenario.advanceDay()
    expect(scenario.issues().map(({ title }) => title)).toEqual(['2 images in alpha are missing or changed'])
    expect(scenario.issues()[0]?.body).toContain(secondImage)
  }, 180_000)

  test('and comes back closes the issue with a last word; the next to go opens it again', async () => {
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    scenario.answers.delete(firstImage)
    await scenario.advanceDay()
    const [issue] = scenario.issues()
    expect(issue).toMatchObject({
      state: 'closed',
      stateReason: 'completed',
      closedBy: githubFixture.app.bot,
    })
    expect(issue?.comments.map(({ body }) => body)).toEqual([
      expect.stringMatching(/is available again.*closes this issue/),
    ])
    scenario.answers.set(secondImage, missingAnswer)
    await scenario.advanceDay()
    expect(scenario.issues()).toHaveLength(1)
    expect(issue).toMatchObject({ state: 'open', title: '1 image in alpha is missing or changed' })
    scenario.answers.delete(secondImage)
    await scenario.advanceDay()
    expect(issue).toMatchObject({ state: 'closed' })
    expect(issue?.comments).toHaveLength(2)
  }, 180_000)

  test('and whose bundle leaves the catalog is no longer missing', async () => {
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    await githubFixture.github.pushToBase(scenario.full, {
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v2', secondImage)),
    })
    await scenario.advanceDay()
    expect(scenario.issues()).toMatchObject([{ state: 'closed' }])
  }, 180_000)

  test('whose issue a person closes is left alone, until another one goes or it goes once more', async () => {
    scenario.answers.set(firstImage, missingAnswer)
    scenario.answers.set(secondImage, missingAnswer)
    await scenario.advanceHours(0)
    await scenario.advanceHours(1.05)
    const [issue] = scenario.issues()
    if (issue === undefined) throw new Error('no issue')
    githubFixture.github.editIssue(issue, { state: 'closed', reason: 'not_planned' }, 'maintainer')
    await scenario.advanceDay()
    // One comes back: the set is another, but there is nothing new in it.
    scenario.answers.delete(firstImage)
    await scenario.advanceDay()
    expect(issue).toMatchObject({ state: 'closed', stateReason: 'not_planned' })
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    expect(scenario.issues()).toHaveLength(1)
    expect(issue.state).toBe('open')
  }, 180_000)

  test('is measured: references asked for, missing, and when the last round ended', async () => {
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    const text = await scenario.ctx.app.metrics.registry.metrics()
    expect(text).toContain(`catalog_bot_scan_missing_references{repository="${scenario.full}"} 1`)
    expect(text).toMatch(/catalog_bot_scan_references_total\{answer="missing"\} [2-9]/)
    expect(text).toMatch(/catalog_bot_scan_last_finished_timestamp_seconds\{[^}]*\} 1\.?\d{8,}/)
    expect(text).toContain('catalog_bot_scan_reports_total{outcome="opened"} 1')
  }, 180_000)
})

describe('what is not a missing image', () => {
  test.each<[string, ImageAnswer]>([
    ['an outage', unavailableAnswer],
    ['what may be private', { kind: 'missing-or-private', reason: '401' }],
    ['a registry that we do not ask', { kind: 'blocked', reason: 'not https' }],
  ])(
    '%s, however long it lasts',
    async (_name, answer) => {
      await openScenario()
      scenario.answers.set(firstImage, answer)
      await scenario.advanceDay()
      expect(scenario.issues()).toEqual([])
      expect((await readScanState(store, scenario.ctx.forge.repository)).finished?.unknown).toBe(1)
    },
    60_000,
  )

  test('a reference in a registry that the repository does not allow is not even asked for', async () => {
    await openScenario({
      ...catalogFiles,
      '.github/catalog-bot.yml': 'images:\n  registries: [elsewhere.test]\n',
    })
    await scenario.advanceDay()
    expect(scenario.askedReferences).toEqual([])
  }, 180_000)

  test('what the configuration silences: a rule that is off, and packages that it ignores', async () => {
    const silent = 'rules:\n  image-missing:\n    ignore: [alpha]\n'
    await openScenario({ ...catalogFiles, '.github/catalog-bot.yml': silent })
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    expect(scenario.issues()).toEqual([])
  }, 180_000)
})

describe('where to look', () => {
  test('bundles, related images and lists, on the default branch and those that it names, each reference once', async () => {
    const related = 'registry.test/operand:v1'
    const listed = `registry.test/list@${imageDigest}`
    const files = {
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(
        createBundleBlob('alpha.v1', firstImage, [related, firstImage]),
      ),
      'catalogs/v4.19/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v1', firstImage, [related])),
      'catalogs.yaml': `references:\n  - name: alpha\n    image: ${listed}\n`,
      '.github/catalog-bot.yml': 'branches: ["release-*"]\n',
    }
    await openScenario(files)
    const older = {
      'catalogs/v4.17/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v0', secondImage)),
    }
    await githubFixture.github.pushToBase(scenario.full, older, { branch: 'release-4.17' })
    await githubFixture.github.pushToBase(
      scenario.full,
      {
        'catalogs/v4.16/alpha/catalog.json': renderCatalog(
          createBundleBlob('alpha.v0', 'registry.test/elsewhere:v1'),
        ),
      },
      { branch: 'other' },
    )
    scenario.answers.set(secondImage, missingAnswer)
    scenario.answers.set(listed, missingAnswer)
    await scenario.advanceHours(0)
    expect([...scenario.askedReferences].sort()).toEqual([firstImage, secondImage, listed, related].sort())
    await scenario.advanceHours(1.05)
    const body = scenario.issues()[0]?.body
    expect(body).toContain('on branch `release-4.17`')
    expect(body).toContain('the entry `alpha` in `catalogs.yaml:3`')
  }, 180_000)

  test('a tag beside a digest counts as moved when it moved while we looked', async () => {
    const pinned = `registry.test/alpha:v1@${imageDigest}`
    await openScenario({
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v1', pinned)),
    })
    await scenario.advanceDay()
    scenario.answers.set(firstImage, createOkAnswer(`sha256:${'b'.repeat(64)}`))
    await scenario.advanceDay()
    expect(scenario.issues()[0]?.body).toContain('**has a tag that was moved**')
  }, 180_000)

  test('nowhere when the repository wants no scan, no issue when it wants none, and never when the operator says so', async () => {
    await openScenario({ ...catalogFiles, '.github/catalog-bot.yml': 'images:\n  scan:\n    every: off\n' })
    await scenario.advanceDay()
    expect(scenario.askedReferences).toEqual([])
    await openScenario({ ...catalogFiles, '.github/catalog-bot.yml': 'images:\n  scan:\n    issue: false\n' })
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    expect(scenario.askedReferences).not.toEqual([])
    expect(scenario.issues()).toEqual([])
    await openScenario(catalogFiles, { SCAN_SECONDS: '0' })
    await scenario.advanceDay()
    expect(scenario.askedReferences).toEqual([])
  }, 180_000)
})

describe('a scan of many references', () => {
  const many = Array.from({ length: 250 }, (_, index) => `registry.test/many:v${index}`)
  const files = {
    'catalogs/v4.18/alpha/catalog.json': renderCatalog(
      ...many.map((image, index) => createBundleBlob(`alpha.v${index}`, image)),
    ),
  }

  test('comes in slices, and one that is killed goes on where it was', async () => {
    await openScenario(files)
    expect(await scenario.step()).toBe(1)
    expect(scenario.askedReferences).toHaveLength(100)
    // A process that dies in the middle of a slice has written nothing of it.
    scenario.dieAfter(30)
    await expect(scenario.step()).rejects.toThrow('killed')
    scenario.dieAfter(Number.POSITIVE_INFINITY)
    expect(await scenario.step()).toBe(1)
    expect(await scenario.step()).toBeUndefined()
    expect(new Set(scenario.askedReferences).size).toBe(250)
    expect(scenario.askedReferences.length).toBeLessThanOrEqual(250 + 31)
  }, 180_000)

  test('leaves a registry that does not answer alone for a while, and for the round in the end', async () => {
    await openScenario({
      ...files,
      'catalogs/v4.18/alpha/more.json': renderCatalog(createBundleBlob('alpha.v900', 'other.test/well:v1')),
    })
    for (const reference of many) scenario.answers.set(reference, unavailableAnswer)
    await scenario.advanceHours(0)
    // Four at once, five times in a row.
    expect(
      scenario.askedReferences.filter((reference) => reference.startsWith('registry.test/')).length,
    ).toBeLessThanOrEqual(20)
    expect(scenario.askedReferences).toContain('other.test/well:v1')
    expect((await readScanState(store, scenario.ctx.forge.repository)).finished?.unknown).toBe(250)
  }, 180_000)

  test('an instance that lost its lease while it read catalogs tells of nothing', async () => {
    await openScenario()
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceHours(24)
    const { store: own } = scenario.ctx.app
    let renewals = 0
    const slow = {
      ...own,
      renewLease: async (...lease: Parameters<Store['renewLease']>) =>
        ++renewals === 1 && own.renewLease(...lease),
    }
    const { clock } = scenario.ctx.app
    const later = {
      ...scenario.ctx.app,
      store: slow,
      clock: { ...clock, now: () => clock.now() + 1.05 * hourMs },
    }
    const { installation, forge } = scenario.ctx
    const job = { kind: 'scan', installation, repository: forge.repository } as const
    await scanRepository(job, { ...scenario.ctx, app: later })
    expect(renewals).toBe(2)
    expect(scenario.issues()).toEqual([])
    await scenario.advanceHours(1.05)
    expect(scenario.issues()).toHaveLength(1)
  })
  test('gives way while another slice is under way anywhere', async () => {
    await openScenario(files)
    const lease = await store.acquireLease('image scan', 60)
    expect(await scenario.step()).toBe(5)
    expect(scenario.askedReferences).toEqual([])
    if (lease !== undefined) await store.releaseLease(lease)
    expect(await scenario.step()).toBe(1)
  }, 180_000)
})

describe('the issue', () => {
  test('that was opened by a process that died before it knew the number is found again, not opened twice', async () => {
    await openScenario()
    scenario.answers.set(firstImage, missingAnswer)
    // Done at GitHub, but nobody hears of it.
    githubFixture.github.fail('POST /repos/{owner}/{repo}/issues', { applyThenFail: 502 })
    await expect(scenario.advanceDay()).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    await scenario.advanceDay()
    expect(scenario.issues()).toHaveLength(1)
    expect((await readScanState(store, scenario.ctx.forge.repository)).report?.issue).toBe(
      scenario.issues()[0]?.number,
    )
  }, 180_000)

  test('that was opened by a process that died is closed, too, when all is well before the number is known', async () => {
    await openScenario()
    scenario.answers.set(firstImage, missingAnswer)
    githubFixture.github.fail('POST /repos/{owner}/{repo}/issues', { applyThenFail: 502 })
    await expect(scenario.advanceDay()).rejects.toMatchObject({ retryable: true })
    await githubFixture.github.pushToBase(scenario.full, {
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v2', secondImage)),
    })
    await scenario.advanceHours(0)
    expect(scenario.issues()).toMatchObject([{ state: 'closed' }])
  }, 180_000)

  test('that bears our marker but is a stranger’s is not ours', async () => {
    await openScenario()
    const forged = githubFixture.github.openIssue(
      scenario.full,
      'stranger',
      'All is well',
      `${missingImagesMarker}\nall is well`,
    )
    scenario.answers.set(firstImage, missingAnswer)
    await scenario.advanceDay()
    expect(forged).toMatchObject({ title: 'All is well', body: `${missingImagesMarker}\nall is well` })
    expect(scenario.issues().filter(({ app: by }) => by === githubFixture.app)).toHaveLength(1)
  }, 180_000)

  test.each([
    ['issues are switched off', () => githubFixture.github.setIssues(scenario.full, false)],
    [
      'the App may not write issues',
      () => githubFixture.github.setPermissions(githubFixture.installation, permissionsWithout('issues')),
    ],
    ['the repository was archived meanwhile', () => githubFixture.github.archive(scenario.full)],
  ])(
    'is done without where %s: it is logged and counted, and opened once it can be',
    async (_name, forbid) => {
      await openScenario()
      scenario.answers.set(firstImage, missingAnswer)
      forbid()
      try {
        await scenario.advanceDay()
      } finally {
        githubFixture.github.setIssues(scenario.full, true)
        githubFixture.github.setPermissions(githubFixture.installation, { ...allPermissions })
        githubFixture.github.archive(scenario.full, false)
      }
      expect(scenario.issues()).toEqual([])
      expect(scenario.warnings.join('\n')).toContain('issues: write')
      expect(await scenario.ctx.app.metrics.registry.metrics()).toMatch(
        /catalog_bot_scan_reports_total\{outcome="refused"\} [1-9]/,
      )
      await scenario.advanceDay()
      expect(scenario.issues()).toHaveLength(1)
    },
    60_000,
  )
})

function permissionsWithout(permission: keyof typeof allPermissions): Record<string, 'read' | 'write'> {
  const { [permission]: _taken, ...rest } = allPermissions
  return rest
}
