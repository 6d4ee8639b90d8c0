// What is kept for people who look: where the App is installed, how each pull request stands and stood, what catalogs hold,
// and when images were last seen. Nothing decides by it. Who writes has read it anyway; who reads asks nobody else.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { VerdictRecord } from './verdicts.ts'
import type { Severity } from '../findings/finding.ts'
import type { ReasonCode, VerdictKind } from '../gate/verdict.ts'
import type { PackageSummary, RecordedCatalog, RecordedPackage } from '../change/recorded-package.ts'

/** A repository that the App is installed on, as GitHub listed it. */
export interface ListedRepository {
  readonly repository: RepositoryName
  readonly installation: number
  /** Anybody may read it on GitHub. Whatever else GitHub said, or did not say, is false. */
  readonly isPublic: boolean
  /** When GitHub said so, in milliseconds since the epoch. */
  readonly listedAt: number
}

export interface ShownReason {
  readonly code: ReasonCode
  readonly text: string
  readonly who?: readonly string[]
}

/** What a look at a pull request says of it. Text of others: escaped where it is shown. */
export interface PullLook {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly title: string
  /** Absent: the account was deleted. */
  readonly author?: string
  readonly draft: boolean
  readonly head: CommitSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly config: string
  /** When it was opened on GitHub, in milliseconds; absent where GitHub does not say. */
  readonly openedAt?: number
  readonly verdict: VerdictKind
  readonly reasons: readonly ShownReason[]
  /** One line on each check: `validation: 1 error`. */
  readonly checks: readonly string[]
  readonly approvals: readonly ShownApproval[]
  /** Rules that found something, each once. */
  readonly findings: readonly { readonly rule: string; readonly severity: Severity }[]
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface ShownApproval {
  readonly login: string
  readonly state: 'approved' | 'changes-requested'
  /** Null: not known. */
  readonly commit: string | null
  /** ISO 8601. */
  readonly at: string
}

/** How a pull request stands, as it was last looked at. Times are milliseconds since the epoch. */
export interface PullRow extends Pick<
  PullLook,
  'pull' | 'title' | 'author' | 'draft' | 'head' | 'baseRef' | 'reasons' | 'checks' | 'approvals'
> {
  readonly state: 'open' | 'closed' | 'merged'
  readonly verdict: VerdictKind
  readonly openedAt: number
  /** Since when the verdict is what it is. */
  readonly since: number
  readonly lookedAt: number
  readonly endedAt?: number
}

/** A verdict that differed from the one before it. */
export type VerdictChange = Pick<
  PullLook,
  'head' | 'base' | 'baseRef' | 'config' | 'verdict' | 'reasons' | 'checks' | 'at'
>

export interface MergedPull {
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
  /** Grows with each merge. */
  readonly id: number
}

/** How many pull requests met a rule on a day. */
export interface RuleDay {
  /** Days since the epoch, UTC. */
  readonly day: number
  readonly rule: string
  readonly severity: Severity
  /** Who brought the change. */
  readonly owner: string
  readonly pulls: number
}

export interface SeenImage {
  readonly reference: string
  readonly digest?: string
  readonly seenAt: number
}

/** What is kept of a catalog beside its packages. */
export interface CatalogRow extends RecordedCatalog {
  readonly packages: number
  readonly bundles: number
  readonly stranded: number
}

export interface PageRecords {
  /** Exactly these are installed now; others are forgotten. */
  listRepositories(repositories: readonly ListedRepository[]): Promise<void>
  listedRepositories(): Promise<readonly ListedRepository[]>

  recordLook(look: PullLook): Promise<void>
  /** The pull request is not open any more. Answers with the time at which it was opened, where it was on record as open. */
  recordEnd(
    repository: RepositoryName,
    pull: PullNumber,
    state: 'closed' | 'merged',
    at: number,
  ): Promise<number | undefined>
  /** Of pull requests on record as open, those not named are not: nobody told when that was. */
  retainOpenPulls(repository: RepositoryName, open: readonly PullNumber[], at: number): Promise<void>
  /** Open ones, by number. At most `most`. */
  openPullRows(repository: RepositoryName, most: number): Promise<readonly PullRow[]>
  pullRow(repository: RepositoryName, pull: PullNumber): Promise<PullRow | undefined>
  /** Newest first. */
  verdictChanges(
    repository: RepositoryName,
    pull: PullNumber,
    most: number,
  ): Promise<readonly VerdictChange[]>
  /** A verdict with its whole report: this one, or the newest. */
  verdictReport(
    repository: RepositoryName,
    pull: PullNumber,
    of?: Pick<VerdictRecord, 'head' | 'base' | 'config'>,
  ): Promise<Pick<VerdictRecord, 'decidedAt' | 'report'> | undefined>
  /** How many are open in each repository, by verdict; keys are lower-case `owner/name`. */
  countOpenPulls(): Promise<readonly { repository: string; verdict: VerdictKind; pulls: number }[]>
  /** Newest first; of one repository or of all these. `before`: ids below this one. */
  mergedPulls(
    repositories: readonly RepositoryName[],
    most: number,
    before?: number,
  ): Promise<readonly MergedPull[]>
  mergedPull(repository: RepositoryName, pull: PullNumber): Promise<MergedPull | undefined>
  /** By day, newest first. */
  ruleDays(repository: RepositoryName, sinceDay: number): Promise<readonly RuleDay[]>

  /** Makes a branch's catalogs exactly these. Without `packages`, those of a catalog stay as they are. */
  recordCatalogs(
    repository: RepositoryName,
    branch: string,
    catalogs: readonly {
      readonly catalog: RecordedCatalog
      readonly packages?: readonly RecordedPackage[] | undefined
    }[],
  ): Promise<void>
  catalogRows(repository: RepositoryName): Promise<readonly CatalogRow[]>
  /** Sorted by name. */
  packageSummaries(repository: RepositoryName, catalog: string): Promise<readonly PackageSummary[]>
  /** Packages with stranded versions over all catalogs; at most some hundreds. */
  strandedPackages(
    repository: RepositoryName,
  ): Promise<readonly { readonly catalog: string; readonly package: PackageSummary }[]>
  recordedPackage(
    repository: RepositoryName,
    catalog: string,
    name: string,
  ): Promise<RecordedPackage | undefined>
  recordSeenImages(repository: RepositoryName, images: readonly SeenImage[]): Promise<void>
  seenImages(
    repository: RepositoryName,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, SeenImage>>
}
