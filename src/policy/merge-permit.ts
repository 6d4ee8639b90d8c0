// Proof that one exact commit may become the tip of one branch. The class is exported as a type only, so that only
// mintMergePermit() can create it. Every merge requires this value.
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { CommitSha, PullNumber, TreeSha } from '../pull-request/ids.ts'

export interface ValidatedMerge {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly baseRef: string
  readonly base: CommitSha
  readonly head: CommitSha
  readonly commit: CommitSha
  readonly tree: TreeSha
  /** Digest of the configuration at `base`. */
  readonly config: string
}

class Permit {
  readonly #minted = true
  readonly landing: ValidatedMerge
  constructor(merge: ValidatedMerge) {
    this.landing = merge
  }
  /** The private field identifies permits. An object of the same shape does not pass. */
  static is(value: unknown): value is Permit {
    return typeof value === 'object' && value !== null && #minted in value
  }
}

export type MergePermit = Permit

/** Only policy/decide.ts may import this; scripts/layers.ts enforces it. */
export function mintMergePermit(merge: ValidatedMerge): MergePermit {
  return new Permit(Object.freeze({ ...merge }))
}

/** Also checks at run time, because JavaScript callers have no types. */
export function isMergePermit(value: unknown): value is MergePermit {
  return Permit.is(value)
}
