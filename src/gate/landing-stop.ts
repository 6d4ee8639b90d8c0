// A stop: nothing is merged into a branch until it ends. Who ordered it, why, and when it ends. Pure; kept by the store.
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

/**
 * `frozen`: people wanted it. `audit`: a branch does not hold what was validated. `refused`: the branch's settings do not
 * let us merge; this one alone ends by itself.
 */
export type StopKind = 'frozen' | 'audit' | 'refused'

export const stopKinds: readonly StopKind[] = ['frozen', 'audit', 'refused']

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

/** `2026-11-22 10:00 UTC`. Counted here, for this floor knows no clock: years begin in March, so that leap days end them. */
function sayTime(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000)
  const days = Math.floor(minutes / 1440) + 719_468
  const era = Math.floor(days / 146_097)
  const ofEra = days - era * 146_097
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const month = Math.floor((5 * ofYear + 2) / 153)
  const day = ofYear - Math.floor((153 * month + 2) / 5) + 1
  const two = (number: number) => String(number).padStart(2, '0')
  const date = `${year + era * 400 + (month >= 10 ? 1 : 0)}-${two(month >= 10 ? month - 9 : month + 3)}-${two(day)}`
  const ofDay = ((minutes % 1440) + 1440) % 1440
  return `${date} ${two(Math.floor(ofDay / 60))}:${two(ofDay % 60)} UTC`
}

export function sayAuthor(by: StopAuthor): string {
  switch (by.kind) {
    case 'person':
      return `@${by.login}`
    case 'command-line':
      return `${by.user} (command line)`
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
