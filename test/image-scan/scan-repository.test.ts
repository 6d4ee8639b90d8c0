// Scans with the sandbox's GitHub, a real mirror, and a real store. The test sets the registry's answers and the clock.
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import pino from 'pino'
import { isImageScanDue, scanRepositoryImages } from '../../src/image-scan/scan-repository.ts'
import { readScanState } from '../../src/image-scan/scan-state.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import type { ImageLookupResult } from '../../src/checks/lookups.ts'
import { missingImagesMarker } from '../../src/report/missing-images-issue.ts'
import type { Job, Store } from '../../src/ports/store.ts'
import type { MockIssue } from '../../sandbox/github/github-data.ts'
import { allAppPermissions } from '../sandbox/github/github-fixture.ts'
import { createJobFixture } from '../server/jobs/job-fixture.ts'
import { realTimeClock as realClock } from '../adapters/store/sample-records.ts'
import { createTestAppServices, openRepositoryContext } from '../jobs/job-context.ts'

const hourMs = 3600_000
const imageDigest = `sha256:${'a'.repeat(64)}`
const createSuccessfulImageLookup = (of = imageDigest): ImageLookupResult => ({ kind: 'ok', digest: of })
const missingImageLookupResult: ImageLookupResult = {
  kind: 'missing',
  reason: 'the registry does not have it (404)',
}
const unavailableImageLookupResult: ImageLookupResult = {
  kind: 'unknown',
  reason: 'it answered 503',
  retryAfter: 60,
}

let createdRepositoryCount = 0

const jobFixture = await createJobFixture()
const { github: githubFixture, app: githubApp, store, directory: temporaryDirectory } = jobFixture
afterAll(() => jobFixture.close())

