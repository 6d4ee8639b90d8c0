// Sample data for the pages: a public repository with pull requests in every state and a catalog, and a private one.
import { join } from 'node:path'
import { toCommitSha, toPullNumber, toTreeSha, toUserId } from '../../../src/pull-request/ids.ts'
import { toRecordedPackages } from '../../../src/pull-request/recorded-package.ts'
import { createCatalogFileFactsCache } from '../../../src/catalogs/facts-cache.ts'
import { readCatalogDirectory } from '../../../src/catalogs/catalog-directory.ts'
import type { Finding } from '../../../packages/findings/src/finding.ts'
import { formatIsoTime } from '../../../packages/findings/src/printable.ts'
import type { PullVerdict, VerdictKind } from '../../../src/policy/verdict.ts'
import type { EvaluationRecord } from '../../../src/ports/page-records.ts'
import type { Store } from '../../../src/ports/store.ts'
import { writeScanState } from '../../../src/image-scan/scan-state.ts'
import { startTimeMs } from './pages-fixture.ts'
import { pullPublicationStateNamespace } from '../../../src/jobs/merged-report.ts'

export const publicRepository = { owner: 'coast', name: 'operators' }
export const privateRepository = { owner: 'coast', name: 'secret-operators' }
/** Text of the private repository that must not appear without access to it. */
export const privateFindingText = 'unannounced-database'
/** Untrusted text that would be markup, or reverse the line, if it were not escaped. */
export const maliciousHtmlText = '<script>alert(1)</script> "><img src=x onerror=alert(1)> \u202Eevil'

export const msPerMinute = 60_000
const msPerHour = 60 * msPerMinute
const createCommitSha = (text: string) =>
  toCommitSha(Buffer.from(text.padEnd(20, '.')).toString('hex').slice(0, 40))

export function createEvaluationRecord(
  pull: number,
  verdict: VerdictKind,
  more: Partial<EvaluationRecord> = {},
): EvaluationRecord {
  return {
    repository: publicRepository,
    pull: toPullNumber(pull),
    title: `lighthouse 1.${pull}.0`,
    author: 'alice',
    draft: false,
    head: createCommitSha(`head ${pull}`),
    base: createCommitSha('base'),
    baseRef: 'main',
    config: 'default',
    openedAt: startTimeMs - pull * msPerHour,
    verdict,
    reasons: [],
    checks: ['ownership: passed (1 file, 1 package)', 'validation: passed', 'images: passed (2 images)'],
    approvals: [],
    findings: [],
    at: startTimeMs - 30 * msPerMinute,
    ...more,
  }
}

const createFinding = (words: string): Finding => ({
  rule: 'several-heads',
  severity: 'error',
  what: `channel "stable" of package "tidepool" has 2 heads ${words}`,
  why: 'The head is what new installations get.',
  fix: 'Let the newest entry replace the entry before it.',
  at: { file: 'catalogs/v4.20/tidepool/catalog.yaml', line: 12, column: 1 },
})

/** `isTame` omits the hostile text, for screenshots. */
export async function fillPagesStore(store: Store, { isTame = false } = {}): Promise<void> {
  const strange = isTame ? 'tidepool 0.5.1' : maliciousHtmlText
  await recordRepositories(store, startTimeMs)
  const waits = {
    code: 'approval',
    text: 'an owner of tidepool must approve',
    who: ['bob', 'coast/tidepool-owners'],
  } as const
  await store.recordEvaluation(createEvaluationRecord(12, 'merge'))
  await store.recordEvaluation(createEvaluationRecord(13, 'merge', { title: 'buoy 3.2.0', author: 'erin' }))
  await store.recordEvaluation(
    createEvaluationRecord(14, 'wait', {
      title: 'tidepool 0.6.0',
      author: 'mallory',
      reasons: [waits],
      at: startTimeMs - 5 * msPerHour,
    }),
  )
  await store.recordEvaluation(
    createEvaluationRecord(15, 'blocked', {
      title: strange,
      author: 'bob',
      reasons: [
        {
          code: 'findings',
          text: isTame ? 'validation found an error' : `validation found an error ${maliciousHtmlText}`,
        },
      ],
      checks: ['ownership: passed', 'validation: 1 error'],
      findings: [
        { rule: 'several-heads', severity: 'error' },
        { rule: 'no-icon', severity: 'warning' },
      ],
      at: startTimeMs - 4 * msPerHour,
    }),
  )
  await store.recordEvaluation(
    createEvaluationRecord(16, 'unknown', {
      title: 'breakwater 2.0.0',
      reasons: [{ code: 'unanswered', text: 'the registry does not answer' }],
    }),
  )
  await recordPullReport(store, 15, 'blocked', [createFinding(isTame ? '' : maliciousHtmlText)])
  await recordMergedPull(store)
  const lease = await store.acquireLease('main', 60)
  if (lease === undefined) throw new Error('there is a lease already')
  await store.startMerge(lease, { ...createPendingMerge(12), begunAt: startTimeMs - msPerMinute })
  await store.freezeMerges({
    repository: publicRepository,
    branch: 'release-4.20',
    kind: 'frozen',
    reason: 'the release of 4.20 is being tested',
    by: { kind: 'person', login: 'harbormaster', user: toUserId(7), comment: 99 },
    pull: toPullNumber(13),
  })
  await recordTestCatalog(store, isTame ? '' : maliciousHtmlText)
  await store.recordEvaluation(
    createEvaluationRecord(3, 'wait', {
      repository: privateRepository,
      title: privateFindingText,
      reasons: [{ code: 'approval', text: `an owner of ${privateFindingText} must approve`, who: ['carol'] }],
    }),
  )
}

