// Scans against the sandbox's GitHub, a real mirror and a real store; the registry's answers and the time are the
// test's own.
import { nobodyReleases } from './release/nobody-releases.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import pino from 'pino'
import { catalogLoader } from '../../../src/examine/catalogs/catalog-loader.ts'
import { openMetrics } from '../../../src/app/metrics.ts'
import { openTurns } from '../../../src/app/jobs/turns.ts'
import { isScanDue, scanRepository } from '../../../src/app/jobs/scan-repository.ts'
import { readScan } from '../../../src/app/jobs/scan-state.ts'
import { readSettings } from '../../../src/app/settings.ts'
import type { JobContext } from '../../../src/app/jobs/job-context.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import type { ImageAnswer } from '../../../src/checks/questions.ts'
import { openMirror, type Mirror } from '../../../src/git/mirror.ts'
import { openForge } from '../../../src/github/forge.ts'
import { openMerging } from '../../../src/github/merge-calls.ts'
import type { GitHubApp } from '../../../src/github/github-app.ts'
import { missingImagesMarker } from '../../../src/messages/missing-images-issue.ts'
import type { Job, Store } from '../../../src/ports/store.ts'
import type { Issue } from '../../../sandbox/github/world.ts'
import { allPermissions, type Furnished } from '../../sandbox/github/sample-world.ts'
import { nobodyPublishes } from '../publishing/nobody-publishes.ts'
import { nobodyTries } from '../trials/nobody-tries.ts'
import { openJobGround, type JobGround } from './job-ground.ts'
import { clock as realClock } from '../../store/sample-records.ts'

const hour = 3600_000
const digest = `sha256:${'a'.repeat(64)}`
const ok = (of = digest): ImageAnswer => ({ kind: 'ok', digest: of, mediaType: '', size: 1 })
const missing: ImageAnswer = { kind: 'missing', reason: 'the registry does not have it (404)' }
const outage: ImageAnswer = { kind: 'unknown', reason: 'it answered 503', retryAfter: 60 }

let ground: JobGround
let it: Furnished
let app: GitHubApp
let store: Store
let directory: string
let repositories = 0

beforeAll(async () => {
  ground = await openJobGround()
  ;({ it, app, store, directory } = ground)
}, 180_000)
afterAll(async () => {
  await ground.close()
}, 180_000)

/** A repository of its own for each test, and a bot that scans it by hand. */
interface Scene {
  readonly full: string
  readonly answers: Map<string, ImageAnswer>
  readonly asked: string[]
  /** What the log warned of. */
  readonly warnings: string[]
  readonly place: JobContext<Store>
  /** Lets time pass, then does what the sweep would have done and all jobs that follow. */
  pass(hours: number): Promise<void>
  /** A day, for the next round, and an hour, for a second look. */
  day(): Promise<void>
  /** One job alone; the answer: in how many seconds the next one comes. */
  step(): Promise<number | undefined>
  /** After so many references more the process is as good as dead. */
  dieAfter(references: number): void
  issues(): readonly Issue[]
  close(): Promise<void>
}

const bundle = (name: string, image: string, related: readonly string[] = []) => ({
  schema: 'olm.bundle',
  package: 'alpha',
  name,
  image,
  relatedImages: related.map((text, index) => ({ name: `r${index}`, image: text })),
})
const catalogOf = (...bundles: readonly ReturnType<typeof bundle>[]) =>
  bundles.map((each) => JSON.stringify(each)).join('\n')

const one = 'registry.test/alpha:v1'
const two = 'registry.test/alpha:v2'
const ordinary = {
  'catalogs/v4.18/alpha/catalog.json': catalogOf(bundle('alpha.v1', one), bundle('alpha.v2', two)),
  'operators/alpha/ci.yaml': 'reviewers:\n  - alice\n',
}

