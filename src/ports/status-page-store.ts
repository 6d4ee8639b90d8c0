// Records for the web pages: installations, pull requests, catalogs, and image checks. No decision depends on them.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { Severity } from '@catalog-bot/findings/finding'
import type { VerdictReasonCode, VerdictKind } from '../policy/verdict.ts'
import type { PackageSummary, RecordedCatalog, RecordedPackage } from '../pull-request/recorded-package.ts'

export interface RecordedRepository {
  readonly repository: RepositoryName
  readonly installation: number
  /** True only if GitHub confirmed that anyone can read the repository. */
  readonly isPublic: boolean
  /** Milliseconds since the epoch. */
  readonly listedAt: number
}

export interface VerdictReasonView {
  readonly code: VerdictReasonCode
  readonly text: string
  readonly who?: readonly string[]
}

/** The result of an evaluation of a pull request. Escape its text for display. */
export interface EvaluationRecord {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly title: string
  /** Absent if the account was deleted. */
  readonly author?: string
  readonly draft: boolean
  readonly head: CommitSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly config: string
  readonly openedAt?: number
  readonly verdict: VerdictKind
  readonly reasons: readonly VerdictReasonView[]
  /** One line per check, such as `validation: 1 error`. */
  readonly checks: readonly string[]
  readonly approvals: readonly ApprovalView[]
  /** The packages that the pull request changes. */
  readonly packages?: readonly string[] | undefined
  /** The rules with findings, without duplicates. */
  readonly findings: readonly { readonly rule: string; readonly severity: Severity }[]
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface ApprovalView {
  readonly login: string
  readonly state: 'approved' | 'changes-requested'
  /** Null if unknown. */
  readonly commit: string | null
  /** ISO 8601. */
  readonly at: string
}

/** A pull request's latest state. Times are milliseconds since the epoch. */
export interface PullRecord extends Pick<
  EvaluationRecord,
  'pull' | 'title' | 'author' | 'draft' | 'head' | 'baseRef' | 'reasons' | 'checks' | 'approvals' | 'packages'
> {
  readonly state: 'open' | 'closed' | 'merged'
  readonly verdict: VerdictKind
  readonly openedAt: number
  /** The time since when the pull request has had this verdict. */
  readonly since: number
  readonly lookedAt: number
  readonly endedAt?: number
}

/** A verdict that differs from the previous one. */
export type VerdictChange = Pick<
  EvaluationRecord,
  'head' | 'base' | 'baseRef' | 'config' | 'verdict' | 'reasons' | 'checks' | 'at'
>

export interface MergedPullRecord {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly title: string
  readonly author?: string
  readonly baseRef: string
  readonly head: CommitSha
  readonly base: CommitSha
  readonly commit: CommitSha
  readonly begunAt: number
  readonly mergedAt: number
  /** Increases with each merge. */
  readonly id: number
}

/** The number of pull requests that a rule affected on a day. */
export interface DailyPullCountByRule {
  /** Days since the epoch, UTC. */
  readonly day: number
  readonly rule: string
  readonly severity: Severity
  /** The user who made the change. */
  readonly owner: string
  readonly pulls: number
}

export interface RecordedImageReference {
  readonly reference: string
  readonly digest?: string
  readonly seenAt: number
}

/** A day's merges, and the pull requests opened that day that have a verdict. Medians are in milliseconds. */
export interface DailyPullTimes {
  /** Days since the epoch, UTC. */
  readonly day: number
  readonly merges: number
  /** From opening to the merge. Absent if no opening time is recorded. */
  readonly medianMergeMs?: number
  readonly verdicts: number
  /** From opening to the first verdict. */
  readonly medianVerdictMs?: number
}

/** Which rows of a list to read. */
export interface RecordPage {
  readonly limit: number
  readonly offset: number
}

export interface CatalogTotals extends RecordedCatalog {
  readonly packages: number
  readonly bundles: number
  readonly stranded: number
}

/** Selects open pull requests. Absent parts select all. */
export interface OpenPullFilter {
  readonly verdict?: VerdictKind | undefined
  /** Only pull requests with a higher number. */
  readonly after?: number | undefined
  readonly pulls?: readonly PullNumber[] | undefined
}

export interface StatusPageStore {
  /** Replaces the list of installed repositories. */
  recordRepositories(repositories: readonly RecordedRepository[]): Promise<void>
  listedRepositories(): Promise<readonly RecordedRepository[]>

