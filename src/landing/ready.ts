// What every landing method offers: preparation, then one act that moves the branch.
import type { CommitSha } from '../change/ids.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { LandOptions, Planned, RefusedLanding } from './landing-options.ts'

export interface Step extends Planned {
  readonly permit: MergePermit
  readonly options: LandOptions
  /** The permits of a train that ends in this one. The push includes all of them. */
  readonly train?: readonly MergePermit[]
}

export type Prepared = Ready | RefusedLanding

export interface Ready {
  readonly kind: 'ready'
  readonly method: LandingMethod
  /** The commit to push, or the validated merge if GitHub makes its own. */
  readonly commit: CommitSha
  /** Moves the branch or asks GitHub to. Repeat only after a clear refusal. Rejects when the outcome is unknown. */
  readonly act: () => Promise<Acted>
}

export type Acted =
  { readonly kind: 'done' } | { readonly kind: 'race'; readonly why: string } | RefusedLanding