async function openScene(
  files: Readonly<Record<string, string>> = ordinary,
  given: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  const name = `scanned-${++repositories}`
  const full = `catalogs/${name}`
  await it.github.createRepository('catalogs', name, { files })
  it.github.changeInstallation(it.installation, [full])
  const repository = { owner: 'catalogs', name }
  let now = Date.UTC(2026, 10, 20)
  const clock: JobContext['app']['clock'] = { ...realClock, now: () => now }
  const answers = new Map<string, ImageAnswer>()
  const asked: string[] = []
  let left = Number.POSITIVE_INFINITY
  const warnings: string[] = []
  const next: { seconds: number | undefined } = { seconds: undefined }
  const mirror: Mirror = await openMirror({
    directory: join(directory, name),
    url: `${it.github.url}/${full}.git`,
    repository,
    credential: async () => ({
      username: 'x-access-token',
      password: await app.gitToken(it.installation.id, repository),
    }),
  })
  const loaded = { read: async (bytes: Uint8Array) => readFile(bytes), close: async () => undefined }
  const place: JobContext<Store> = {
    installation: it.installation.id,
    repository: mirror,
    mirror: '',
    forge: openForge(await app.octokit(it.installation.id), repository, app),
    merging: openMerging(await app.octokit(it.installation.id), repository),
    app: {
      settings: readSettings(given),
      store: { ...store, enqueue: async (_job: Job, seconds = 0) => void (next.seconds = seconds) },
      registries: {
        forOneLook: () => () => Promise.reject(new Error('a scan has its own way of asking')),
        lookAgain: async (reference) => {
          if (left-- <= 0) throw new Error('killed')
          asked.push(reference)
          return answers.get(reference) ?? ok()
        },
        close: async () => undefined,
      },
      publishing: nobodyPublishes,
      trials: nobodyTries,
      loader: catalogLoader(loaded, store),
      looks: {
        look: () => Promise.reject(new Error('nobody looks here')),
        isSmall: () => true,
        close: () => Promise.resolve(),
      },
      releases: nobodyReleases,
      turns: openTurns(clock),
      metrics: openMetrics(),
      clock,
      log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
    },
  }
  const job = { kind: 'scan', installation: it.installation.id, repository } as const
  const step = async () => {
    next.seconds = undefined
    await scanRepository(job, place)
    return next.seconds
  }
  const pass = async (hours: number) => {
    now += hours * hour
    while (await isScanDue(repository, place.app))
      for (let again = await step(); again !== undefined; again = await step()) now += again * 1000
  }
  return {
    full,
    answers,
    asked,
    warnings,
    place,
    step,
    pass,
    day: async () => {
      await pass(24)
      await pass(1.05)
    },
    dieAfter: (references) => void (left = references),
    issues: () => [...it.github.repository(full).issues.values()],
    close: () => mirror.close(),
  }
}

let scene: Scene
const opened: Scene[] = []
const begin = async (...given: Parameters<typeof openScene>) => {
  scene = await openScene(...given)
  opened.push(scene)
  return scene
}
afterEach(async () => {
  it.github.clearFaults()
  for (const each of opened.splice(0)) await each.close()
})
const writes = () =>
  it.github.requests.filter(({ method, path }) => method !== 'GET' && path.includes(`${scene.full}/issues`))
    .length

