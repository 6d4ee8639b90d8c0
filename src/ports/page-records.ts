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
  'pull' | 'title' | 'author' | 'draft' | 'head' | 'baseRef' | 'reasons' | 'checks' | 'approvals'
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

export interface CatalogTotals extends RecordedCatalog {
  readonly packages: number
  readonly bundles: number
  readonly stranded: number
}

export interface StatusPageStore {
  /** Replaces the list of installed repositories. */
  recordRepositories(repositories: readonly RecordedRepository[]): Promise<void>
  listedRepositories(): Promise<readonly RecordedRepository[]>

  recordEvaluation(look: EvaluationRecord): Promise<void>
  /** Records that the pull request is closed. Resolves to its opening time if it was recorded as open. */
  recordPullEnd(
    repository: RepositoryName,
    pull: PullNumber,
    state: 'closed' | 'merged',
    at: number,
  ): Promise<number | undefined>
  /** Marks the recorded open pull requests not in `open` as closed, without a known time. */
  retainOpenPulls(repository: RepositoryName, open: readonly PullNumber[], at: number): Promise<void>
  listOpenPullRecords(repository: RepositoryName, limit: number): Promise<readonly PullRecord[]>
  findPullRecord(repository: RepositoryName, pull: PullNumber): Promise<PullRecord | undefined>
  verdictChanges(
    repository: RepositoryName,
    pull: PullNumber,
    limit: number,
  ): Promise<readonly VerdictChange[]>
  /** A verdict with its full report: this one, or the newest. */
  verdictReport(
    repository: RepositoryName,
    pull: PullNumber,
    of?: Pick<VerdictRecord, 'head' | 'base' | 'config'>,
  ): Promise<Pick<VerdictRecord, 'decidedAt' | 'report'> | undefined>
  /** Open pull requests in each repository by verdict. Keys are lowercase `owner/name`. */
  countOpenPulls(): Promise<readonly { repository: string; verdict: VerdictKind; pulls: number }[]>
  /** Newest first, for these repositories. `before`: only IDs below this one. */
  mergedPulls(
    repositories: readonly RepositoryName[],
    limit: number,
    before?: number,
  ): Promise<readonly MergedPullRecord[]>
  mergedPull(repository: RepositoryName, pull: PullNumber): Promise<MergedPullRecord | undefined>
  ruleDays(repository: RepositoryName, sinceDay: number): Promise<readonly DailyPullCountByRule[]>

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
  /** Newest first. */
  verdicts(repository: RepositoryName, pull: PullNumber): Promise<readonly VerdictRecord[]>
}
