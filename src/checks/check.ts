// A check has two pure functions: `ask` returns questions, and `judge` turns the answers into an outcome.
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { CheckId } from '@catalog-bot/findings/checks'
import type { Finding } from '@catalog-bot/findings/finding'
import { suiteByBundleRuleId } from '@catalog-bot/bundle/content-rules'
import type { Config } from '../config/config.ts'
import type { PullSnapshot, IncomingCommitsInput } from '../pull-request/snapshot.ts'
import type { PullRequestChange } from '../pull-request/change.ts'
import type { UserId, CommitSha } from '../pull-request/ids.ts'
import type { LoadedTemplateCatalogPair } from '../pull-request/layout/template-pairs.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import type { PostReleaseCatalog, PackageDirectoryState } from './bundles/post-release-catalog.ts'
import type { PlannedClusterTest } from './install/cluster-test/cluster-test-plan.ts'
import type { InstallSummary } from './install/install-report.ts'
import type { LookupResults, LookupRequest } from './lookups.ts'
import {
  applyRuleSettings,
  hasConfiguredSeverity,
  type FindingPackageAndFile,
} from './validation/rule-settings.ts'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'

const emptyFixedSeverityRuleIds: ReadonlySet<string> = new Set()

/**
 * One user's approval of one exact state of a pull request. It counts only while head, base branch, epoch and effect of
 * the change stay the same.
 */
export interface Approval {
  readonly user: UserId
  readonly login: string
  readonly head: CommitSha
  readonly baseRef: string
  /** Counts changes of head and base branch, so that a return to an old head is a new epoch. */
  readonly epoch: number
  readonly source: 'review' | 'command'
  /** The effect of the approved change (see coverage()). If absent, the approval covers nothing. */
  readonly covers?: ReadonlyMap<string, string>
  /**
   * Digest of the configuration at the time. With it an approval can survive a push that leaves a package's files
   * unchanged, if the configuration allows that.
   */
  readonly config?: string
}

/**
 * Everything a check may read. Rules, owners and configuration come from the base tip, so the author controls none of
 * them.
 */
export interface CheckInput {
  readonly snapshot: PullSnapshot
  readonly config: Config
  readonly layout: RepositoryLayout
  readonly change: PullRequestChange
  /** All paths of the base tip's tree, sorted. */
  readonly basePaths: readonly string[]
  /** Contents of owner files at the base tip and in the result, by path. */
  readonly ownerFiles: {
    readonly base: ReadonlyMap<string, string>
    readonly result: ReadonlyMap<string, string>
  }
  readonly approvals: readonly Approval[]
  /** Counts changes of head, base branch and configuration. Approvals of another epoch are void. Absent: 0. */
  readonly epoch?: number
  /** Digest of the configuration at the base. Absent: no approval carries over from an earlier head. */
  readonly configDigest?: string
  /** The accounts of listed logins when they were first seen, by lowercase login. Absent: none seen yet. */
  readonly accounts?: ReadonlyMap<string, UserId>
  /** Packages by directory name over all catalogs of the base. Absent: only touched catalogs count. */
  readonly packagesByDirectory?: ReadonlyMap<string, readonly string[]>
  /** Bundles in untouched catalogs of the base that have the same name as a new bundle. Absent: unknown. */
  readonly published?: readonly PublishedBundle[]
  readonly bundleDirectories?: readonly PackageDirectoryState[]
  /** The catalogs after these directories' bundles are added. Absent: not computed. */
  readonly projectedCatalogs?: readonly PostReleaseCatalog[]
  /** Touched templates and their catalogs. Absent: none. */
  readonly templates?: readonly LoadedTemplateCatalogPair[]
  /** The content of the push in addition to the tree. Unknown if absent. */
  readonly incomingCommits?: IncomingCommitsInput
  /** Touched packages as `opm serve` returns them, by catalog root and package. Absent: not requested. */
  readonly served?: ReadonlyMap<string, ReadonlyMap<string, CatalogServerPackageResponses>>
  /** Whether the base branch requires signed commits. Absent: no. */
  readonly requiresSignedCommits?: boolean
}

