// The one shape of a check: ask, then judge. `ask` says what the world must tell; the shell below the line
// fetches that; `judge` turns the answers into an outcome. Both are pure, so every check is tested without a world.
import type { BundleBlob } from '../catalog/facts/catalog.ts'
import type { Config } from '../config/config.ts'
import type { Carried } from '../change/carried-commits.ts'
import type { Change } from '../change/change.ts'
import type { UserId } from '../change/ids.ts'
import type { Snapshot } from '../change/snapshot.ts'
import type { TemplateState } from '../change/layout/template-pairs.ts'
import type { CheckId } from '../findings/checks.ts'
import type { Finding } from '../findings/finding.ts'
import type { Layout } from '../change/layout/layout.ts'
import type { Approval } from './approval.ts'
import type { Becoming } from './bundles/becoming.ts'
import type { PackageSources } from './bundles/package-sources.ts'
import type { AskedServer } from './install/running-catalog.ts'
import type { PlannedTrial } from './install/trial/plan-trials.ts'
import type { TriedInstall } from './install/tried-install.ts'
import type { Answers, Question } from './questions.ts'

/** All that a check may look at. Rules, owners and config come from the base tip; nothing here was chosen by the author. */
export interface CheckInput {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly layout: Layout
  readonly change: Change
  /** Every path of the base tip's tree, sorted. */
  readonly basePaths: readonly string[]
  /** Texts of the owner files at the base tip, and as the result would have them; by path. */
  readonly ownerFiles: {
    readonly base: ReadonlyMap<string, string>
    readonly result: ReadonlyMap<string, string>
  }
  readonly approvals: readonly Approval[]
  /**
   * The pull request's epoch: how often its head, its base branch or the configuration has changed (T21).
   * Approvals of another epoch are void. Absent: 0, for a state that was never seen before.
   */
  readonly epoch?: number
  /** Digest of the configuration at the base. Absent: approvals of earlier heads are never carried over. */
  readonly configDigest?: string
  /** The accounts that listed logins had when they were first seen, by lower-case login (T25). Absent: none seen yet. */
  readonly accounts?: ReadonlyMap<string, UserId>
  /** Packages by directory name over all catalogs of the base, where the shell has them; touched catalogs count anyway. */
  readonly packagesByDirectory?: ReadonlyMap<string, readonly string[]>
  /** What untouched catalogs of the base have under the names of bundles that the change adds. Absent: not looked. */
  readonly published?: readonly PublishedBundle[]
  /** Bundle directories and settings of packages, where the change touches either. Absent: none. */
  readonly bundleDirectories?: readonly PackageSources[]
  /** What catalogs become when the bundles of these directories are added to them. Absent: not worked out. */
  readonly becoming?: readonly Becoming[]
  /** Templates with the catalogs rendered from them, where the change touches either. Absent: none. */
  readonly templates?: readonly TemplateState[]
  /** What the push would carry besides the tree. Absent: not looked. */
  readonly carried?: Carried
  /** Touched packages as a server would give them, by the catalog's root and by package. Absent: nobody asked one. */
  readonly served?: ReadonlyMap<string, ReadonlyMap<string, ServedPackage>>
  /** Whether the rules of the base branch demand that every commit is signed. Absent: they do not. */
  readonly demandsSignatures?: boolean
}

/** What a server of the catalog that would land says of a package. */
export interface ServedPackage {
  readonly asked: readonly AskedServer[]
  /** The manifests of bundles that have no image, as JSON, by bundle. */
  readonly objects: ReadonlyMap<string, readonly string[]>
}

/** A bundle of the base, and the root of the catalog that has it. */
export interface PublishedBundle {
  readonly catalog: string
  readonly bundle: BundleBlob
}

/** Someone who can move the pull request on, and how. */
export interface Waiting {
  /** What is missing, for people: `an owner of foo approves`. */
  readonly what: string
  /** Logins and `organization/team` names who could do it; never empty silently: maintainers stand in. */
  readonly who: readonly string[]
  /** What they can do about it. Absent: they approve. */
  readonly how?: 'merges-by-hand' | 'withdraws' | 'confirms'
  /**
   * Somebody who may has agreed to exactly this change, and only the act is missing, which is not ours. Nothing lands by the
   * bot all the same. Absent: the agreement is missing, too.
   */
  readonly isAgreed?: true
}

/** A change that the bot made out for the author, who may take it or not. */
export interface Offer {
  /** The file that it changes: letters, digits and `./_+-` only. */
  readonly path: string
  /** What the file is made from. */
  readonly template: string
  /** A unified diff against the merge result, that `git apply` takes. */
  readonly patch: string
}

export interface CheckOutcome {
  readonly check: CheckId
  readonly findings: readonly Finding[]
  /** What the world did not say. Each keeps the gate shut until it is answered; none is the author's fault. */
  readonly unanswered: readonly {
    readonly question: string
    readonly reason: string
    readonly retryAfter: number
  }[]
  /** Decisions of people that are still missing. */
  readonly waiting: readonly Waiting[]
  /** Why it is merged only when somebody with a say asks for that, for people. Absent: nothing says so. */
  readonly byHand?: readonly string[]
  /** Changes that would mend a finding, for the comment. Absent: none. */
  readonly offers?: readonly Offer[]
  /** The configuration does not require the check: it says what it found, and keeps nothing from being merged. */
  readonly isOptional?: true
  /** What was tried, for the check run. Absent: the summary says it all. */
  readonly tried?: readonly TriedInstall[]
  /** What a cluster would be asked to show, where the configuration wants that; by the catalog's root. Absent: nothing. */
  readonly trials?: readonly { readonly root: string; readonly trial: PlannedTrial }[]
  /** One line on what was looked at: `3 packages, 41 bundles, 2 catalogs`. Shown when the check passes. */
  readonly summary: string
}

export interface Check<Id extends CheckId = CheckId> {
  readonly id: Id
  /** May be called again with more answers: questions can depend on earlier answers. Stops when nothing new is asked. */
  ask(input: CheckInput, answers: Answers): readonly Question[]
  judge(input: CheckInput, answers: Answers): CheckOutcome
}
