// Sample data for the pages: a public repository with pull requests in every state and a catalog, and a private one.
import { join } from 'node:path'
import { toCommitSha, toPullNumber, toTreeSha, toUserId } from '../../../src/pull-request/ids.ts'
import { toRecordedPackages } from '../../../src/pull-request/recorded-package.ts'
import { createParsedCatalogFileCache } from '../../../src/catalogs/parsed-file-cache.ts'
import { readCatalogDirectory } from '../../../src/catalogs/catalog-directory.ts'
import { drawPackageDiff } from '../../../packages/fbc/src/graph/drawing.ts'
import { buildPackageGraphs } from '../../../packages/fbc/src/graph/package-graph.ts'
import type { EvaluationReport } from '../../../src/report/evaluation-report.ts'
import { toFindingIdentityKey } from '../../../src/report/report-options.ts'
import type { Finding } from '../../../packages/findings/src/finding.ts'
import { formatIsoTime } from '../../../packages/findings/src/printable.ts'
import type { PullVerdict, VerdictKind } from '../../../src/policy/verdict.ts'
import type { EvaluationRecord } from '../../../src/ports/status-page-store.ts'
import type { Store } from '../../../src/ports/store.ts'
import {
  publicationStateNamespace,
  reportedPublicationsStateNamespace,
  type PublicationState,
} from '../../../src/publish/publication-state.ts'
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

const createFinding = (text: string): Finding => ({
  rule: 'several-heads',
  severity: 'error',
  what: `channel "stable" of package "tidepool" has 2 heads: tidepool.v0.5.0, tidepool.v0.5.1 ${text}`.trim(),
  why: 'The head is what new installations get.',
  fix: 'Let the newest entry replace the entry before it.',
  at: { file: 'catalogs/v4.20/tidepool/catalog.yaml', line: 12, column: 1 },
})

/** The message of a resolver without a solution. */
export const longResolverText = `no bundle of "tidepool" can be installed: ${Array.from(
  { length: 9 },
  (_, minor) =>
    `bundle tidepool.v0.${minor}.0 requires an operator that provides tides.example.com/v1/Tide, and no bundle in the catalog provides it`,
).join('; ')}`

/** An optional check: its errors block nothing. */
const createInstallFinding = (): Finding => ({
  rule: 'does-not-install',
  severity: 'error',
  what: longResolverText,
  why: 'Users cannot install the package.',
  fix: 'Add the package that provides the required API.',
  at: { file: 'catalogs/v4.20/tidepool/catalog.yaml', line: 9, column: 1 },
})

