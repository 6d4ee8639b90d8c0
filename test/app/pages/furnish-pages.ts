// What there is to see on the pages: a public repository with pull requests in every state and a catalog, and a private one.
import { join } from 'node:path'
import { commitSha, pullNumber, treeSha, userId } from '../../../src/change/ids.ts'
import { recordPackages } from '../../../src/change/recorded-package.ts'
import { openFactsCache } from '../../../src/examine/catalogs/facts-cache.ts'
import { readCatalogDirectory } from '../../../src/examine/catalogs/read-catalog.ts'
import type { Finding } from '../../../src/findings/finding.ts'
import { isoTime } from '../../../src/findings/iso-time.ts'
import type { Verdict, VerdictKind } from '../../../src/gate/verdict.ts'
import type { PullLook } from '../../../src/ports/page-records.ts'
import type { Store } from '../../../src/ports/store.ts'
import { writeScan } from '../../../src/app/jobs/scan-state.ts'
import { toldPulls } from '../../../src/app/jobs/publish/publication-state.ts'
import { noon } from './pages-world.ts'

export const open = { owner: 'coast', name: 'operators' }
export const secret = { owner: 'coast', name: 'secret-operators' }
/** What nobody may read of the private repository without its right. */
export const secretWords = 'unannounced-database'
/** Text of strangers that would be markup, or turn the line around, if it were not escaped. */
export const hostile = '<script>alert(1)</script> "><img src=x onerror=alert(1)> \u202Eevil'

export const minute = 60_000
const hour = 60 * minute
const sha = (text: string) => commitSha(Buffer.from(text.padEnd(20, '.')).toString('hex').slice(0, 40))

export function look(pull: number, verdict: VerdictKind, more: Partial<PullLook> = {}): PullLook {
  return {
    repository: open,
    pull: pullNumber(pull),
    title: `lighthouse 1.${pull}.0`,
    author: 'alice',
    draft: false,
    head: sha(`head ${pull}`),
    base: sha('base'),
    baseRef: 'main',
    config: 'default',
    openedAt: noon - pull * hour,
    verdict,
    reasons: [],
    checks: ['ownership: passed (1 file, 1 package)', 'validation: passed', 'images: passed (2 images)'],
    approvals: [],
    findings: [],
    at: noon - 30 * minute,
    ...more,
  }
}

const findingWith = (words: string): Finding => ({
  rule: 'several-heads',
  severity: 'error',
  what: `channel "stable" of package "tidepool" has 2 heads ${words}`,
  why: 'The head is what new installations get.',
  fix: 'Let the newest entry replace the entry before it.',
  at: { file: 'catalogs/v4.20/tidepool/catalog.yaml', line: 12, column: 1 },
})

/** `isTame`: without the text of strangers that nobody wants to see in a picture. */
export async function furnishPages(store: Store, { isTame = false } = {}): Promise<void> {
  const strange = isTame ? 'tidepool 0.5.1' : hostile
  await listRepositories(store, noon)
  const waits = {
    code: 'approval',
    text: 'an owner of tidepool must approve',
    who: ['bob', 'coast/tidepool-owners'],
  } as const
  await store.recordLook(look(12, 'merge'))
  await store.recordLook(look(13, 'merge', { title: 'buoy 3.2.0', author: 'erin' }))
  await store.recordLook(
    look(14, 'wait', { title: 'tidepool 0.6.0', author: 'mallory', reasons: [waits], at: noon - 5 * hour }),
  )
  await store.recordLook(
    look(15, 'blocked', {
      title: strange,
      author: 'bob',
      reasons: [
        {
          code: 'findings',
          text: isTame ? 'validation found an error' : `validation found an error ${hostile}`,
        },
      ],
      checks: ['ownership: passed', 'validation: 1 error'],
      findings: [
        { rule: 'several-heads', severity: 'error' },
        { rule: 'no-icon', severity: 'warning' },
      ],
      at: noon - 4 * hour,
    }),
  )
  await store.recordLook(
    look(16, 'unknown', {
      title: 'breakwater 2.0.0',
      reasons: [{ code: 'unanswered', text: 'the registry does not answer' }],
    }),
  )
  await recordReport(store, 15, 'blocked', [findingWith(isTame ? '' : hostile)])
  await recordMerge(store)
  const lease = await store.acquireLease('main', 60)
  if (lease === undefined) throw new Error('there is a lease already')
  await store.beginLanding(lease, { ...landingOf(12), begunAt: noon - minute })
  await store.stopLandings({
    repository: open,
    branch: 'release-4.20',
    kind: 'frozen',
    reason: 'the release of 4.20 is being tested',
    by: { kind: 'person', login: 'harbormaster', user: userId(7), comment: 99 },
    pull: pullNumber(13),
  })
  await recordCatalog(store, isTame ? '' : hostile)
  await store.recordLook(
    look(3, 'wait', {
      repository: secret,
      title: secretWords,
      reasons: [{ code: 'approval', text: `an owner of ${secretWords} must approve`, who: ['carol'] }],
    }),
  )
}

