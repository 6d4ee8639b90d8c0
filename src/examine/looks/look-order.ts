// Messages between the App and a look process: plain values that can be copied.
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
  /** A folder that caches facts about files by content. */
  readonly facts: string
  readonly budget: LookBudget
  /** Path of the operator's opm. Absent: only our own server is used. */
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
      /** The App makes the verdict: a permit cannot be copied, and a process that reads untrusted bytes issues none. */
      readonly gate: GateInput
    }
  | { readonly kind: 'too-large'; readonly why: string }
  | {
      readonly kind: 'git-error'
      readonly code: GitErrorCode
      readonly message: string
      readonly retryable: boolean
    }

/** Excludes recording what people were shown or said, which only the App does. */
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
