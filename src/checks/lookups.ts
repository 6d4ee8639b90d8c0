// Checks' questions and the possible answers, as data. The caller fetches these; a missing one is unknown.
import type { BundleFormat } from '@catalog-bot/bundle/bundle-files'
import type { ComparableBundle } from '@catalog-bot/bundle/render/render-bundle'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { BundleInstallAnalysis } from './install/install-analysis.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type { GitHubAccount } from '../pull-request/snapshot.ts'
import type { CommitSha, UserId } from '../pull-request/ids.ts'

/** Registries answer these. */
export type RegistryLookupRequest =
  /** `platforms`: also list platforms, which costs more. */
  | { readonly kind: 'image'; readonly reference: string; readonly platforms?: boolean }
  /** What does the bundle image contain? By digest, so the answer never changes. */
  | { readonly kind: 'bundle'; readonly reference: string }
  /** What would installing the bundle image do? By digest; uses the same pull as `bundle`. */
  | { readonly kind: 'install'; readonly reference: string }

/** GitHub answers these. */
export type ForgeLookupRequest =
  /** Which account has this login now? */
  | { readonly kind: 'user'; readonly login: string }
  | {
      readonly kind: 'team-member'
      readonly organization: string
      readonly team: string
      readonly user: UserId
      readonly login: string
    }
  | { readonly kind: 'role'; readonly user: UserId; readonly login: string }
  /** Does a branch of exactly this name exist? */
  | { readonly kind: 'branch'; readonly branch: string }
  /**
   * Was the comment ever edited? Maintainers can edit any comment, and comment times have a resolution of one second,
   * so they do not reveal an edit within the second of creation.
   */
  | { readonly kind: 'comment'; readonly comment: number; readonly node?: string }
  /** The result of another App's check on a commit. */
  | { readonly kind: 'check-run'; readonly commit: CommitSha; readonly app: number; readonly name: string }

export type LookupRequest = RegistryLookupRequest | ForgeLookupRequest

/** A failure that is never the author's fault. catalog-bot asks again later. */
export interface InconclusiveLookupResult {
  readonly kind: 'unknown'
  /** Readable text: `quay.io answered 503`. */
  readonly reason: string
  /** Seconds until asking again. */
  readonly retryAfter: number
}

/** A registry's answer for one reference. Apart from `ok`, only the next four kinds are definite. */
export type ImageLookupResult =
  | { readonly kind: 'ok'; readonly digest: string; readonly platforms?: readonly string[] }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'digest-mismatch'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'unsupported'; readonly reason: string }
  /**
   * Rejected before any request: not https, an internal address, or a registry that the configuration does not allow.
   */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** The registry does not reveal whether the image is missing or private. catalog-bot asks again later. */
  | { readonly kind: 'missing-or-private'; readonly reason: string }
  | InconclusiveLookupResult

/** A bundle image's content, as an `olm.bundle` blob would state it, and its findings. */
export type BundleImageLookupResult =
  | {
      readonly kind: 'bundle'
      readonly digest: string
      /** Absent if none of the three is recognizable. */
      readonly format?: BundleFormat
      /**
       * Without bulky properties (`olm.bundle.object`, `olm.csv.metadata`) and the bundle's own image. Absent if opm
       * cannot read the bundle.
       */
      readonly content?: ComparableBundle
      /** The parts of the ClusterServiceVersion that catalog templates use. Absent if too large. */
      readonly csv?: Json
      /** Locations refer to files in the bundle. */
      readonly findings: readonly Finding[]
      /** Input for a simulated install, if requested. */
      readonly install?: BundleInstallAnalysis
      /**
       * True if catalog-bot uses credentials that readers of its comments might lack. Findings must not repeat content
       * of the image.
       */
      readonly isRestricted?: boolean
    }
  | Exclude<ImageLookupResult, { readonly kind: 'ok' }>

type GitHubUserLookupResult =
  | { readonly kind: 'person'; readonly person: GitHubAccount }
  | { readonly kind: 'nobody' }
  | InconclusiveLookupResult
type YesOrNoLookupResult = { readonly kind: 'yes' } | { readonly kind: 'no' } | InconclusiveLookupResult
export type RepositoryRoleLookupResult =
  | { readonly kind: 'role'; readonly role: 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin' }
  | InconclusiveLookupResult

type CommentEditStatus =
  { readonly kind: 'unedited' } | { readonly kind: 'edited' } | InconclusiveLookupResult

/** `red`: completed without success. `missing`: this App has no check with this name on the commit. */
export type CheckRunLookupResult =
  | { readonly kind: 'green' }
  | { readonly kind: 'running' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'red'; readonly conclusion: string }
  | InconclusiveLookupResult

export interface LookupResultByKind {
  image: ImageLookupResult
  bundle: BundleImageLookupResult
  install: BundleImageLookupResult
  user: GitHubUserLookupResult
  'team-member': YesOrNoLookupResult
  role: RepositoryRoleLookupResult
  comment: CommentEditStatus
  branch: YesOrNoLookupResult
  'check-run': CheckRunLookupResult
}

/** The question that this result leaves open. */
export function toPendingLookup(question: string, { reason, retryAfter }: InconclusiveLookupResult) {
  return { question, reason, retryAfter }
}

/** A private image looks like a missing one without credentials, so retrying within minutes does not help. */
export const privateImageRetrySeconds = 900

/** Unanswered questions are unknown. */
export interface LookupResults {
  get<Kind extends LookupRequest['kind']>(
    question: Extract<LookupRequest, { kind: Kind }>,
  ): LookupResultByKind[Kind]
}

export function isRegistryLookup(question: LookupRequest): question is RegistryLookupRequest {
  return question.kind === 'image' || question.kind === 'bundle' || question.kind === 'install'
}

/** A stable key, for caches and for matching answers. */
export function toLookupKey(question: LookupRequest): string {
  switch (question.kind) {
    case 'image':
      return `image ${question.reference}${question.platforms === true ? ' with platforms' : ''}`
    case 'bundle':
      return `bundle ${question.reference}`
    case 'install':
      return `install ${question.reference}`
    case 'user':
      return `user ${question.login.toLowerCase()}`
    case 'team-member':
      return `team-member ${question.organization.toLowerCase()}/${question.team.toLowerCase()} ${question.user}`
    case 'role':
      return `role ${question.user}`
    case 'comment':
      return `comment ${question.comment}`
    case 'branch':
      return `branch ${question.branch}`
    case 'check-run':
      return `check-run ${question.commit} ${question.app} ${question.name}`
  }
}

/** Answers from a map; missing ones are unknown. */
export function createLookupResults(
  known: ReadonlyMap<string, LookupResultByKind[keyof LookupResultByKind]>,
): LookupResults {
  return {
    get: (question) =>
      (known.get(toLookupKey(question)) ?? {
        kind: 'unknown',
        reason: 'catalog-bot has not looked up this information yet',
        retryAfter: 0,
      }) as never,
  }
}

/** The questions that `run` asks, each once. */
export function collectLookups(
  answers: LookupResults,
  run: (recording: LookupResults) => unknown,
): readonly LookupRequest[] {
  const questions = new Map<string, LookupRequest>()
  run({
    get: (question) => {
      questions.set(toLookupKey(question), question)
      return answers.get(question)
    },
  })
  return [...questions.values()]
}