const createWarning = (): Finding => ({
  rule: 'no-icon',
  severity: 'warning',
  what: 'package "tidepool" has no icon',
  why: 'Users recognize packages by their icons.',
  fix: 'Add an icon to the olm.package blob.',
  at: { file: 'catalogs/v4.20/tidepool/catalog.yaml', line: 2, column: 1 },
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
      checks: [
        'ownership: passed (1 file, 1 package)',
        'validation: 1 error',
        'images: passed (2 images)',
        'install: 1 error, not required to merge',
      ],
      packages: ['tidepool'],
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
  await recordBlockedPullReport(store, isTame ? '' : maliciousHtmlText)
  await recordMergedPull(store)
  const lease = await store.acquireLease('main', 60)
  if (lease === undefined) throw new Error('there is a lease already')
  await store.startMerge(lease, { ...createPendingMerge(12), begunAt: startTimeMs - msPerMinute })
  if (isTame) {
    // The pictures show a batch.
    await store.recordEvaluation(
      createEvaluationRecord(17, 'merge', { title: 'foghorn 2.1.0', author: 'carol' }),
    )
    await store.startMerge(lease, { ...createPendingMerge(17), begunAt: startTimeMs - msPerMinute })
  }
  await store.freezeMerges({
    repository: publicRepository,
    branch: 'release-4.20',
    kind: 'frozen',
    reason: 'the release of 4.20 is being tested',
    by: { kind: 'person', login: 'harbormaster', user: toUserId(7), comment: 99 },
    pull: toPullNumber(13),
  })
  await recordTestCatalog(store, isTame ? '' : maliciousHtmlText)
  await recordPublications(store, isTame ? '' : maliciousHtmlText)
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

/** An error with its source lines and a suggested change, an error of an optional check, and a changed graph. */
async function recordBlockedPullReport(store: Store, text: string): Promise<void> {
  const error = createFinding(text)
  const graph = readTestPackageGraph('tidepool')
  const [channel] = graph.channels
  if (channel === undefined) throw new Error('the fixture has no channel')
  const added = {
    ...channel.nodes[0],
    name: 'tidepool.v0.5.1',
    version: '0.5.1',
  } as (typeof channel.nodes)[0]
  const after = {
    ...graph,
    channels: [
      {
        ...channel,
        heads: [...channel.heads, added.name],
        nodes: [added, ...channel.nodes],
        edges: [...channel.edges, { from: 'tidepool.v0.4.0', to: added.name, kind: 'replaces' as const }],
      },
    ],
  }
  const key = toFindingIdentityKey(error)
  await recordPullReport(store, 15, 'blocked', [error, createWarning()], {
    summary:
      '`0.5.1` joins channel `stable` of `tidepool` in `4.20`, which would then have two heads, `0.5.0` and `0.5.1`.',
    changeLines: [
      '- `tidepool` in `4.20`:',
      '  - adds bundle `tidepool.v0.5.1`',
      `  - channel \`stable\`: adds \`tidepool.v0.5.1\`${text === '' ? '' : ` \`${text}\``}`,
    ],
    drawings: [{ catalogs: ['4.20'], drawing: drawPackageDiff(graph, after) }],
    excerpts: [
      {
        finding: key,
        first: 10,
        lines: [
          '---',
          'entries:',
          `- name: tidepool.v0.5.1${text && ` # ${text}`}`,
          '  replaces: tidepool.v0.4.0',
          '- name: tidepool.v0.5.0',
        ],
      },
    ],
    fixes: [
      {
        finding: key,
        fix: {
          file: error.at?.file ?? '',
          first: 12,
          last: 13,
          before: ['- name: tidepool.v0.5.1', '  replaces: tidepool.v0.4.0'],
          after: ['- name: tidepool.v0.5.1', '  replaces: tidepool.v0.5.0'],
        },
      },
    ],
  })
}

async function recordPullReport(
  store: Store,
  pull: number,
  kind: VerdictKind,
  findings: readonly Finding[],
  more: Partial<EvaluationReport> = {},
) {
  const { head, base, config } = createPendingMerge(pull)
  const verdict: PullVerdict = {
    kind,
    reasons: kind === 'blocked' ? [{ code: 'findings', text: 'validation: 1 error' }] : [],
    head,
    base,
    baseRef: 'main',
    config,
    outcomes: [
      { check: 'ownership', findings: [], unanswered: [], waiting: [], summary: '1 file, 1 package' },
      { check: 'validation', findings, unanswered: [], waiting: [], summary: '1 catalog' },
      { check: 'images', findings: [], unanswered: [], waiting: [], summary: '2 images' },
      {
        check: 'install',
        findings: kind === 'blocked' ? [createInstallFinding()] : [],
        unanswered: [],
        waiting: [],
        isOptional: true,
        summary: '',
      },
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
      ...more,
    },
    decidedAt: startTimeMs - msPerMinute,
  })
}

/** #11 waited for a day, was approved, and was merged just now. */
async function recordMergedPull(store: Store): Promise<void> {
  const own = { title: 'lighthouse 1.11.0', author: 'dave', openedAt: startTimeMs - 30 * msPerHour }
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

const testCatalogRoot = 'catalogs/v4.20'

function readTestCatalog() {
  const cache = createParsedCatalogFileCache()
  const read = readCatalogDirectory(
    join(import.meta.dirname, '../../../fixtures/demo/repository', testCatalogRoot),
    (bytes) => cache.factsOf(bytes),
  )
  if (read.kind !== 'catalog') throw new Error(read.message)
  return read.catalog
}

function readTestPackageGraph(name: string) {
  const [graph] = buildPackageGraphs(readTestCatalog(), name)
  if (graph === undefined) throw new Error('the fixture has no such package')
  return graph
}

/** An image with an earlier one, and one that cannot be published. */
async function recordPublications(store: Store, text: string): Promise<void> {
  const createImage = (digit: string, hours: number): NonNullable<PublicationState['current']> => ({
    digest: `sha256:${digit.repeat(64)}`,
    commit: createCommitSha(`image ${digit}`),
    key: digit,
    at: startTimeMs - hours * msPerHour,
    seconds: 12,
    packages: 3,
    bundles: 14,
    unchanged: false,
    moved: [],
    changeLines: [`- **lighthouse** in \`catalogs/v4.20\`: adds \`lighthouse.v1.11.0\` ${text}`],
  })
  const publish = { pulls: [], undeletable: [] }
  const states: Record<string, PublicationState> = {
    'main catalogs/v4.20 registry.example/coast/catalog:v4.20': {
      ...publish,
      current: createImage('a', 1),
      history: [createImage('b', 26), createImage('c', 50)],
    },
    'main catalogs/v4.21 registry.example/coast/catalog:v4.21': {
      ...publish,
      history: [],
      failure: {
        commit: createCommitSha('image d'),
        key: 'd',
        why: `the registry rejected the credentials ${text}`,
        attempts: 3,
        since: startTimeMs - 2 * msPerHour,
        again: startTimeMs + 20 * msPerMinute,
        isLasting: true,
        isRefused: false,
      },
    },
  }
  await store.writeState(publicationStateNamespace, publicRepository, new Map(Object.entries(states)))
  const deployments = Object.fromEntries(Object.keys(states).map((id) => [id, '']))
  const problem = `catalogs/v4.22 registry.example/coast/catalog: no catalog matches catalogs/v4.22 ${text}`
  const shown = { checks: {}, deployments, answers: {}, problems: { [problem]: startTimeMs - msPerHour } }
  await store.writeState(reportedPublicationsStateNamespace, publicRepository, new Map([['all', shown]]))
}

async function recordTestCatalog(store: Store, text: string): Promise<void> {
  const packages = [...toRecordedPackages(readTestCatalog(), (name) => [`${name}-owners`])]
  const createCatalog = (version: string) => ({
    key: `v${version}`,
    root: `catalogs/v${version}`,
    branch: 'main',
    commit: createCommitSha('base'),
    version,
    content: version,
    recordedAt: startTimeMs - msPerHour,
  })
  const [one, ...others] = packages
  if (one === undefined) throw new Error('the fixture has no package')
  await store.recordCatalogs(publicRepository, 'main', [
    { catalog: createCatalog('4.20'), packages },
    {
      catalog: createCatalog('4.21'),
      packages: [
        { ...one, defaultChannel: `next${text}`, description: 'new', bundles: one.bundles.slice(1) },
        ...others.slice(1),
        { ...one, name: `newcomer${text}` },
      ],
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
        reason: `registry.example does not have it (404) ${text}`,
        since: startTimeMs - 50 * msPerHour,
        confirmed: true,
      },
    },
  })
}
