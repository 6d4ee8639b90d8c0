// A stop: nothing is merged into a branch until it ends.
import { isoTime } from '../findings/iso-time.ts'
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

/**
 * `frozen`: people ordered it. `audit`: a branch has content that was not validated. `refused`: the branch's settings
 * reject our merges; only this kind expires.
 */
export type StopKind = 'frozen' | 'audit' | 'refused'

export type StopAuthor =
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
export interface StopPlace {
  readonly repository: RepositoryName
  readonly branch?: string | undefined
}

export interface StopOrder extends StopPlace {
  readonly kind: StopKind
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
  readonly by: StopAuthor
  readonly pull?: PullNumber | undefined
  readonly commit?: CommitSha | undefined
  /** For `refused`: when to retry, in milliseconds since the epoch. */
  readonly tryAgainAt?: number | undefined
  /** For `refused`: the branch's rules at that time; a change is a reason to retry. */
  readonly rules?: string | undefined
}

export interface LandingStop extends StopOrder {
  readonly since: number
  /** How often it was ordered; each refused retry counts. */
  readonly times: number
}

/** One record: a stop begins or ends. */
export interface StopEvent extends StopPlace {
  readonly step: 'stopped' | 'resumed'
  readonly kind: StopKind
  readonly reason: string
  readonly by: StopAuthor
  readonly at: number
}

/** The stops that block this branch now. An expired refusal does not count, so that one merge is tried. */
export function stopsInForce(
  stops: readonly LandingStop[],
  branch: string,
  now: number,
): readonly LandingStop[] {
  return stops.filter(
    (stop) =>
      (stop.branch === undefined || stop.branch === branch) &&
      !(stop.kind === 'refused' && stop.tryAgainAt !== undefined && stop.tryAgainAt <= now),
  )
}

/** A sentence without a full stop. It contains untrusted text: escape it where it is shown. */
export function sayStop({ branch, kind, reason, by, since }: LandingStop): string {
  const where = branch === undefined ? 'in this repository' : `on ${branch}`
  const at = sayTime(since)
  const why = reason === '' ? '' : `: ${reason.replace(/[.\s]+$/, '')}`
  const which = branch === undefined ? ' all' : ''
  switch (kind) {
    case 'frozen':
      return `merging is stopped ${where} by ${sayAuthor(by)} since ${at}${why}. Maintainers end that with /thaw${which}`
    case 'audit':
      return `merging is stopped ${where} since ${at}, because the branch does not hold what was checked${why}. Maintainers end that with /thaw${which} audit`
    case 'refused':
      return `GitHub refuses merges ${where} since ${at}${why}. The bot tries again from time to time, and when the settings change`
  }
}

/** `2026-11-22 10:00 UTC`. */
const sayTime = (milliseconds: number): string =>
  `${isoTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`

export function sayAuthor(by: StopAuthor): string {
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

const firstWait = 60_000
const longestWait = 3600_000

/** Milliseconds until the next try after `times` refusals: one minute, doubled each time, at most one hour. */
export function backOff(times: number): number {
  return Math.min(longestWait, firstWait * 2 ** Math.min(20, Math.max(0, times - 1)))
}