/** A separate repository for each test, and a bot that scans it when the test asks. */
interface ImageScanScenario {
  readonly full: string
  readonly answers: Map<string, ImageLookupResult>
  readonly askedReferences: string[]
  /** Warnings in the log. */
  readonly warnings: string[]
  readonly ctx: JobContext<Store>
  /** Advances the clock, then runs what the sweep would start and all jobs that follow. */
  advanceHours(hours: number): Promise<void>
  /** Advances a day for the next scan, then an hour for the second check. */
  advanceDay(): Promise<void>
  /** Runs one job and returns the delay in seconds until the next one. */
  step(): Promise<number | undefined>
  /** Fails all requests after this many more references, as if the process had died. */
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

const firstImageReference = 'registry.test/alpha:v1'
const secondImageReference = 'registry.test/alpha:v2'
const catalogFiles = {
  'catalogs/v4.18/alpha/catalog.json': renderCatalog(
    createBundleBlob('alpha.v1', firstImageReference),
    createBundleBlob('alpha.v2', secondImageReference),
  ),
  'operators/alpha/ci.yaml': 'reviewers:\n  - alice\n',
}

async function createImageScanScenario(
  files: Readonly<Record<string, string>> = catalogFiles,
  given: Readonly<Record<string, string>> = {},
): Promise<ImageScanScenario> {
  const name = `scanned-${++createdRepositoryCount}`
  const full = `catalogs/${name}`
  await githubFixture.github.createRepository('catalogs', name, { files })
  githubFixture.github.changeInstallation(githubFixture.installation, [full])
  const repository = { owner: 'catalogs', name }
  let now = Date.UTC(2026, 10, 20)
  const clock: JobContext['app']['clock'] = { ...realClock, now: () => now }
  const answers = new Map<string, ImageLookupResult>()
  const askedReferences: string[] = []
  let left = Number.POSITIVE_INFINITY
  const warnings: string[] = []
  const next: { seconds: number | undefined } = { seconds: undefined }
  const context = await openRepositoryContext(
    githubFixture.github,
    githubApp,
    githubFixture.installation.id,
    repository,
    join(temporaryDirectory, name),
  )
  const ctx: JobContext<Store> = {
    ...context,
    app: createTestAppServices({
      settings: readSettings(given),
      store: { ...store, enqueue: async (_job: Job, seconds = 0) => void (next.seconds = seconds) },
      registries: {
        forEvaluation: () => () => Promise.reject(new Error('a scan has its own way of asking')),
        refreshImage: async (reference) => {
          if (left-- <= 0) throw new Error('killed')
          askedReferences.push(reference)
          return answers.get(reference) ?? createSuccessfulImageLookup()
        },
        close: async () => undefined,
      },
      clock,
      log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
    }),
  }
  const job = { kind: 'scan', installation: githubFixture.installation.id, repository } as const
  const step = async () => {
    next.seconds = undefined
    await scanRepositoryImages(job, ctx)
    return next.seconds
  }
  const advanceHours = async (hours: number) => {
    now += hours * hourMs
    while (await isImageScanDue(repository, ctx.app))
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
    close: () => context.repository.close(),
  }
}

let scan: ImageScanScenario
const openScenarios: ImageScanScenario[] = []
const createScanScenarioWithCleanup = async (...given: Parameters<typeof createImageScanScenario>) => {
  scan = await createImageScanScenario(...given)
  openScenarios.push(scan)
  return scan
}
afterEach(async () => {
  githubFixture.github.clearFaults()
  for (const each of openScenarios.splice(0)) await each.close()
})
const countIssueWriteRequests = () =>
  githubFixture.github.requests.filter(
    ({ method, path }) => method !== 'GET' && path.includes(`${scan.full}/issues`),
  ).length

describe('an image that disappears', () => {
  beforeEach(async () => {
    await createScanScenarioWithCleanup()
  })

  test('is reported by our App after a second check an hour later, in one issue with locations', async () => {
    await scan.advanceDay()
    expect(scan.issues()).toEqual([])
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    const [issue, ...more] = scan.issues()
    expect(more).toEqual([])
    expect(issue).toMatchObject({
      state: 'open',
      title: '1 image in alpha is missing or changed',
      app: githubFixture.app,
    })
    expect(issue?.body).toContain(`\`${firstImageReference}\` **is missing**`)
    expect(issue?.body).toContain('Owners: `alice`')
    expect(issue?.body).toContain(
      '`alpha.v1` in the catalog `catalogs/v4.18`: `catalogs/v4.18/alpha/catalog.json:1`',
    )
    expect(issue?.body).not.toContain(secondImageReference)
  })

  test('is not reported if it is back at the second check', async () => {
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceHours(0)
    scan.answers.delete(firstImageReference)
    await scan.advanceHours(1.05)
    expect(scan.issues()).toEqual([])
    expect((await readScanState(store, scan.ctx.forge.repository)).missingImages).toEqual({})
  })

  test('is reported in the same issue as the next one, which is not rewritten while unchanged', async () => {
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    const before = countIssueWriteRequests()
    await scan.advanceDay()
    expect(countIssueWriteRequests()).toBe(before)
    scan.answers.set(secondImageReference, missingImageLookupResult)
    await scan.advanceDay()
    expect(scan.issues().map(({ title }) => title)).toEqual(['2 images in alpha are missing or changed'])
    expect(scan.issues()[0]?.body).toContain(secondImageReference)
  })

  test('and comes back closes the issue with a comment, and the next one reopens it', async () => {
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    scan.answers.delete(firstImageReference)
    await scan.advanceDay()
    const [issue] = scan.issues()
    expect(issue).toMatchObject({
      state: 'closed',
      stateReason: 'completed',
      closedBy: githubFixture.app.bot,
    })
    expect(issue?.comments.map(({ body }) => body)).toEqual([
      expect.stringMatching(/is available again.*closes this issue/),
    ])
    scan.answers.set(secondImageReference, missingImageLookupResult)
    await scan.advanceDay()
    expect(scan.issues()).toHaveLength(1)
    expect(issue).toMatchObject({ state: 'open', title: '1 image in alpha is missing or changed' })
    scan.answers.delete(secondImageReference)
    await scan.advanceDay()
    expect(issue).toMatchObject({ state: 'closed' })
    expect(issue?.comments).toHaveLength(2)
  })

  test('is no longer missing after its bundle is removed from the catalog', async () => {
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    await githubFixture.github.pushToBase(scan.full, {
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v2', secondImageReference)),
    })
    await scan.advanceDay()
    expect(scan.issues()).toMatchObject([{ state: 'closed' }])
  })

  test('is not reported again after a person closed the issue, unless it disappears again', async () => {
    scan.answers.set(firstImageReference, missingImageLookupResult)
    scan.answers.set(secondImageReference, missingImageLookupResult)
    await scan.advanceHours(0)
    await scan.advanceHours(1.05)
    const [issue] = scan.issues()
    if (issue === undefined) throw new Error('no issue')
    githubFixture.github.editIssue(issue, { state: 'closed', reason: 'not_planned' }, 'maintainer')
    await scan.advanceDay()
    // One comes back: the set changed, but has nothing new.
    scan.answers.delete(firstImageReference)
    await scan.advanceDay()
    expect(issue).toMatchObject({ state: 'closed', stateReason: 'not_planned' })
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    expect(scan.issues()).toHaveLength(1)
    expect(issue.state).toBe('open')
  })

  test('is counted in metrics, with the references checked and the end of the last scan', async () => {
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    const text = await scan.ctx.app.metrics.registry.metrics()
    expect(text).toContain(`catalog_bot_scan_missing_references{repository="${scan.full}"} 1`)
    expect(text).toMatch(/catalog_bot_scan_references_total\{answer="missing"\} [2-9]/)
    expect(text).toMatch(/catalog_bot_scan_last_finished_timestamp_seconds\{[^}]*\} 1\.?\d{8,}/)
    expect(text).toContain('catalog_bot_scan_reports_total{outcome="opened"} 1')
  })
})

