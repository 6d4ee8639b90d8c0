// What every landing method offers: all that can be done before anything moves the branch, and then the one act.
import type { CommitSha } from '../change/ids.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { LandOptions, Planned, RefusedLanding } from './landing-options.ts'

export interface Step extends Planned {
  readonly permit: MergePermit
  readonly options: LandOptions
  /** The permits of a landing train that ends in this one: what is pushed is all of it. */
  readonly train?: readonly MergePermit[]
}

export type Prepared = Ready | RefusedLanding

/** Nothing has moved the branch so far. */
export interface Ready {
  readonly kind: 'ready'
  readonly method: LandingMethod
  /** What the intent names: the commit that is pushed, or the validated merge where GitHub makes its own. */
  readonly commit: CommitSha
  /** Moves the branch, or asks GitHub to. Once, or again only after a clear refusal. Rejects when nobody knows what happened. */
  readonly act: () => Promise<Acted>
}

export type Acted =
  { readonly kind: 'done' } | { readonly kind: 'race'; readonly why: string } | RefusedLanding
