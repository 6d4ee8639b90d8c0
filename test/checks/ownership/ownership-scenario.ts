// An environment for ownership: a real Git repository, its mirror, and a fake GitHub with accounts, teams, and roles.
// Evaluates pull requests like the app: the merge result against the base tip, with the owner files of the base, until
// the check has no new questions, and then the gate with all other checks passed.
import { join } from 'node:path'
import { assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import type { CatalogLoader } from '../../../src/catalogs/catalog-loader.ts'
import { noopCache, noopPullHistoryStore } from '../../../src/catalogs/memory-cache.ts'
import { evaluatePullSnapshot } from '../../../src/evaluate/evaluate.ts'
import { describePullRequestChange } from '../../../src/pull-request/describe-change.ts'
import {
  toPullNumber,
  toUserId,
  type CommitSha,
  type TreeSha,
  type UserId,
} from '../../../src/pull-request/ids.ts'
import { findContainingCatalog, addCatalogsToEmptyLayout } from '../../../src/pull-request/layout/layout.ts'
import { detectLayout, addNewCatalogsToLayout } from '../../../src/pull-request/layout/detect-layout.ts'
import { isPossibleCompositeListPath } from '../../../src/pull-request/references/composite-list.ts'
import type { GitHubAccount, PullReview, PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import type { CheckInput, CheckOutcome, Approval } from '../../../src/checks/check.ts'
import { ownershipCheck } from '../../../src/checks/ownership/ownership.ts'
import { createApprovalsFromReviews } from '../../../src/checks/ownership/approvals.ts'
import { getApprovalCoverageOfChange } from '../../../src/checks/ownership/ownership-context.ts'
import { selectOwnerFilePathsToRead } from '../../../src/checks/ownership/owner-files.ts'
import { createLookupResults, toLookupKey } from '../../../src/checks/lookups.ts'
import type { LookupResultByKind, LookupRequest } from '../../../src/checks/lookups.ts'
import { configPath } from '../../../src/config/config-path.ts'
import { parseConfig, type Config } from '../../../src/config/config.ts'
import { decideVerdict } from '../../../src/policy/decide.ts'
import type { PullVerdict } from '../../../src/policy/verdict.ts'
import type { GitMirror } from '../../../src/adapters/git/mirror.ts'
import {
  createTestPullSnapshot,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../../policy/verdict-inputs.ts'
import {
  openOriginRepository,
  createTemporaryDirectory,
  openAnonymousMirror,
} from '../../adapters/git/origin.ts'
import type { OriginFiles, OriginRepository } from '../../adapters/git/origin.ts'
import { readCatalog } from './read-catalog-text.ts'

type LookupResult = LookupResultByKind[keyof LookupResultByKind]
export const createInconclusiveLookupResult = (reason = 'GitHub answered 503'): LookupResult => ({
  kind: 'unknown',
  reason,
  retryAfter: 30,
})

/** Loads catalogs without a cache. */
export const catalogLoader: CatalogLoader = {
  cache: noopCache,
  load: async (repository, tree, root) => {
    const entries = (await repository.list(tree)).filter(({ path }) => path.startsWith(`${root}/`))
    const files = entries.map(async ({ path, oid }) => ({
      path: path.slice(root.length + 1),
      facts: parseCatalogFile(await repository.read(oid)),
    }))
    return entries.length === 0 ? undefined : assembleCatalog(await Promise.all(files))
  },
}

/** Accounts, teams, and roles. An account that is not in it does not exist. */
export class FakeGitHubAccounts {
  readonly accounts = new Map<string, GitHubAccount>()
  readonly teams = new Map<string, Set<UserId>>()
  readonly roles = new Map<UserId, 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'>()
  /** Questions that GitHub currently does not answer. */
  fails: (question: LookupRequest) => LookupResult | undefined = () => undefined
  #next = 1000

  person(login: string): GitHubAccount {
    const known = this.accounts.get(login.toLowerCase())
    if (known) return known
    const made: GitHubAccount = {
      id: toUserId((this.#next += 1)),
      login,
      kind: login.endsWith('[bot]') ? 'bot' : 'user',
    }
    this.accounts.set(login.toLowerCase(), made)
    return made
  }

  answer(question: LookupRequest): LookupResult {
    const failure = this.fails(question)
    if (failure) return failure
    if (question.kind === 'user') {
      const person = this.accounts.get(question.login)
      return person ? { kind: 'person', person } : { kind: 'nobody' }
    }
    if (question.kind === 'team-member')
      return this.teams.get(`${question.organization}/${question.team}`)?.has(question.user)
        ? { kind: 'yes' }
        : { kind: 'no' }
    if (question.kind === 'role') return { kind: 'role', role: this.roles.get(question.user) ?? 'read' }
    if (question.kind === 'comment') return { kind: 'unedited' }
    if (question.kind === 'branch') return { kind: 'no' }
    throw new Error('ownership asks for no images and checks')
  }
}

export interface OwnershipEvaluation {
  readonly input: CheckInput
  readonly outcome: CheckOutcome
  readonly verdict: PullVerdict
  readonly questions: readonly LookupRequest[]
  /** Rules of the findings, each once, sorted. */
  readonly rules: readonly string[]
}

/** Answers the questions of the check until it has no new ones, and returns its outcome. */
export function evaluateOwnershipInput(
  input: CheckInput,
  people: FakeGitHubAccounts,
): Omit<OwnershipEvaluation, 'verdict'> {
  const known = new Map<string, LookupResult>()
  const questions: LookupRequest[] = []
  for (let round = 0; ; round += 1) {
    const fresh = ownershipCheck
      .ask(input, createLookupResults(known))
      .filter((question) => !known.has(toLookupKey(question)))
    if (fresh.length === 0) break
    if (round > 6) throw new Error('it never stops asking')
    for (const question of fresh) {
      questions.push(question)
      known.set(toLookupKey(question), people.answer(question))
    }
  }
  const outcome = ownershipCheck.judge(input, createLookupResults(known))
  return { input, outcome, questions, rules: [...new Set(outcome.findings.map(({ rule }) => rule))].sort() }
}

export interface ScenarioPullOptions {
  readonly author?: string | GitHubAccount | null
  readonly snapshot?: Partial<PullSnapshot>
  readonly approvals?: readonly Approval[]
  readonly reviews?: readonly PullReview[]
  readonly epoch?: number
  readonly accounts?: ReadonlyMap<string, UserId>
  readonly packagesByDirectory?: ReadonlyMap<string, readonly string[]>
  readonly configDigest?: string
}

export class OwnershipScenario {
  fakeAccounts = new FakeGitHubAccounts()
  readonly origin: OriginRepository
  readonly mirror: GitMirror
  readonly #remove: () => void

  constructor(origin: OriginRepository, mirror: GitMirror, remove: () => void) {
    this.origin = origin
    this.mirror = mirror
    this.#remove = remove
  }

  /** The account with this login. */
  readonly person = (login: string): GitHubAccount => this.fakeAccounts.person(login)

  async close(): Promise<void> {
    await this.mirror.close()
    this.#remove()
  }

  /** Evaluates a pull request with the head `head` against the base tip `base`. */
  readonly evaluate = async (
    base: CommitSha,
    head: CommitSha,
    options: ScenarioPullOptions = {},
  ): Promise<OwnershipEvaluation> => {
    const merge = await this.mirror.merge(base, head, 'Merge pull request #7')
    const author =
      typeof options.author === 'string' ? this.fakeAccounts.person(options.author) : (options.author ?? null)
    const snapshot: PullSnapshot = {
      ...createTestPullSnapshot(),
      author,
      head,
      base,
      reviews: options.reviews ?? [],
      ...options.snapshot,
    }
    if (merge.kind !== 'clean') {
      const verdict = this.#decide(
        snapshot,
        parseConfigOrThrow(undefined),
        merge,
        0,
        createPassedCheckOutcome('ownership'),
      )
      return {
        input: undefined as never,
        outcome: createPassedCheckOutcome('ownership'),
        verdict,
        questions: [],
        rules: [],
      }
    }
    const baseTree = await this.mirror.treeOf(base)
    const basePaths = (await this.mirror.list(baseTree)).map(({ path }) => path)
    const config = parseConfigOrThrow(await this.#text(baseTree, configPath))
    const resultPaths = (await this.mirror.list(merge.tree)).map(({ path }) => path)
    const before = detectLayout(basePaths, config.catalogs)
    const layout =
      before.catalogs.length > 0
        ? addNewCatalogsToLayout(before, resultPaths, config.catalogs)
        : addCatalogsToEmptyLayout(before, detectLayout(resultPaths, []), basePaths)
    const paths = await this.mirror.diff(baseTree, merge.tree)
    const roots = new Set(paths.flatMap(({ path }) => findContainingCatalog(path, layout)?.root ?? []))
    const trees = { base: baseTree, result: merge.tree }
    const texts = new Map<string, Uint8Array>()
    const inCatalogs = paths.filter(
      ({ path }) =>
        /\.(?:ya?ml|json)$/.test(path) &&
        (findContainingCatalog(path, layout) || isPossibleCompositeListPath(path)),
    )
    for (const [side, tree] of Object.entries(trees))
      for (const { path } of inCatalogs) {
        const bytes = await this.#bytes(tree, path)
        if (bytes) texts.set(`${side} ${path}`, bytes)
      }
    const catalogs = []
    for (const root of roots)
      catalogs.push({
        root,
        base: readCatalog(await this.#files(baseTree, root)),
        result: readCatalog(await this.#files(merge.tree, root)),
      })
    const change = describePullRequestChange({
      paths,
      layout,
      catalogs,
      treeFiles: { read: (side, path) => texts.get(`${side} ${path}`) },
    })
    const files = { base: new Map<string, string>(), result: new Map<string, string>() }
    for (const path of selectOwnerFilePathsToRead(basePaths, change)) {
      const before = await this.#text(baseTree, path)
      if (before !== undefined) files.base.set(path, before)
      const after = await this.#text(merge.tree, path)
      if (after !== undefined) files.result.set(path, after)
    }
    const { approvals = [], epoch, accounts, packagesByDirectory, configDigest } = options
    const input: CheckInput = {
      snapshot,
      config,
      layout,
      change,
      basePaths,
      ownerFiles: files,
      approvals: [],
      ...(epoch !== undefined && { epoch }),
      ...(accounts && { accounts }),
      ...(packagesByDirectory && { packagesByDirectory }),
      ...(configDigest !== undefined && { configDigest }),
    }
    // Reviewers approve the evaluated change, unless the test specifies another one.
    const covers = getApprovalCoverageOfChange(input)
    const agreed = new Map(snapshot.reviews.map(({ id }) => [id, covers]))
    const reviewed = createApprovalsFromReviews(snapshot, epoch ?? 0, new Map(), agreed)
    const result = evaluateOwnershipInput(
      { ...input, approvals: [...reviewed, ...approvals.map((each) => ({ covers, ...each }))] },
      this.fakeAccounts,
    )
    return { ...result, verdict: this.#decide(snapshot, config, merge, paths.length, result.outcome) }
  }

  #decide(
    snapshot: PullSnapshot,
    config: Config,
    merge: Parameters<typeof decideVerdict>[0]['merge'],
    changedPaths: number,
    outcome: CheckOutcome,
  ): PullVerdict {
    return decideVerdict({
      snapshot,
      config,
      configDigest: 'digest',
      merge,
      changedPaths,
      outcomes: createOutcomesForAllChecks(outcome),
    })
  }

  /** Creates a base commit and a head on top of it from complete trees, and evaluates them. */
  readonly evaluatePull = async (
    base: OriginFiles,
    head: OriginFiles,
    options: ScenarioPullOptions = {},
  ): Promise<OwnershipEvaluation> => {
    const from = this.origin.commit(base)
    return this.evaluate(from, this.origin.commit(head, [from]), options)
  }

  /** The kind of the verdict of `evaluate`. */
  readonly decide = async (
    ...pull: Parameters<OwnershipScenario['evaluate']>
  ): Promise<PullVerdict['kind']> => {
    return (await this.evaluate(...pull)).verdict.kind
  }

  /** The kind of the verdict of `evaluatePull`. */
  readonly decidePull = async (
    ...pull: Parameters<OwnershipScenario['evaluatePull']>
  ): Promise<PullVerdict['kind']> => {
    return (await this.evaluatePull(...pull)).verdict.kind
  }

  /** Fetches a pull request, as `evaluateSnapshot` requires. */
  readonly fetchPull = async (base: CommitSha, head: CommitSha, pull = 7): Promise<void> => {
    this.origin.branch('main', base)
    this.origin.pull(pull, head)
    await this.mirror.fetch('main', toPullNumber(pull))
  }

  /** Evaluates a snapshot as the App does. By default there are no catalogs, registries, or earlier pull requests. */
  readonly evaluateSnapshot = (
    snapshot: PullSnapshot,
    inputs: Partial<Parameters<typeof evaluatePullSnapshot>[1]> = {},
  ): ReturnType<typeof evaluatePullSnapshot> => {
    return evaluatePullSnapshot(snapshot, {
      repository: this.mirror,
      loader: { load: async () => undefined },
      ask: async (question) =>
        ['image', 'bundle', 'install'].includes(question.kind)
          ? { kind: 'unknown', reason: 'no registry is here', retryAfter: 1 }
          : this.fakeAccounts.answer(question),
      memory: noopPullHistoryStore,
      ...inputs,
    })
  }

  readonly createReview = (login: string, head: CommitSha, more: Partial<PullReview> = {}): PullReview => {
    return {
      id: (this.#reviews += 1),
      author: this.fakeAccounts.person(login),
      state: 'approved',
      commit: head,
      submittedAt: `2026-01-01T00:00:${String(this.#reviews % 60).padStart(2, '0')}Z`,
      ...more,
    }
  }
  #reviews = 0

  async #files(tree: TreeSha, root: string): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>()
    for (const { path, oid, mode } of await this.mirror.list(tree, root))
      if (mode === '100644')
        files.set(path.slice(root.length + 1), new TextDecoder().decode(await this.mirror.read(oid)))
    return files
  }

  async #bytes(tree: TreeSha, path: string): Promise<Uint8Array | undefined> {
    const entry = await this.mirror.entry(tree, path)
    return entry && entry.mode !== '160000' ? this.mirror.read(entry.oid) : undefined
  }

  async #text(tree: TreeSha, path: string): Promise<string | undefined> {
    const bytes = await this.#bytes(tree, path)
    return bytes && new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  }
}

export async function createOwnershipScenario(name: string): Promise<OwnershipScenario> {
  const folder = createTemporaryDirectory(`ownership-${name}`)
  const directory = join(folder.path, 'mirror.git')
  const mirror = await openAnonymousMirror(directory, `file://${directory}`)
  // Commits are created directly in the mirror, because the evaluation does not depend on how they were fetched.
  return new OwnershipScenario(openOriginRepository(directory), mirror, folder.remove)
}

function parseConfigOrThrow(text: string | undefined): Config {
  const parsed = parseConfig(text)
  if (parsed.kind === 'unreadable') throw new Error(parsed.findings[0]?.what)
  return parsed.config
}