describe('not reported as missing', () => {
  test.each<[string, ImageLookupResult]>([
    ['an outage', unavailableImageLookupResult],
    ['an image that may be private', { kind: 'missing-or-private', reason: '401' }],
    ['a registry that is not queried', { kind: 'blocked', reason: 'not https' }],
  ])('%s, even if it persists', async (_name, answer) => {
    await createScanScenarioWithCleanup()
    scan.answers.set(firstImageReference, answer)
    await scan.advanceDay()
    expect(scan.issues()).toEqual([])
    expect((await readScanState(store, scan.ctx.forge.repository)).finished?.unknown).toBe(1)
  })

  test('a registry that the repository does not allow, which is not even queried', async () => {
    await createScanScenarioWithCleanup({
      ...catalogFiles,
      '.github/catalog-bot.yml': 'images:\n  registries: [elsewhere.test]\n',
    })
    await scan.advanceDay()
    expect(scan.askedReferences).toEqual([])
  })

  test('an image of a package that the configuration ignores', async () => {
    const silent = 'rules:\n  image-missing:\n    ignore: [alpha]\n'
    await createScanScenarioWithCleanup({ ...catalogFiles, '.github/catalog-bot.yml': silent })
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    expect(scan.issues()).toEqual([])
  })
})

describe('the scope of a scan', () => {
  test('covers bundles, related images, and lists on default and listed branches, once each', async () => {
    const related = 'registry.test/operand:v1'
    const listed = `registry.test/list@${imageDigest}`
    const files = {
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(
        createBundleBlob('alpha.v1', firstImageReference, [related, firstImageReference]),
      ),
      'catalogs/v4.19/alpha/catalog.json': renderCatalog(
        createBundleBlob('alpha.v1', firstImageReference, [related]),
      ),
      'catalogs.yaml': `references:\n  - name: alpha\n    image: ${listed}\n`,
      '.github/catalog-bot.yml': 'branches: ["release-*"]\n',
    }
    await createScanScenarioWithCleanup(files)
    const older = {
      'catalogs/v4.17/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v0', secondImageReference)),
    }
    await githubFixture.github.pushToBase(scan.full, older, { branch: 'release-4.17' })
    await githubFixture.github.pushToBase(
      scan.full,
      {
        'catalogs/v4.16/alpha/catalog.json': renderCatalog(
          createBundleBlob('alpha.v0', 'registry.test/elsewhere:v1'),
        ),
      },
      { branch: 'other' },
    )
    scan.answers.set(secondImageReference, missingImageLookupResult)
    scan.answers.set(listed, missingImageLookupResult)
    await scan.advanceHours(0)
    expect([...scan.askedReferences].sort()).toEqual(
      [firstImageReference, secondImageReference, listed, related].sort(),
    )
    await scan.advanceHours(1.05)
    const body = scan.issues()[0]?.body
    expect(body).toContain('on branch `release-4.17`')
    expect(body).toContain('the entry `alpha` in `catalogs.yaml:3`')
  })

  test('reports a tag next to a digest as moved if it moved between scans', async () => {
    const pinned = `registry.test/alpha:v1@${imageDigest}`
    await createScanScenarioWithCleanup({
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v1', pinned)),
    })
    await scan.advanceDay()
    scan.answers.set(firstImageReference, createSuccessfulImageLookup(`sha256:${'b'.repeat(64)}`))
    await scan.advanceDay()
    expect(scan.issues()[0]?.body).toContain('**has a tag that was moved**')
  })

  test('respects `every: off`, `issue: false`, and `SCAN_SECONDS=0`', async () => {
    await createScanScenarioWithCleanup({
      ...catalogFiles,
      '.github/catalog-bot.yml': 'images:\n  scan:\n    every: off\n',
    })
    await scan.advanceDay()
    expect(scan.askedReferences).toEqual([])
    await createScanScenarioWithCleanup({
      ...catalogFiles,
      '.github/catalog-bot.yml': 'images:\n  scan:\n    issue: false\n',
    })
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    expect(scan.askedReferences).not.toEqual([])
    expect(scan.issues()).toEqual([])
    await createScanScenarioWithCleanup(catalogFiles, { SCAN_SECONDS: '0' })
    await scan.advanceDay()
    expect(scan.askedReferences).toEqual([])
  })
})

