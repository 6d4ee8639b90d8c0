// Where nothing is merged, and which pull requests wait for another try: what people and the bot stopped, with who and why
// on record. Nothing here needs a row to be deleted by hand.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type {
  LandingStop,
  StopAuthor,
  StopEvent,
  StopKind,
  StopOrder,
  StopPlace,
} from '../gate/landing-stop.ts'

export interface ResumeOrder extends StopPlace {
  /** Which kinds of stops end; stops of other kinds stay. */
  readonly kinds: readonly StopKind[]
  readonly by: StopAuthor
  readonly reason: string
  /**
   * When it was said, in milliseconds since the epoch: what was stopped later stays. Of two comments the later one counts,
   * whichever is read first. Absent: now.
   */
  readonly saidAt?: number | undefined
}

/** A pull request that GitHub refused to merge, for a reason that is its own. */
export interface ParkedPull {
  readonly pull: PullNumber
  /** GitHub's words: to be escaped where they are shown. */
  readonly reason: string
  /** What it was like then: another state is a reason to try again. */
  readonly state: string
  readonly times: number
  /** Milliseconds since the epoch. */
  readonly tryAgainAt: number
}

export interface LandingStops {
  /**
   * Begins a stop; the answer is the stop that holds then. One per repository, branch and kind: of a `frozen` or `audit`
   * stop the first reason stays, a `refused` one takes the newest and counts. A comment that stopped or resumed before
   * does nothing.
   */
  stopLandings(order: StopOrder): Promise<LandingStop | undefined>
  /**
   * Ends stops; the answer is those that ended. With a branch: stops of that branch alone; without: those of the whole
   * repository and of each of its branches.
   */
  resumeLandings(order: ResumeOrder): Promise<readonly LandingStop[]>
  /** Lets one merge be tried at once where GitHub refused them: its settings are others now. */
  retryLandings(place: StopPlace & { readonly branch: string }): Promise<void>
  /** What is stopped, also refusals whose time is over; of every repository where none is named. The oldest first. */
  landingStops(repository?: RepositoryName): Promise<readonly LandingStop[]>
  /** What began and ended, the newest first. */
  stopEvents(repository: RepositoryName, most: number): Promise<readonly StopEvent[]>

  parkPull(repository: RepositoryName, parked: ParkedPull): Promise<void>
  parkedPull(repository: RepositoryName, pull: PullNumber): Promise<ParkedPull | undefined>
  /** Every pull request of a repository that is parked. */
  parkedPulls(repository: RepositoryName): Promise<readonly PullNumber[]>
  releasePull(repository: RepositoryName, pull: PullNumber): Promise<void>
}