describe('an image that goes', () => {
  beforeEach(async () => {
    await begin()
  }, 180_000)

  test('is told of after a second look an hour later, in one issue by our App, by package and place', async () => {
    await scene.day()
    expect(scene.issues()).toEqual([])
    scene.answers.set(one, missing)
    await scene.day()
    const [issue, ...more] = scene.issues()
    expect(more).toEqual([])
    expect(issue).toMatchObject({
      state: 'open',
      title: '1 image of alpha is missing or changed',
      app: it.app,
    })
    expect(issue?.body).toContain(`\`${one}\` **is missing**`)
    expect(issue?.body).toContain('Owners: `alice`')
    expect(issue?.body).toContain(
      '`alpha.v1` in the catalog `catalogs/v4.18`: `catalogs/v4.18/alpha/catalog.json:1`',
    )
    expect(issue?.body).not.toContain(two)
  }, 180_000)

  test('is not told of when it was back at the second look', async () => {
    scene.answers.set(one, missing)
    await scene.pass(0)
    scene.answers.delete(one)
    await scene.pass(1.05)
    expect(scene.issues()).toEqual([])
    expect((await readScan(store, scene.place.forge.repository)).missingImages).toEqual({})
  }, 180_000)

  test('is told of in the same issue as the next one; an unchanged set is not written again', async () => {
    scene.answers.set(one, missing)
    await scene.day()
    const before = writes()
    await scene.day()
    expect(writes()).toBe(before)
    scene.answers.set(two, missing)
    await scene.day()
    expect(scene.issues().map(({ title }) => title)).toEqual(['2 images of alpha are missing or changed'])
    expect(scene.issues()[0]?.body).toContain(two)
  }, 180_000)

  test('and comes back closes the issue with a last word; the next to go opens it again', async () => {
    scene.answers.set(one, missing)
    await scene.day()
    scene.answers.delete(one)
    await scene.day()
    const [issue] = scene.issues()
    expect(issue).toMatchObject({ state: 'closed', stateReason: 'completed', closedBy: it.app.bot })
    expect(issue?.comments.map(({ body }) => body)).toEqual([
      expect.stringMatching(/is back.*closes the issue/),
    ])
    scene.answers.set(two, missing)
    await scene.day()
    expect(scene.issues()).toHaveLength(1)
    expect(issue).toMatchObject({ state: 'open', title: '1 image of alpha is missing or changed' })
    scene.answers.delete(two)
    await scene.day()
    expect(issue).toMatchObject({ state: 'closed' })
    expect(issue?.comments).toHaveLength(2)
  }, 180_000)

  test('and whose bundle leaves the catalog is no longer missing', async () => {
    scene.answers.set(one, missing)
    await scene.day()
    await it.github.pushToBase(scene.full, {
      'catalogs/v4.18/alpha/catalog.json': catalogOf(bundle('alpha.v2', two)),
    })
    await scene.day()
    expect(scene.issues()).toMatchObject([{ state: 'closed' }])
  }, 180_000)

  test('whose issue a person closes is left alone, until another one goes or it goes once more', async () => {
    scene.answers.set(one, missing)
    scene.answers.set(two, missing)
    await scene.pass(0)
    await scene.pass(1.05)
    const [issue] = scene.issues()
    if (issue === undefined) throw new Error('no issue')
    it.github.editIssue(issue, { state: 'closed', reason: 'not_planned' }, 'maintainer')
    await scene.day()
    // One comes back: the set is another, but there is nothing new in it.
    scene.answers.delete(one)
    await scene.day()
    expect(issue).toMatchObject({ state: 'closed', stateReason: 'not_planned' })
    scene.answers.set(one, missing)
    await scene.day()
    expect(scene.issues()).toHaveLength(1)
    expect(issue.state).toBe('open')
  }, 180_000)

  test('is measured: references asked for, missing, and when the last round ended', async () => {
    scene.answers.set(one, missing)
    await scene.day()
    const text = await scene.place.app.metrics.registry.metrics()
    expect(text).toContain(`catalog_bot_scan_missing_references{repository="${scene.full}"} 1`)
    expect(text).toMatch(/catalog_bot_scan_references_total\{answer="missing"\} [2-9]/)
    expect(text).toMatch(/catalog_bot_scan_last_finished_timestamp_seconds\{[^}]*\} 1\.?\d{8,}/)
    expect(text).toContain('catalog_bot_scan_reports_total{outcome="opened"} 1')
  }, 180_000)
})

describe('what is not a missing image', () => {
  test.each<[string, ImageAnswer]>([
    ['an outage', outage],
    ['what may be private', { kind: 'missing-or-private', reason: '401' }],
    ['a registry that we do not ask', { kind: 'blocked', reason: 'not https' }],
  ])(
    '%s, however long it lasts',
    async (_name, answer) => {
      await begin()
      scene.answers.set(one, answer)
      await scene.day()
      expect(scene.issues()).toEqual([])
      expect((await readScan(store, scene.place.forge.repository)).finished?.unknown).toBe(1)
    },
    60_000,
  )

  test('a reference in a registry that the repository does not allow is not even asked for', async () => {
    await begin({ ...ordinary, '.github/catalog-bot.yml': 'images:\n  registries: [elsewhere.test]\n' })
    await scene.day()
    expect(scene.asked).toEqual([])
  }, 180_000)

  test('what the configuration silences: a rule that is off, and packages that it ignores', async () => {
    const silent = 'rules:\n  image-missing:\n    ignore: [alpha]\n'
    await begin({ ...ordinary, '.github/catalog-bot.yml': silent })
    scene.answers.set(one, missing)
    await scene.day()
    expect(scene.issues()).toEqual([])
  }, 180_000)
})