describe('a scan of many references', () => {
  const many = Array.from({ length: 250 }, (_, index) => `registry.test/many:v${index}`)
  const files = {
    'catalogs/v4.18/alpha/catalog.json': renderCatalog(
      ...many.map((image, index) => createBundleBlob(`alpha.v${index}`, image)),
    ),
  }

  test('runs in slices, and a killed one resumes where it stopped', async () => {
    await createScanScenarioWithCleanup(files)
    expect(await scan.step()).toBe(1)
    expect(scan.askedReferences).toHaveLength(100)
    // A process that dies in the middle of a slice has stored nothing of it.
    scan.dieAfter(30)
    await expect(scan.step()).rejects.toThrow('killed')
    scan.dieAfter(Number.POSITIVE_INFINITY)
    expect(await scan.step()).toBe(1)
    expect(await scan.step()).toBeUndefined()
    expect(new Set(scan.askedReferences).size).toBe(250)
    expect(scan.askedReferences.length).toBeLessThanOrEqual(250 + 31)
  })

  test('gives up on a registry that does not answer for the rest of the scan', async () => {
    await createScanScenarioWithCleanup({
      ...files,
      'catalogs/v4.18/alpha/more.json': renderCatalog(createBundleBlob('alpha.v900', 'other.test/well:v1')),
    })
    for (const reference of many) scan.answers.set(reference, unavailableImageLookupResult)
    await scan.advanceHours(0)
    // Four concurrent requests, five times in a row.
    expect(
      scan.askedReferences.filter((reference) => reference.startsWith('registry.test/')).length,
    ).toBeLessThanOrEqual(20)
    expect(scan.askedReferences).toContain('other.test/well:v1')
    expect((await readScanState(store, scan.ctx.forge.repository)).finished?.unknown).toBe(250)
  })

  test('reports nothing after losing its lease while reading catalogs', async () => {
    await createScanScenarioWithCleanup()
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceHours(24)
    const { store: own } = scan.ctx.app
    let renewals = 0
    const slow = {
      ...own,
      renewLease: async (...lease: Parameters<Store['renewLease']>) =>
        ++renewals === 1 && own.renewLease(...lease),
    }
    const { clock } = scan.ctx.app
    const later = {
      ...scan.ctx.app,
      store: slow,
      clock: { ...clock, now: () => clock.now() + 1.05 * hourMs },
    }
    const { installation, forge } = scan.ctx
    const job = { kind: 'scan', installation, repository: forge.repository } as const
    await scanRepositoryImages(job, { ...scan.ctx, app: later })
    expect(renewals).toBe(2)
    expect(scan.issues()).toEqual([])
    await scan.advanceHours(1.05)
    expect(scan.issues()).toHaveLength(1)
  })
  test('yields while any other slice is running', async () => {
    await createScanScenarioWithCleanup(files)
    const lease = await store.acquireLease('image scan', 60)
    expect(await scan.step()).toBe(5)
    expect(scan.askedReferences).toEqual([])
    if (lease !== undefined) await store.releaseLease(lease)
    expect(await scan.step()).toBe(1)
  })
})