  recordEvaluation(evaluation: EvaluationRecord): Promise<void>
  /** Records that the pull request is closed. Resolves to its opening time if it was recorded as open. */
  recordPullEnd(
    repository: RepositoryName,
    pull: PullNumber,
    state: 'closed' | 'merged',
    at: number,
  ): Promise<number | undefined>
  /** Marks the recorded open pull requests not in `open` as closed, without a known time. */
  retainOpenPulls(repository: RepositoryName, open: readonly PullNumber[], at: number): Promise<void>
  /** Ordered by number. */
  listOpenPullRecords(
    repository: RepositoryName,
    limit: number,
    filter?: OpenPullFilter,
  ): Promise<readonly PullRecord[]>
  findPullRecord(repository: RepositoryName, pull: PullNumber): Promise<PullRecord | undefined>
  verdictChanges(
    repository: RepositoryName,
    pull: PullNumber,
    limit: number,
  ): Promise<readonly VerdictChange[]>
  /** Open pull requests in each repository by verdict. Keys are lowercase `owner/name`. */
  countOpenPulls(): Promise<readonly { repository: string; verdict: VerdictKind; pulls: number }[]>
  /** Newest first, for these repositories. `before`: only IDs below this one. */
  mergedPulls(
    repositories: readonly RepositoryName[],
    limit: number,
    before?: number,
  ): Promise<readonly MergedPullRecord[]>
  mergedPull(repository: RepositoryName, pull: PullNumber): Promise<MergedPullRecord | undefined>
  /** For each repository, by its lowercase `owner/name`: text that differs after each change that its pages show. */
  readRepositoryVersions(repositories: readonly RepositoryName[]): Promise<ReadonlyMap<string, string>>
  ruleDays(repository: RepositoryName, sinceDay: number): Promise<readonly DailyPullCountByRule[]>
  /** In order, without days on which nothing happened. Covers the newest 5,000 pull requests. */
  dailyPullTimes(repository: RepositoryName, sinceDay: number): Promise<readonly DailyPullTimes[]>

  /** Replaces a branch's catalogs. Without `packages`, a catalog keeps its own. */
  recordCatalogs(
    repository: RepositoryName,
    branch: string,
    catalogs: readonly {
      readonly catalog: RecordedCatalog
      readonly packages?: readonly RecordedPackage[] | undefined
    }[],
  ): Promise<void>
  listCatalogTotals(repository: RepositoryName): Promise<readonly CatalogTotals[]>
  packageSummaries(repository: RepositoryName, catalog: string): Promise<readonly PackageSummary[]>
  /** Packages with stranded versions in all catalogs, at most a few hundred. */
  strandedPackages(
    repository: RepositoryName,
  ): Promise<readonly { readonly catalog: string; readonly package: PackageSummary }[]>
  recordedPackage(
    repository: RepositoryName,
    catalog: string,
    name: string,
  ): Promise<RecordedPackage | undefined>
  /**
   * Packages of one or all catalogs that contain this text; those with it in their name come first. Ignores the case
   * of package names and display names; other text matches as written or in lowercase. A word of the format in which
   * packages are stored, such as `image`, finds only package names.
   */
  searchPackages(
    repository: RepositoryName,
    search: RecordPage & { readonly text: string; readonly catalog?: string | undefined },
  ): Promise<{
    readonly total: number
    readonly found: readonly { readonly catalog: string; readonly package: RecordedPackage }[]
  }>
  /** Packages that differ between two catalogs, by name. */
  differingPackages(
    repository: RepositoryName,
    catalogs: { readonly before: string; readonly after: string },
    page: RecordPage,
  ): Promise<{
    readonly total: Readonly<Record<'added' | 'removed' | 'changed', number>>
    readonly found: readonly { readonly before?: RecordedPackage; readonly after?: RecordedPackage }[]
  }>
  recordImageSightings(repository: RepositoryName, images: readonly RecordedImageReference[]): Promise<void>
  findImageSightings(
    repository: RepositoryName,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, RecordedImageReference>>
}

export interface VerdictRecord {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly base: CommitSha
  readonly config: string
  readonly verdict: string
  /** JSON with the reasons and findings as shown to users. */
  readonly report: unknown
  /** Milliseconds since the epoch. */
  readonly decidedAt: number
}

/** The latest decision on each pull request, for status pages. */
export interface VerdictStore {
  /** Stores the latest verdict per (repository, pull, head, base, config). */
  recordVerdict(record: VerdictRecord): Promise<void>
  /** A verdict with its full report: this one, or the newest. */
  verdictReport(
    repository: RepositoryName,
    pull: PullNumber,
    of?: Pick<VerdictRecord, 'head' | 'base' | 'config'>,
  ): Promise<Pick<VerdictRecord, 'decidedAt' | 'report'> | undefined>
}
