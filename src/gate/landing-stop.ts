// A stop: nothing is merged into a branch until it ends. Who ordered it, why, and when it ends. Pure; kept by the store.
import { isoTime } from '../findings/iso-time.ts'
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

/**
 * `frozen`: people wanted it. `audit`: a branch does not hold what was validated. `refused`: the branch's settings do not
 * let us merge; this one alone ends by itself.
 */
export type StopKind = 'frozen' | 'audit' | 'refused'

/** Who stops or resumes. */
export type StopAuthor =
  | {
      readonly kind: 'person'
      readonly login: string
      readonly user: UserId
      /** The comment with the command: it works once. */
      readonly comment: number
    }
  /** An account of the machine on which the command line ran. */
  | { readonly kind: 'command-line'; readonly user: string }
  /** Somebody who is signed in on the status pages. */
  | { readonly kind: 'page'; readonly login: string; readonly user: UserId }
  | { readonly kind: 'bot' }

/** What a stop is about: no branch means every branch of the repository. */
export interface StopPlace {
  readonly repository: RepositoryName
  readonly branch?: string | undefined
}

export interface StopOrder extends StopPlace {
  readonly kind: StopKind
  /** Text of others: to be escaped where it is shown. */
  readonly reason: string
  readonly by: StopAuthor
  /** What caused it. */
  readonly pull?: PullNumber | undefined
  readonly commit?: CommitSha | undefined
  /** For `refused`: when one merge is tried again, in milliseconds since the epoch. */
  readonly tryAgainAt?: number | undefined
  /** For `refused`: what the branch's rules were then, so that another answer is a reason to try again. */
  readonly rules?: string | undefined
}

export interface LandingStop extends StopOrder {
  /** Milliseconds since the epoch. */
  readonly since: number
  /** How often it was ordered: a refusal is met again when a merge is tried. */
  readonly times: number
}

/** One line of what is on record: a stop begins or ends. */
export interface StopEvent extends StopPlace {
  readonly step: 'stopped' | 'resumed'
  readonly kind: StopKind
  readonly reason: string
  readonly by: StopAuthor
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The stops that keep pull requests out of this branch now. A refusal whose time is over is no stop: one merge is tried. */
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

/** A sentence without a full stop. Its parts are of others: the whole is escaped where it is shown. */
export function sayStop({ branch, kind, reason, by, since }: LandingStop): string {
  const where = branch === undefined ? 'in this repository' : `on ${branch}`
  const at = sayTime(since)
  // A reason of somebody's may end its own sentence.
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

/** Milliseconds until what was refused `times` times is tried again: a minute, doubled each time, at most an hour. */
export function backOff(times: number): number {
  return Math.min(longestWait, firstWait * 2 ** Math.min(20, Math.max(0, times - 1)))
}
