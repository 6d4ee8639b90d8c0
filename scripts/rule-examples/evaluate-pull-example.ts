// Evaluates a pull request from a folder: `base/` is the tree of the base tip, and `result/` is the tree that would
// merge. Uses the App's own evaluation (evaluate/evaluate.ts), with a repository, a GitHub, and registries that
// answer as the example specifies.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { evaluatePullSnapshot, type SnapshotEvaluation } from '../../src/evaluate/evaluate.ts'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { toPullNumber, toUserId } from '../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../src/pull-request/snapshot.ts'
import type { LookupResultByKind, LookupRequest } from '../../src/checks/lookups.ts'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import type { CheckId } from '@catalog-bot/findings/checks'
import type { PullChangeFingerprint, PullHistoryStore } from '../../src/ports/pull-history.ts'
import { noopCache, noopPullHistoryStore } from '../../src/catalogs/memory-cache.ts'
import type { ExampleCaseSettings, ExampleCase } from './cases.ts'
import { exampleHeadSha, createOpenPullSummaries } from './example-commits.ts'
import { createExampleAccount } from './example-people.ts'
import { exampleBaseSha, createExampleRepository } from './example-repository.ts'

type PullRequestExample = Pick<ExampleCase, 'directory' | 'settings'>

/**
 * The findings of the App's checks in the pull request. Examples of other rules need not be complete enough to
 * install, so the install check counts only for its own rules.
 */
export async function evaluatePullRequestExample(
  example: PullRequestExample,
  check: CheckId | undefined,
): Promise<readonly Finding[]> {
  const { verdict } = await evaluateExamplePullSnapshot(
    example,
    await evaluatePreviouslyReportedChange(example),
  )
  return verdict.outcomes
    .filter((outcome) => outcome.check !== 'install' || check === 'install')
    .flatMap(({ findings }) => findings)
    .sort(compareFindings)
}

function evaluateExamplePullSnapshot(
  { directory, settings }: PullRequestExample,
  shown?: PullChangeFingerprint,
): Promise<SnapshotEvaluation> {
  return evaluatePullSnapshot(createExamplePullSnapshot(settings), {
    repository: createExampleRepository(directory, settings),
    loader: createCatalogLoader(
      { read: async (bytes) => parseCatalogFile(bytes) } as Parameters<typeof createCatalogLoader>[0],
      noopCache,
    ),
    ask: async (question) => resolveExampleLookup(question, settings),
    memory: {
      ...createExamplePullHistoryStore(settings),
      ...(shown && createReportedChangeHistoryStore(shown)),
    },
    openPulls: async () => createOpenPullSummaries(settings),
    demandsSignatures: settings.demandsSignatures ?? false,
  })
}

/** The change of the same head when catalog-bot's comment showed it, before any review: the folder `shown/`. */
async function evaluatePreviouslyReportedChange({
  directory,
  settings,
}: PullRequestExample): Promise<PullChangeFingerprint | undefined> {
  const then = join(directory, 'shown')
  if (!existsSync(then)) return undefined
  const { described } = await evaluateExamplePullSnapshot({
    directory: then,
    settings: { ...settings, reviews: {} },
  })
  if (described === undefined) throw new Error(`${then} cannot be judged`)
  return described
}

function createExamplePullSnapshot({
  author = 'alice',
  pusher,
  reviews = {},
}: ExampleCaseSettings): PullSnapshot {
  return {
    repository: { owner: 'example', name: 'catalog' },
    pull: toPullNumber(1),
    state: 'open',
    draft: false,
    title: 'An example',
    author: createExampleAccount(author),
    head: exampleHeadSha,
    baseRef: 'main',
    base: exampleBaseSha,
    headRepository: { owner: author, name: 'catalog' },
    labels: [],
    reviews: Object.entries(reviews).map(([login, state], index) => ({
      id: index + 1,
      author: createExampleAccount(login),
      state,
      commit: exampleHeadSha,
      submittedAt: `2026-01-01T00:00:0${index}Z`,
    })),
    comments: [],
    ...(pusher !== undefined && { pusher: createExampleAccount(pusher) }),
    stacked: false,
  }
}

const fixedLookupResults: Readonly<Partial<LookupResultByKind>> = {
  'team-member': { kind: 'no' },
  role: { kind: 'role', role: 'read' },
  comment: { kind: 'unedited' },
  branch: { kind: 'no' },
  'check-run': { kind: 'missing' },
}

function resolveExampleLookup(
  question: LookupRequest,
  settings: ExampleCaseSettings,
): LookupResultByKind[LookupRequest['kind']] {
  if (question.kind === 'user')
    return settings.nobody?.includes(question.login)
      ? { kind: 'nobody' }
      : { kind: 'person', person: createExampleAccount(question.login) }
  if (question.kind === 'image')
    return (
      (settings.images?.[question.reference] as LookupResultByKind['image'] | undefined) ??
      createExampleImageLookupResult(question.reference)
    )
  const bundle = question.kind === 'bundle' ? settings.bundles?.[question.reference] : undefined
  return (
    (bundle as LookupResultByKind['bundle'] | undefined) ??
    fixedLookupResults[question.kind] ?? { kind: 'unknown', reason: 'no example opens it', retryAfter: 60 }
  )
}

/** An image that exists under the digest in its name. */
function createExampleImageLookupResult(reference: string): LookupResultByKind['image'] {
  const digest = /@(?<digest>sha256:[0-9a-f]{64})$/.exec(reference)?.groups?.digest
  return { kind: 'ok', digest: digest ?? `sha256:${'d'.repeat(64)}`, platforms: ['linux/amd64'] }
}

/** Stores only the accounts that the example renamed. */
function createExamplePullHistoryStore({ renamed = {} }: ExampleCaseSettings): PullHistoryStore {
  return {
    ...noopPullHistoryStore,
    firstSeenAccounts: async (_repository, accounts) =>
      new Map([...accounts, ...Object.entries(renamed).map(([login, id]) => [login, toUserId(id)] as const)]),
  }
}

/** Also stores the change that was shown before the reviews, and the subject of the reviews. */
function createReportedChangeHistoryStore(shown: PullChangeFingerprint): Partial<PullHistoryStore> {
  const changes = new Map([[shown.id, shown.covers]])
  const approvals = new Map<number, string>()
  return {
    shownHeads: async () => [
      { head: exampleHeadSha, epoch: 0, at: '2025-12-31T00:00:00Z', change: shown.id },
    ],
    recordChange: async (_repository, _pull, { id, covers }) => {
      changes.set(id, covers)
    },
    readChanges: async (_repository, _pull, ids) => new Map([...changes].filter(([id]) => ids.includes(id))),
    firstSeenApprovals: async (_repository, _pull, seen) => {
      for (const [review, id] of seen) if (!approvals.has(review)) approvals.set(review, id)
      return new Map(approvals)
    },
  }
}
