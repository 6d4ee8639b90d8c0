// A MergePermit: proof that one exact commit may become the tip of one branch. Only decide() mints it, and
// nothing else can: the class is exported as a type, its constructor stays in this file's mint().
// A second way to merge does not type-check, because every landing asks for this value.
import type { RepositoryName } from '../change/snapshot.ts'
import type { CommitSha, PullNumber, TreeSha } from '../change/ids.ts'

export interface Landing {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly baseRef: string
  /** The tip that the base branch must still have. */
  readonly base: CommitSha
  readonly head: CommitSha
  /** The validated merge commit (parents: base, head) and its tree. */
  readonly commit: CommitSha
  readonly tree: TreeSha
  /** Digest of the configuration that was in force at `base`. */
  readonly config: string
}

class Permit {
  readonly #minted = true
  readonly landing: Landing
  constructor(landing: Landing) {
    this.landing = landing
  }
  /** Permits are told apart by their private field: an object of the same shape is not one. */
  static is(value: unknown): value is Permit {
    return typeof value === 'object' && value !== null && #minted in value
  }
}

export type MergePermit = Permit

/** For the gate alone: scripts/floors.ts lets nobody but gate/decide.ts import it. */
export function mint(landing: Landing): MergePermit {
  return new Permit(Object.freeze({ ...landing }))
}

/** Doors check what they are handed at run time too: JavaScript callers do not see types. */
export function isMergePermit(value: unknown): value is MergePermit {
  return Permit.is(value)
}
