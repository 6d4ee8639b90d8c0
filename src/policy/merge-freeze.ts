// A freeze: catalog-bot merges nothing into a branch until the freeze ends.
import { formatUtcMinute } from '@catalog-bot/findings/printable'
import type { CommitSha, PullNumber, UserId } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'

/**
 * `frozen`: a user requested it. `audit`: the branch contains content that was not validated. `refused`: the branch's
 * settings reject catalog-bot's merges; only this kind expires.
 */
export type FreezeKind = 'frozen' | 'audit' | 'refused'

export type FreezeAuthor =
  | {
      readonly kind: 'person'
      readonly login: string
      readonly user: UserId
      /** The comment with the command, which works once. */
      readonly comment: number
    }
  /** The local account that ran the command. */
  | { readonly kind: 'command-line'; readonly user: string }
  | { readonly kind: 'page'; readonly login: string; readonly user: UserId }
  | { readonly kind: 'bot' }

/** Without a branch, applies to every branch of the repository. */
export interface FreezeScope {
  readonly repository: RepositoryName
  readonly branch?: string | undefined
}

export interface FreezeRequest extends FreezeScope {
  readonly kind: FreezeKind
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
  readonly by: FreezeAuthor
  readonly pull?: PullNumber | undefined
  readonly commit?: CommitSha | undefined
  /** For `refused`: when to retry, in milliseconds since the epoch. */
  readonly tryAgainAt?: number | undefined
  /** For `refused`: the branch's rules at that time. A change triggers a retry. */
  readonly rules?: string | undefined
}

export interface MergeFreeze extends FreezeRequest {
  readonly since: number
  /** How often it was requested. Each rejected retry counts. */
  readonly times: number
}

export interface FreezeEvent extends FreezeScope {
  readonly step: 'stopped' | 'resumed'
  readonly kind: FreezeKind
  readonly reason: string
  readonly by: FreezeAuthor
  readonly at: number
}

/** The freezes that block this branch now. An expired rejection does not count, so one merge is attempted. */
export function findActiveFreezes(
  stops: readonly MergeFreeze[],
  branch: string,
  now: number,
): readonly MergeFreeze[] {
  return stops.filter(
    (stop) =>
      (stop.branch === undefined || stop.branch === branch) &&
      !(stop.kind === 'refused' && stop.tryAgainAt !== undefined && stop.tryAgainAt <= now),
  )
}

/** A sentence without a period. Contains untrusted text: escape it for display. */
export function formatFreeze({ branch, kind, reason, by, since }: MergeFreeze): string {
  const target = branch === undefined ? 'all branches' : branch
  const at = formatUtcMinute(since)
  const why = reason === '' ? '' : `: ${reason.replace(/[.\s]+$/, '')}`
  const which = branch === undefined ? ' all' : ''
  switch (kind) {
    case 'frozen':
      return `merging into ${target} was frozen by ${formatFreezeAuthor(by)} at ${at}${why}. To unfreeze merging, a maintainer can comment /unfreeze${which}`
    case 'audit':
      return `merging into ${target} was frozen at ${at} because the branch does not match what was checked${why}. To unfreeze merging, a maintainer can comment /unfreeze${which} audit`
    case 'refused':
      return `GitHub has rejected merges into ${target} since ${at}${why}. catalog-bot retries periodically, and when the settings change`
  }
}

export function formatFreezeAuthor(by: FreezeAuthor): string {
  switch (by.kind) {
    case 'person':
      return `@${by.login}`
    case 'command-line':
      return `${by.user} (command line)`
    case 'page':
      return `@${by.login} (status page)`
    case 'bot':
      return 'catalog-bot'
  }
}

const initialMergeRejectionBackOffMs = 60_000
const maxMergeRejectionBackOffMs = 3600_000

/** Milliseconds until the next retry after `times` rejections: one minute, doubled each time, at most one hour. */
export function computeMergeRejectionBackOffMs(times: number): number {
  return Math.min(
    maxMergeRejectionBackOffMs,
    initialMergeRejectionBackOffMs * 2 ** Math.min(20, Math.max(0, times - 1)),
  )
}
