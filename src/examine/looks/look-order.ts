// What passes between the App and a process that looks at one pull request for it: plain values, that can be copied.
import type { Question } from '../../checks/questions.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import type { CommandDecision } from '../../gate/commands.ts'
import type { GateInput } from '../../gate/decide.ts'
import type { GitErrorCode } from '../../git/git-error.ts'
import type { DescribedChange, PullMemory } from '../../ports/pull-memory.ts'
import type { Examination } from '../examine.ts'
import type { LookBudget } from './look-budget.ts'
import type { Told } from './what-to-tell.ts'

export interface LookOrder {
  readonly snapshot: Snapshot
  /** The folder of the repository's mirror, which has the snapshot's commits. */
  readonly mirror: string
  /** A folder for what is read of files, by their content. */
  readonly facts: string
  readonly budget: LookBudget
  /** Path of the operator's opm. Absent: none is asked. */
  readonly opm?: string
}

export type LookAnswer =
  | {
      readonly kind: 'seen'
      readonly configDigest: string
      readonly epoch: number
      readonly commands: readonly CommandDecision[]
      readonly carried?: Examination['carried']
      readonly described?: DescribedChange | undefined
      readonly told: Told
      /** The verdict is made by whoever gave the order: a permit cannot be copied, and a process that reads strangers' bytes mints none. */
      readonly gate: GateInput
    }
  | { readonly kind: 'too-large'; readonly why: string }
  | {
      readonly kind: 'git-error'
      readonly code: GitErrorCode
      readonly message: string
      readonly retryable: boolean
    }

/** What of the memory a look needs. Nothing that records what people were shown or said: that is the App's to do. */
export type LookMemory = Omit<PullMemory, 'recordShown' | 'recordCommand'>

export const memoryCalls: Readonly<Record<keyof LookMemory, true>> = {
  observe: true,
  shownHeads: true,
  commands: true,
  firstSeenReviews: true,
  firstSeenApprovals: true,
  keepChange: true,
  keptChanges: true,
  firstSeenAccounts: true,
  pushersOf: true,
  hasSeenPushes: true,
  recentCommands: true,
}

export type LookRequest =
  | { readonly kind: 'ask'; readonly question: Question }
  | { readonly kind: 'open-pulls' }
  | { readonly kind: 'memory'; readonly name: keyof LookMemory; readonly args: unknown[] }