describe('where to look', () => {
  test('bundles, related images and lists, on the default branch and those that it names, each reference once', async () => {
    const related = 'registry.test/operand:v1'
    const listed = `registry.test/list@${digest}`
    const files = {
      'catalogs/v4.18/alpha/catalog.json': catalogOf(bundle('alpha.v1', one, [related, one])),
      'catalogs/v4.19/alpha/catalog.json': catalogOf(bundle('alpha.v1', one, [related])),
      'catalogs.yaml': `references:\n  - name: alpha\n    image: ${listed}\n`,
      '.github/catalog-bot.yml': 'branches: ["release-*"]\n',
    }
    await begin(files)
    const older = { 'catalogs/v4.17/alpha/catalog.json': catalogOf(bundle('alpha.v0', two)) }
    await it.github.pushToBase(scene.full, older, { branch: 'release-4.17' })
    await it.github.pushToBase(
      scene.full,
      { 'catalogs/v4.16/alpha/catalog.json': catalogOf(bundle('alpha.v0', 'registry.test/elsewhere:v1')) },
      { branch: 'other' },
    )
    scene.answers.set(two, missing)
    scene.answers.set(listed, missing)
    await scene.pass(0)
    expect([...scene.asked].sort()).toEqual([one, two, listed, related].sort())
    await scene.pass(1.05)
    const body = scene.issues()[0]?.body
    expect(body).toContain('on the branch `release-4.17`')
    expect(body).toContain('the entry `alpha` in `catalogs.yaml:3`')
  }, 180_000)

  test('a tag beside a digest counts as moved when it moved while we looked', async () => {
    const pinned = `registry.test/alpha:v1@${digest}`
    await begin({ 'catalogs/v4.18/alpha/catalog.json': catalogOf(bundle('alpha.v1', pinned)) })
    await scene.day()
    scene.answers.set(one, ok(`sha256:${'b'.repeat(64)}`))
    await scene.day()
    expect(scene.issues()[0]?.body).toContain('**has a tag that moved**')
  }, 180_000)

  test('nowhere when the repository wants no scan, no issue when it wants none, and never when the operator says so', async () => {
    await begin({ ...ordinary, '.github/catalog-bot.yml': 'images:\n  scan:\n    every: off\n' })
    await scene.day()
    expect(scene.asked).toEqual([])
    await begin({ ...ordinary, '.github/catalog-bot.yml': 'images:\n  scan:\n    issue: false\n' })
    scene.answers.set(one, missing)
    await scene.day()
    expect(scene.asked).not.toEqual([])
    expect(scene.issues()).toEqual([])
    await begin(ordinary, { SCAN_SECONDS: '0' })
    await scene.day()
    expect(scene.asked).toEqual([])
  }, 180_000)
})

describe('a scan of many references', () => {
  const many = Array.from({ length: 250 }, (_, index) => `registry.test/many:v${index}`)
  const files = {
    'catalogs/v4.18/alpha/catalog.json': catalogOf(
      ...many.map((image, index) => bundle(`alpha.v${index}`, image)),
    ),
  }

  test('comes in slices, and one that is killed goes on where it was', async () => {
    await begin(files)
    expect(await scene.step()).toBe(1)
    expect(scene.asked).toHaveLength(100)
    // A process that dies in the middle of a slice has written nothing of it.
    scene.dieAfter(30)
    await expect(scene.step()).rejects.toThrow('killed')
    scene.dieAfter(Number.POSITIVE_INFINITY)
    expect(await scene.step()).toBe(1)
    expect(await scene.step()).toBeUndefined()
    expect(new Set(scene.asked).size).toBe(250)
    expect(scene.asked.length).toBeLessThanOrEqual(250 + 31)
  }, 180_000)

  test('leaves a registry that does not answer alone for a while, and for the round in the end', async () => {
    await begin({
      ...files,
      'catalogs/v4.18/alpha/more.json': catalogOf(bundle('alpha.v900', 'other.test/well:v1')),
    })
    for (const reference of many) scene.answers.set(reference, outage)
    await scene.pass(0)
    // Four at once, five times in a row.
    expect(
      scene.asked.filter((reference) => reference.startsWith('registry.test/')).length,
    ).toBeLessThanOrEqual(20)
    expect(scene.asked).toContain('other.test/well:v1')
    expect((await readScan(store, scene.place.forge.repository)).finished?.unknown).toBe(250)
  }, 180_000)

  test('an instance that lost its lease while it read catalogs tells of nothing', async () => {
    await begin()
    scene.answers.set(one, missing)
    await scene.pass(24)
    const { store: own } = scene.place.app
    let renewals = 0
    const slow = {
      ...own,
      renewLease: async (...lease: Parameters<Store['renewLease']>) =>
        ++renewals === 1 && own.renewLease(...lease),
    }
    const { clock } = scene.place.app
    const later = {
      ...scene.place.app,
      store: slow,
      clock: { ...clock, now: () => clock.now() + 1.05 * hour },
    }
    const { installation, forge } = scene.place
    const job = { kind: 'scan', installation, repository: forge.repository } as const
    await scanRepository(job, { ...scene.place, app: later })
    expect(renewals).toBe(2)
    expect(scene.issues()).toEqual([])
    await scene.pass(1.05)
    expect(scene.issues()).toHaveLength(1)
  })
  test('gives way while another slice is under way anywhere', async () => {
    await begin(files)
    const lease = await store.acquireLease('image scan', 60)
    expect(await scene.step()).toBe(5)
    expect(scene.asked).toEqual([])
    if (lease !== undefined) await store.releaseLease(lease)
    expect(await scene.step()).toBe(1)
  }, 180_000)
})

