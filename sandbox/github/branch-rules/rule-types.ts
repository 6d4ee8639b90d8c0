// The types of branch rules in the REST API. This module contains only types, because the state uses them, and the
// evaluation uses both.
import type { MergeMethod } from '../merge-method.ts'

export interface BranchRule {
  readonly type: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

export interface BypassActor {
  readonly actor_id?: number | null
  readonly actor_type: 'Integration' | 'OrganizationAdmin' | 'RepositoryRole' | 'Team' | 'DeployKey' | 'User'
  readonly bypass_mode?: 'always' | 'pull_request' | 'exempt'
}

/** The format that an administrator sends, and that "Import a ruleset" reads from a file. */
export interface RulesetRequest {
  readonly name: string
  readonly target?: 'branch' | 'tag' | 'push'
  readonly enforcement: 'active' | 'evaluate' | 'disabled'
  readonly bypass_actors?: readonly BypassActor[]
  readonly conditions?: {
    readonly ref_name?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] }
    /** For an organization's ruleset. */
    readonly repository_name?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] }
  }
  readonly rules?: readonly BranchRule[]
}

export interface Ruleset extends Required<RulesetRequest> {
  readonly id: number
  /** The organization that owns the ruleset. Null: the repository. */
  readonly organization: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export interface PullRequestRuleParameters {
  readonly required_approving_review_count: number
  readonly dismiss_stale_reviews_on_push: boolean
  readonly require_code_owner_review: boolean
  readonly require_last_push_approval: boolean
  readonly required_review_thread_resolution: boolean
  readonly allowed_merge_methods?: readonly MergeMethod[]
  readonly required_reviewers?: readonly {
    readonly minimum_approvals: number
    readonly file_patterns: readonly string[]
    readonly reviewer: { readonly id: number; readonly type: 'Team' }
  }[]
}

export interface StatusChecksRuleParameters {
  readonly strict_required_status_checks_policy: boolean
  readonly do_not_enforce_on_create?: boolean
  readonly required_status_checks: readonly {
    readonly context: string
    readonly integration_id?: number | null
  }[]
}

export interface MergeQueueRuleParameters {
  readonly check_response_timeout_minutes: number
  readonly grouping_strategy: 'ALLGREEN' | 'HEADGREEN'
  readonly max_entries_to_build: number
  readonly max_entries_to_merge: number
  readonly merge_method: 'MERGE' | 'SQUASH' | 'REBASE'
  readonly min_entries_to_merge: number
  readonly min_entries_to_merge_wait_minutes: number
}

export interface RuleParametersByType {
  readonly pull_request: PullRequestRuleParameters
  readonly required_status_checks: StatusChecksRuleParameters
  readonly merge_queue: MergeQueueRuleParameters
}

/** Users by login, teams and apps by slug. */
export interface BranchProtectionActorNames {
  readonly users?: readonly string[]
  readonly teams?: readonly string[]
  readonly apps?: readonly string[]
}

export interface BranchProtectionRequest {
  readonly required_status_checks?: {
    readonly strict: boolean
    readonly contexts?: readonly string[]
    readonly checks?: readonly { readonly context: string; readonly app_id?: number | null }[]
  } | null
  readonly enforce_admins?: boolean | null
  readonly required_pull_request_reviews?: {
    readonly dismissal_restrictions?: BranchProtectionActorNames
    readonly dismiss_stale_reviews?: boolean
    readonly require_code_owner_reviews?: boolean
    readonly required_approving_review_count?: number
    readonly require_last_push_approval?: boolean
    readonly bypass_pull_request_allowances?: BranchProtectionActorNames
  } | null
  readonly restrictions?: BranchProtectionActorNames | null
  readonly required_linear_history?: boolean
  readonly allow_force_pushes?: boolean | null
  readonly allow_deletions?: boolean
  readonly block_creations?: boolean
  readonly required_conversation_resolution?: boolean
  readonly lock_branch?: boolean
  readonly allow_fork_syncing?: boolean
}

export interface BranchProtection extends BranchProtectionRequest {
  /** Has a separate endpoint. */
  readonly required_signatures: boolean
}
