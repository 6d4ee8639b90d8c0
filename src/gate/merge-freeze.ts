// A stop: nothing is merged into a branch until it ends.
import { formatIsoTime } from '../findings/iso-time.ts'
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

/**
 * `frozen`: people ordered it. `audit`: a branch has content that was not validated. `refused`: the branch's settings
 * reject our merges; only this kind expires.
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
  /** The local account that ran the command line. */
  | { readonly kind: 'command-line'; readonly user: string }
  | { readonly kind: 'page'; readonly login: string; readonly user: UserId }
  | { readonly kind: 'bot' }

/** No branch means every branch of the repository. */
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
  /** For `refused`: the branch's rules at that time; a change is a reason to retry. */
  readonly rules?: string | undefined
}

export interface MergeFreeze extends FreezeRequest {
  readonly since: number
  /** How often it was ordered; each refused retry counts. */
  readonly times: number
}

/** One record: a stop begins or ends. */
export interface FreezeEvent extends FreezeScope {
  readonly step: 'stopped' | 'resumed'
  readonly kind: FreezeKind
  readonly reason: string
  readonly by: FreezeAuthor
  readonly at: number
}

/** The stops that block this branch now. An expired refusal does not count, so that one merge is tried. */
export function activeFreezes(
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

/** A sentence without a full stop. It contains untrusted text: escape it where it is shown. */
export function formatFreeze({ branch, kind, reason, by, since }: MergeFreeze): string {
  const where = branch === undefined ? 'in this repository' : `on ${branch}`
  const at = formatUtcMinute(since)
  const why = reason === '' ? '' : `: ${reason.replace(/[.\s]+$/, '')}`
  const which = branch === undefined ? ' all' : ''
  switch (kind) {
    case 'frozen':
      return `merging is stopped ${where} by ${formatFreezeAuthor(by)} since ${at}${why}. Maintainers end that with /thaw${which}`
    case 'audit':
      return `merging is stopped ${where} since ${at}, because the branch does not hold what was checked${why}. Maintainers end that with /thaw${which} audit`
    case 'refused':
      return `GitHub refuses merges ${where} since ${at}${why}. The bot tries again from time to time, and when the settings change`
  }
}

/** `2026-11-22 10:00 UTC`. */
const formatUtcMinute = (milliseconds: number): string =>
  `${formatIsoTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`

export function formatFreezeAuthor(by: FreezeAuthor): string {
  switch (by.kind) {
    case 'person':
      return `@${by.login}`
    case 'command-line':
      return `${by.user} (command line)`
    case 'page':
      return `@${by.login} (status page)`
    case 'bot':
      return 'the bot'
  }
}

const initialBackOffMs = 60_000
const maxBackOffMs = 3600_000

/** Milliseconds until the next try after `times` refusals: one minute, doubled each time, at most one hour. */
export function computeBackOffMs(times: number): number {
  return Math.min(maxBackOffMs, initialBackOffMs * 2 ** Math.min(20, Math.max(0, times - 1)))
}