describe('the issue', () => {
  test('that was opened by a process that died before it knew the number is found again, not opened twice', async () => {
    await begin()
    scene.answers.set(one, missing)
    // Done at GitHub, but nobody hears of it.
    it.github.fail('POST /repos/{owner}/{repo}/issues', { applyThenFail: 502 })
    await expect(scene.day()).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    await scene.day()
    expect(scene.issues()).toHaveLength(1)
    expect((await readScan(store, scene.place.forge.repository)).report?.issue).toBe(
      scene.issues()[0]?.number,
    )
  }, 180_000)

  test('that was opened by a process that died is closed, too, when all is well before the number is known', async () => {
    await begin()
    scene.answers.set(one, missing)
    it.github.fail('POST /repos/{owner}/{repo}/issues', { applyThenFail: 502 })
    await expect(scene.day()).rejects.toMatchObject({ retryable: true })
    await it.github.pushToBase(scene.full, {
      'catalogs/v4.18/alpha/catalog.json': catalogOf(bundle('alpha.v2', two)),
    })
    await scene.pass(0)
    expect(scene.issues()).toMatchObject([{ state: 'closed' }])
  }, 180_000)

  test('that bears our marker but is a stranger’s is not ours', async () => {
    await begin()
    const forged = it.github.openIssue(
      scene.full,
      'stranger',
      'All is well',
      `${missingImagesMarker}\nall is well`,
    )
    scene.answers.set(one, missing)
    await scene.day()
    expect(forged).toMatchObject({ title: 'All is well', body: `${missingImagesMarker}\nall is well` })
    expect(scene.issues().filter(({ app: by }) => by === it.app)).toHaveLength(1)
  }, 180_000)

  test.each([
    ['issues are switched off', () => it.github.setIssues(scene.full, false)],
    ['the App may not write issues', () => it.github.setPermissions(it.installation, without('issues'))],
    ['the repository was archived meanwhile', () => it.github.archive(scene.full)],
  ])(
    'is done without where %s: it is logged and counted, and opened once it can be',
    async (_name, forbid) => {
      await begin()
      scene.answers.set(one, missing)
      forbid()
      try {
        await scene.day()
      } finally {
        it.github.setIssues(scene.full, true)
        it.github.setPermissions(it.installation, { ...allPermissions })
        it.github.archive(scene.full, false)
      }
      expect(scene.issues()).toEqual([])
      expect(scene.warnings.join('\n')).toContain('issues: write')
      expect(await scene.place.app.metrics.registry.metrics()).toMatch(
        /catalog_bot_scan_reports_total\{outcome="refused"\} [1-9]/,
      )
      await scene.day()
      expect(scene.issues()).toHaveLength(1)
    },
    60_000,
  )
})

function without(permission: keyof typeof allPermissions): Record<string, 'read' | 'write'> {
  const { [permission]: _taken, ...rest } = allPermissions
  return rest
}