/** Records where the App is installed, as GitHub reports it. */
export async function recordRepositories(store: Store, listedAt: number): Promise<void> {
  await store.recordRepositories([
    { repository: publicRepository, installation: 1, isPublic: true, listedAt },
    { repository: privateRepository, installation: 1, isPublic: false, listedAt },
  ])
}

const createPendingMerge = (pull: number) => ({
  repository: publicRepository,
  pull: toPullNumber(pull),
  baseRef: 'main',
  base: createCommitSha('base'),
  head: createCommitSha(`head ${pull}`),
  commit: createCommitSha(`merge ${pull}`),
  tree: toTreeSha(createCommitSha(`tree ${pull}`)),
  config: 'default',
})

async function recordPullReport(store: Store, pull: number, kind: VerdictKind, findings: readonly Finding[]) {
  const { head, base, config } = createPendingMerge(pull)
  const verdict: PullVerdict = {
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
    repository: publicRepository,
    pull: toPullNumber(pull),
    head,
    base,
    config,
    verdict: kind,
    report: {
      verdict,
      changeLines: ['- **lighthouse** in `catalogs/v4.20`: adds `lighthouse.v1.11.0` to stable\\_x'],
      commandLines: [],
    },
    decidedAt: startTimeMs - msPerMinute,
  })
}

/** #11 waited for a day, was approved, and was merged just now. */
async function recordMergedPull(store: Store): Promise<void> {
  const own = { title: 'lighthouse 1.11.0', openedAt: startTimeMs - 30 * msPerHour }
  await store.recordEvaluation(
    createEvaluationRecord(11, 'wait', {
      ...own,
      reasons: [{ code: 'approval', text: 'an owner of lighthouse must approve', who: ['alice'] }],
      at: startTimeMs - 29 * msPerHour,
    }),
  )
  const approved = {
    login: 'alice',
    state: 'approved',
    commit: createCommitSha('head 11'),
    at: formatIsoTime(startTimeMs - msPerHour),
  } as const
  await store.recordEvaluation(
    createEvaluationRecord(11, 'merge', { ...own, approvals: [approved], at: startTimeMs - msPerMinute }),
  )
  await recordPullReport(store, 11, 'merge', [])
  await store.recordCommand(publicRepository, toPullNumber(11), {
    comment: 1,
    command: 'approve',
    user: toUserId(2),
    login: 'alice',
    outcome: 'done',
    head: createCommitSha('head 11'),
    baseRef: 'main',
    epoch: 0,
  })
  const lease = await store.acquireLease('landing 11', 60)
  const intent =
    lease &&
    (await store.startMerge(lease, { ...createPendingMerge(11), begunAt: startTimeMs - msPerMinute }))
  if (intent === undefined || lease === undefined) throw new Error('the landing did not begin')
  await store.finishMerge(intent, 'landed')
  await store.releaseLease(lease)
  await store.recordPullEnd(publicRepository, toPullNumber(11), 'merged', startTimeMs)
  await store.writeState(
    pullPublicationStateNamespace,
    publicRepository,
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

async function recordTestCatalog(store: Store, words: string): Promise<void> {
  const root = 'catalogs/v4.20'
  const cache = createCatalogFileFactsCache()
  const read = readCatalogDirectory(
    join(import.meta.dirname, '../../../fixtures/demo/repository', root),
    (bytes) => cache.factsOf(bytes),
  )
  if (read.kind !== 'catalog') throw new Error(read.message)
  const packages = [...toRecordedPackages(read.catalog, (name) => [`${name}-owners`])]
  await store.recordCatalogs(publicRepository, 'main', [
    {
      catalog: {
        key: 'v4.20',
        root,
        branch: 'main',
        commit: createCommitSha('base'),
        version: '4.20',
        content: 'one',
        recordedAt: startTimeMs - msPerHour,
      },
      packages,
    },
  ])
  const [first, second] = packages.flatMap(({ images }) => images)
  if (first === undefined || second === undefined) throw new Error('the fixture names no image')
  await store.recordImageSightings(publicRepository, [
    { reference: first.reference, digest: `sha256:${'ab'.repeat(32)}`, seenAt: startTimeMs - 2 * msPerHour },
  ])
  await writeScanState(store, publicRepository, {
    dueAt: startTimeMs + msPerHour,
    finished: { at: startTimeMs - 2 * msPerHour, unknown: 1 },
    missingImages: {
      [second.reference]: {
        kind: 'gone',
        reason: `registry.example does not have it (404) ${words}`,
        since: startTimeMs - 50 * msPerHour,
        confirmed: true,
      },
    },
  })
}