/** GitHub says where the App is installed. */
export async function listRepositories(store: Store, listedAt: number): Promise<void> {
  await store.listRepositories([
    { repository: open, installation: 1, isPublic: true, listedAt },
    { repository: secret, installation: 1, isPublic: false, listedAt },
  ])
}

const landingOf = (pull: number) => ({
  repository: open,
  pull: pullNumber(pull),
  baseRef: 'main',
  base: sha('base'),
  head: sha(`head ${pull}`),
  commit: sha(`merge ${pull}`),
  tree: treeSha(sha(`tree ${pull}`)),
  config: 'default',
})

async function recordReport(store: Store, pull: number, kind: VerdictKind, findings: readonly Finding[]) {
  const { head, base, config } = landingOf(pull)
  const verdict: Verdict = {
    kind,
    reasons: [],
    head,
    base,
    baseRef: 'main',
    config,
    outcomes: [
      { check: 'ownership', findings: [], unanswered: [], waiting: [], summary: '1 file, 1 package' },
      { check: 'validation', findings, unanswered: [], waiting: [], summary: '1 catalog' },
      { check: 'images', findings: [], unanswered: [], waiting: [], summary: '2 images' },
    ],
    waiting: [],
  }
  await store.recordVerdict({
    repository: open,
    pull: pullNumber(pull),
    head,
    base,
    config,
    verdict: kind,
    report: {
      verdict,
      changeLines: ['- **lighthouse** in `catalogs/v4.20`: adds `lighthouse.v1.11.0` to stable\\_x'],
      commandLines: [],
    },
    decidedAt: noon - minute,
  })
}

/** #11 waited for a day, was approved, and was merged just now. */
async function recordMerge(store: Store): Promise<void> {
  const own = { title: 'lighthouse 1.11.0', openedAt: noon - 30 * hour }
  await store.recordLook(
    look(11, 'wait', {
      ...own,
      reasons: [{ code: 'approval', text: 'an owner of lighthouse must approve', who: ['alice'] }],
      at: noon - 29 * hour,
    }),
  )
  const approved = {
    login: 'alice',
    state: 'approved',
    commit: sha('head 11'),
    at: isoTime(noon - hour),
  } as const
  await store.recordLook(look(11, 'merge', { ...own, approvals: [approved], at: noon - minute }))
  await recordReport(store, 11, 'merge', [])
  await store.recordCommand(open, pullNumber(11), {
    comment: 1,
    command: 'approve',
    user: userId(2),
    login: 'alice',
    outcome: 'done',
    head: sha('head 11'),
    baseRef: 'main',
    epoch: 0,
  })
  const lease = await store.acquireLease('landing 11', 60)
  const intent = lease && (await store.beginLanding(lease, { ...landingOf(11), begunAt: noon - minute }))
  if (intent === undefined || lease === undefined) throw new Error('the landing did not begin')
  await store.endLanding(intent, 'landed')
  await store.releaseLease(lease)
  await store.recordEnd(open, pullNumber(11), 'merged', noon)
  await store.writeState(
    toldPulls,
    open,
    new Map([
      [
        '11',
        {
          state: 'published' as const,
          lines: ['`registry.example/coast/catalog:v4.20` is published'],
          isShown: true,
        },
      ],
    ]),
  )
}

async function recordCatalog(store: Store, words: string): Promise<void> {
  const root = 'catalogs/v4.20'
  const cache = openFactsCache()
  const read = readCatalogDirectory(
    join(import.meta.dirname, '../../../fixtures/demo/repository', root),
    (bytes) => cache.factsOf(bytes),
  )
  if (read.kind !== 'catalog') throw new Error(read.message)
  const packages = [...recordPackages(read.catalog, (name) => [`${name}-owners`])]
  await store.recordCatalogs(open, 'main', [
    {
      catalog: {
        key: 'v4.20',
        root,
        branch: 'main',
        commit: sha('base'),
        version: '4.20',
        content: 'one',
        recordedAt: noon - hour,
      },
      packages,
    },
  ])
  const [first, second] = packages.flatMap(({ images }) => images)
  if (first === undefined || second === undefined) throw new Error('the fixture names no image')
  await store.recordSeenImages(open, [
    { reference: first.reference, digest: `sha256:${'ab'.repeat(32)}`, seenAt: noon - 2 * hour },
  ])
  await writeScan(store, open, {
    dueAt: noon + hour,
    finished: { at: noon - 2 * hour, unknown: 1 },
    missingImages: {
      [second.reference]: {
        kind: 'gone',
        reason: `registry.example does not have it (404) ${words}`,
        since: noon - 50 * hour,
        confirmed: true,
      },
    },
  })
}