describe('the issue', () => {
  test('is found again, not opened twice, if a process died before it stored the number', async () => {
    await createScanScenarioWithCleanup()
    scan.answers.set(firstImageReference, missingImageLookupResult)
    // GitHub opens the issue, but the response is lost.
    githubFixture.github.fail('POST /repos/{owner}/{repo}/issues', { applyThenFail: 502 })
    await expect(scan.advanceDay()).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    await scan.advanceDay()
    expect(scan.issues()).toHaveLength(1)
    expect((await readScanState(store, scan.ctx.forge.repository)).report?.issue).toBe(
      scan.issues()[0]?.number,
    )
  })

  test('is closed even if a process died before storing its number and no image is missing now', async () => {
    await createScanScenarioWithCleanup()
    scan.answers.set(firstImageReference, missingImageLookupResult)
    githubFixture.github.fail('POST /repos/{owner}/{repo}/issues', { applyThenFail: 502 })
    await expect(scan.advanceDay()).rejects.toMatchObject({ retryable: true })
    await githubFixture.github.pushToBase(scan.full, {
      'catalogs/v4.18/alpha/catalog.json': renderCatalog(createBundleBlob('alpha.v2', secondImageReference)),
    })
    await scan.advanceHours(0)
    expect(scan.issues()).toMatchObject([{ state: 'closed' }])
  })

  test('that has our marker but another author is left alone', async () => {
    await createScanScenarioWithCleanup()
    const forged = githubFixture.github.openIssue(
      scan.full,
      'outsider',
      'All is well',
      `${missingImagesMarker}\nall is well`,
    )
    scan.answers.set(firstImageReference, missingImageLookupResult)
    await scan.advanceDay()
    expect(forged).toMatchObject({ title: 'All is well', body: `${missingImagesMarker}\nall is well` })
    expect(scan.issues().filter(({ app: by }) => by === githubFixture.app)).toHaveLength(1)
  })

  test.each([
    ['issues are disabled', () => githubFixture.github.setIssues(scan.full, false)],
    [
      'the App may not write issues',
      () => githubFixture.github.setPermissions(githubFixture.installation, omitAppPermission('issues')),
    ],
    ['the repository is archived', () => githubFixture.github.archive(scan.full)],
  ])('is skipped, logged, and counted if %s, and opened once possible', async (_name, forbid) => {
    await createScanScenarioWithCleanup()
    scan.answers.set(firstImageReference, missingImageLookupResult)
    forbid()
    try {
      await scan.advanceDay()
    } finally {
      githubFixture.github.setIssues(scan.full, true)
      githubFixture.github.setPermissions(githubFixture.installation, { ...allAppPermissions })
      githubFixture.github.archive(scan.full, false)
    }
    expect(scan.issues()).toEqual([])
    expect(scan.warnings.join('\n')).toContain('issues: write')
    expect(await scan.ctx.app.metrics.registry.metrics()).toMatch(
      /catalog_bot_scan_reports_total\{outcome="refused"\} [1-9]/,
    )
    await scan.advanceDay()
    expect(scan.issues()).toHaveLength(1)
  })
})

function omitAppPermission(permission: keyof typeof allAppPermissions): Record<string, 'read' | 'write'> {
  const { [permission]: _taken, ...rest } = allAppPermissions
  return rest
}
