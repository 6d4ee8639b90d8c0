// The external events of a run as data: user actions, faults, and their times. A plan also contains the seed that
// determines the order of events, so the same plan always produces the same run.
import type { BotConfigVariantName, CatalogFlaw } from './world/repository-contents.ts'

/** The edit that a commit makes to the files of its parent. */
export type PlannedFileEdit =
  | { readonly kind: 'release'; readonly package: string; readonly flaw?: CatalogFlaw }
  | { readonly kind: 'extra'; readonly package: string; readonly part: number }
  /** Adds an account to a package's list of owners, or removes it. */
  | { readonly kind: 'own' | 'disown'; readonly package: string; readonly who: string }
  | { readonly kind: 'add-package'; readonly package: string; readonly who: string }
  | { readonly kind: 'configure'; readonly config: BotConfigVariantName }
  | { readonly kind: 'maintain'; readonly who: string }
  | { readonly kind: 'workflow' | 'readme' }
  | { readonly kind: 'link' | 'executable' | 'attributes'; readonly package: string }
  /** An empty commit. */
  | { readonly kind: 'nothing' }

export const repositoryRoles = ['read', 'write', 'maintain'] as const
export const pullRequestLabels = ['hold', 'approved', 'lgtm'] as const

/**
 * `pull` numbers pull requests in the order in which they were opened. If the pull request does not exist yet,
 * nothing happens.
 */
export type UserAction =
  | {
      readonly do: 'open'
      readonly by: string
      readonly edits: readonly PlannedFileEdit[]
      readonly base?: string
      readonly draft?: boolean
      /** Stacked on another pull request. */
      readonly stacked?: boolean
    }
  | {
      readonly do: 'push'
      readonly by: string
      readonly pull: number
      readonly edits: readonly PlannedFileEdit[]
      readonly force?: boolean
    }
  /** Restores the head before the current one. */
  | { readonly do: 'return'; readonly by: string; readonly pull: number }
  | { readonly do: 'update'; readonly by: string; readonly pull: number }
  | { readonly do: 'retarget'; readonly by: string; readonly pull: number; readonly base: string }
  | { readonly do: 'close' | 'reopen' | 'draft' | 'ready'; readonly by: string; readonly pull: number }
  | {
      readonly do: 'review'
      readonly by: string
      readonly pull: number
      readonly state: 'approved' | 'changes-requested' | 'commented'
    }
  | { readonly do: 'dismiss'; readonly by: string; readonly pull: number }
  | { readonly do: 'comment'; readonly by: string; readonly pull: number; readonly body: string }
  /** The newest of the user comments on it. */
  | {
      readonly do: 'edit-comment'
      readonly by: string
      readonly pull: number
      readonly body: string
      readonly isHidden?: boolean
    }
  | { readonly do: 'delete-comment'; readonly by: string; readonly pull: number }
  | { readonly do: 'delete-report'; readonly by: string; readonly pull: number }
  | {
      readonly do: 'label'
      readonly by: string
      readonly pull: number
      readonly label: string
      readonly off?: boolean
    }
  | { readonly do: 'forge-check'; readonly by: string; readonly pull: number }
  | { readonly do: 'push-base'; readonly by: string; readonly edits: readonly PlannedFileEdit[] }
  | { readonly do: 'merge-by-hand'; readonly by: string; readonly pull: number }
  | { readonly do: 'role'; readonly who: string; readonly role: (typeof repositoryRoles)[number] }
  | { readonly do: 'rules'; readonly rules: 'none' | 'required checks' | 'linear' | 'locked' }

/** `times`: consecutive calls. A fault starts with the first call of its kind at or after its step. */
export type InjectedFault =
  /** GitHub or Git returns an error, before or after it handles the request. */
  | {
      readonly fault: 'fails'
      readonly to: 'github' | 'git' | 'push' | 'merge' | 'store' | 'registry'
      readonly when: 'before' | 'after'
      readonly times: number
    }
  | { readonly fault: 'limited'; readonly times: number; readonly seconds: number }
  /** GitHub's data about a pull request is this many steps old. */
  | { readonly fault: 'stale'; readonly steps: number; readonly times: number }
  /** `to`: at the next call with this destination. Otherwise at the next call. */
  | { readonly fault: 'crash'; readonly to?: 'push' | 'merge' }
  | { readonly fault: 'pause'; readonly seconds: number }
  | { readonly fault: 'clock'; readonly seconds: number }
  | { readonly fault: 'lose-delivery' | 'double-delivery'; readonly times: number }
  | { readonly fault: 'lose-cache' }
  | { readonly fault: 'lose-mirror' }

export type PlannedEvent = { readonly at: number } & (UserAction | InjectedFault)

export interface SimulationPlan {
  readonly seed: number
  readonly instances: number
  /** Whether GitHub sends webhooks at all. */
  readonly webhooks: boolean
  readonly events: readonly PlannedEvent[]
}

export function formatPlannedEvent({ at, ...event }: PlannedEvent): string {
  const { do: action, fault, ...rest } = event as { do?: string; fault?: string } & Record<string, unknown>
  const details = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return `${at}: ${fault === undefined ? '' : 'FAULT '}${action ?? fault} ${details.join(' ')}`.trimEnd()
}
