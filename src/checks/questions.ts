// What checks ask the world, and what the world may answer. Questions are data: the shell below the line
// fetches the answers (batched, cached, retried); checks only judge them. No answer is an answer too: unknown.
import type { BundleFormat } from '../bundle/bundle-files.ts'
import type { BundleStatement } from '../bundle/render/compare-with-image.ts'
import type { Json } from '../go/json/json.ts'
import type { BundleFacts } from './install/bundle-facts.ts'
import type { Finding } from '../findings/finding.ts'
import type { Person } from '../change/snapshot.ts'
import type { CommitSha, UserId } from '../change/ids.ts'

export type Question =
  /** `platforms`: which ones it offers is wanted too, which costs more. */
  | { readonly kind: 'image'; readonly reference: string; readonly platforms?: boolean }
  /** What is inside a bundle image? By digest, so that the answer never changes. */
  | { readonly kind: 'bundle'; readonly reference: string }
  /** What would come of installing a bundle image? By digest, and told by the same pull as what is inside. */
  | { readonly kind: 'install'; readonly reference: string }
  /** Which account has this login now? */
  | { readonly kind: 'user'; readonly login: string }
  | {
      readonly kind: 'team-member'
      readonly organization: string
      readonly team: string
      readonly user: UserId
      readonly login: string
    }
  /** The person's role on the repository itself. */
  | { readonly kind: 'role'; readonly user: UserId; readonly login: string }
  /** Is there a branch of exactly this name? */
  | { readonly kind: 'branch'; readonly branch: string }
  /**
   * Was the comment ever edited, by whomever? Maintainers can edit everybody's, and the times that come with comments
   * are whole seconds: an edit within the second of its creation shows in none of them (T29).
   */
  | { readonly kind: 'comment'; readonly comment: number; readonly node?: string }
  /** How does a check of another App stand on a commit? */
  | { readonly kind: 'check-run'; readonly commit: CommitSha; readonly app: number; readonly name: string }

/** The world's failure: never the author's fault, asked again later. */
export interface Unknown {
  readonly kind: 'unknown'
  /** For people: `quay.io answered 503`. */
  readonly reason: string
  /** Seconds after which asking again makes sense. */
  readonly retryAfter: number
}

/** What a registry says of one reference. Only the first four of the rest are definite. */
export type ImageAnswer =
  | {
      readonly kind: 'ok'
      readonly digest: string
      readonly mediaType: string
      readonly size: number
      readonly platforms?: readonly string[]
    }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'digest-mismatch'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'unsupported'; readonly reason: string }
  /** Refused before any request: not https, an internal address, a registry that the config does not allow. */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** Not there, or not for us: the registry does not say which. Waits. */
  | { readonly kind: 'missing-or-private'; readonly reason: string }
  | Unknown

/** What a bundle image holds, as an `olm.bundle` blob would say it, and what is wrong inside it. */
export type BundleAnswer =
  | {
      readonly kind: 'bundle'
      readonly digest: string
      /** Absent for what shows none of the three. */
      readonly format?: BundleFormat
      /**
       * Without the bulky properties (`olm.bundle.object`, `olm.csv.metadata`) and the bundle's own image. Absent where
       * opm cannot read the bundle.
       */
      readonly content?: BundleStatement
      /** What catalog templates look at in the ClusterServiceVersion, in its own shape. Absent where that is too large. */
      readonly csv?: Json
      /** Places name files of the bundle. */
      readonly findings: readonly Finding[]
      /** What a simulated install has to know of it; only where that was asked. */
      readonly install?: BundleFacts
      /**
       * True when the bot sees the image with rights that readers of its words may not have: nothing that only the
       * image says may be repeated.
       */
      readonly isRestricted?: boolean
    }
  | Exclude<ImageAnswer, { readonly kind: 'ok' }>

export type UserAnswer =
  { readonly kind: 'person'; readonly person: Person } | { readonly kind: 'nobody' } | Unknown
export type MembershipAnswer = { readonly kind: 'yes' } | { readonly kind: 'no' } | Unknown
export type RoleAnswer =
  | { readonly kind: 'role'; readonly role: 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin' }
  | Unknown

export type CommentAnswer = { readonly kind: 'unedited' } | { readonly kind: 'edited' } | Unknown

/** `red`: it ended otherwise than well. `missing`: this App reported no check of this name there. */
export type CheckRunAnswer =
  | { readonly kind: 'green' }
  | { readonly kind: 'running' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'red'; readonly conclusion: string }
  | Unknown

export interface AnswerTo {
  image: ImageAnswer
  bundle: BundleAnswer
  /** With `install`, and without what is inside. */
  install: BundleAnswer
  user: UserAnswer
  'team-member': MembershipAnswer
  role: RoleAnswer
  comment: CommentAnswer
  branch: MembershipAnswer
  'check-run': CheckRunAnswer
}

/** Answers to the questions a check asked; a question that was never answered is unknown. */
export interface Answers {
  get<Kind extends Question['kind']>(question: Extract<Question, { kind: Kind }>): AnswerTo[Kind]
}

/** A stable key for a question, for caches and for pairing answers with questions. */
export function questionKey(question: Question): string {
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

/** Answers from a plain map; what is not in it is unknown. */
export function answersFrom(known: ReadonlyMap<string, AnswerTo[keyof AnswerTo]>): Answers {
  return {
    get: (question) =>
      (known.get(questionKey(question)) ?? {
        kind: 'unknown',
        reason: 'the bot has not asked yet',
        retryAfter: 0,
      }) as never,
  }
}
