// Proof that one exact commit may become the tip of one branch. The class is exported as a type only, so that only
// createMergePermit() can create it. Every merge requires this value.
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

class SealedMergePermit {
  readonly #minted = true
  readonly merge: ValidatedMerge
  constructor(merge: ValidatedMerge) {
    this.merge = merge
  }
  /** The private field identifies permits. An object of the same shape does not pass. */
  static is(value: unknown): value is SealedMergePermit {
    return typeof value === 'object' && value !== null && #minted in value
  }
}

export type MergePermit = SealedMergePermit

/** Only policy/decide.ts may import this; scripts/layers.ts enforces it. */
export function createMergePermit(merge: ValidatedMerge): MergePermit {
  return new SealedMergePermit(Object.freeze({ ...merge }))
}

/** Also checks at run time, because JavaScript callers have no types. */
export const isMergePermit = (value: unknown): value is MergePermit => SealedMergePermit.is(value)