/** What a server of the resulting catalog returns for a package. */
export interface CatalogServerPackageResponses {
  readonly responses: readonly CatalogServerResponse[]
  /** Manifests, as JSON, of bundles without an image, by bundle. */
  readonly objects: ReadonlyMap<string, readonly string[]>
}

/** A bundle of the base, and its catalog's root. */
export interface PublishedBundle {
  readonly catalog: string
  readonly bundle: BundleBlob
}

/** Who can unblock the pull request, and how. */
export interface MergeUnblockingAction {
  /** Readable text: `an owner of foo must approve`. */
  readonly what: string
  /** Logins and `organization/team` names. Never empty: maintainers are the fallback. */
  readonly who: readonly string[]
  /** How they unblock it. Absent: by approving. */
  readonly how?: 'merges-by-hand' | 'withdraws' | 'confirms'
  /**
   * An authorized user approved exactly this change, but a user must merge it, because catalog-bot does not. If absent,
   * the approval is also missing.
   */
  readonly isAgreed?: true
}

/** A change that catalog-bot suggests to the author. */
export interface SuggestedPatch {
  /** Letters, digits and `./_+-` only. */
  readonly path: string
  readonly template: string
  /** A unified diff against the merge result, for `git apply`. */
  readonly patch: string
}

/** An unanswered question. `retryAfter`: seconds. */
export interface PendingLookup {
  readonly question: string
  readonly reason: string
  readonly retryAfter: number
}

export interface CheckOutcome {
  readonly check: CheckId
  readonly findings: readonly Finding[]
  /** Unanswered questions. Each blocks the merge until it is answered. None is the author's fault. */
  readonly unanswered: readonly PendingLookup[]
  readonly waiting: readonly MergeUnblockingAction[]
  /** Why catalog-bot merges the pull request only on request, as readable text. */
  readonly manualMergeReasons?: readonly string[]
  /** Suggested fixes for the comment. */
  readonly suggestedPatches?: readonly SuggestedPatch[]
  /** The configuration does not require the check: its findings never block a merge. */
  readonly isOptional?: true
  /** Attempted installations, for the check run. Absent: the summary is enough. */
  readonly installSummaries?: readonly InstallSummary[]
  /** Install tests on a cluster that the configuration requests. */
  readonly clusterTests?: readonly { readonly root: string; readonly trial: PlannedClusterTest }[]
  /** What the check covered: `3 packages, 41 bundles, 2 catalogs`. Shown when it passes. */
  readonly summary: string
}

export interface Check<Id extends CheckId = CheckId> {
  readonly id: Id
  /** Called again with more answers until it asks nothing new, because questions can depend on earlier answers. */
  ask(input: CheckInput, answers: LookupResults): readonly LookupRequest[]
  judge(input: CheckInput, answers: LookupResults): CheckOutcome
}

/**
 * Applies severities to findings about images, bundles, and installation; keeps those of optional suites only if
 * enabled or configured. One of the image's `locations` that is not ignored is enough.
 */
export function applyConfiguredSeverities(
  findings: readonly Finding[],
  config: Pick<Config, 'rules' | 'bundles'>,
  locations?: readonly FindingPackageAndFile[],
): Finding[] {
  const counted = findings.filter(({ rule }) => isRuleEnabled(rule, config))
  return applyRuleSettings(counted, config.rules, emptyFixedSeverityRuleIds, locations && (() => locations))
}

function isRuleEnabled(rule: string, { rules, bundles }: Pick<Config, 'rules' | 'bundles'>): boolean {
  const suite = suiteByBundleRuleId.get(rule)
  return suite === undefined || bundles.suites.includes(suite) || hasConfiguredSeverity(rule, rules)
}
