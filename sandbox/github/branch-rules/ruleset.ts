// A repository ruleset, as the REST interface takes and gives it, and whether it speaks of a ref.
import { minimatch } from 'minimatch'
import { invalid } from '../http/route.ts'
import type { Refusal } from '../http/route.ts'
import type { MergeMethod, Payload, Repo } from '../world.ts'

export interface Rule {
  readonly type: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

export interface BypassActor {
  readonly actor_id?: number | null
  readonly actor_type: 'Integration' | 'OrganizationAdmin' | 'RepositoryRole' | 'Team' | 'DeployKey' | 'User'
  readonly bypass_mode?: 'always' | 'pull_request' | 'exempt'
}

/** What an administrator sends, and what "Import a ruleset" reads from a file. */
export interface RulesetRequest {
  readonly name: string
  readonly target?: 'branch' | 'tag' | 'push'
  readonly enforcement: 'active' | 'evaluate' | 'disabled'
  readonly bypass_actors?: readonly BypassActor[]
  readonly conditions?: {
    readonly ref_name?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] }
  }
  readonly rules?: readonly Rule[]
}

export interface Ruleset extends Required<RulesetRequest> {
  readonly id: number
  readonly createdAt: string
  readonly updatedAt: string
}

export interface PullRequestParameters {
  readonly required_approving_review_count: number
  readonly dismiss_stale_reviews_on_push: boolean
  readonly require_code_owner_review: boolean
  readonly require_last_push_approval: boolean
  readonly required_review_thread_resolution: boolean
  readonly allowed_merge_methods?: readonly MergeMethod[]
}

export interface StatusCheckParameters {
  readonly strict_required_status_checks_policy: boolean
  readonly do_not_enforce_on_create?: boolean
  readonly required_status_checks: readonly {
    readonly context: string
    readonly integration_id?: number | null
  }[]
}

export interface MergeQueueParameters {
  readonly check_response_timeout_minutes: number
  readonly grouping_strategy: 'ALLGREEN' | 'HEADGREEN'
  readonly max_entries_to_build: number
  readonly max_entries_to_merge: number
  readonly merge_method: 'MERGE' | 'SQUASH' | 'REBASE'
  readonly min_entries_to_merge: number
  readonly min_entries_to_merge_wait_minutes: number
}

// What a rule must say. A rule that the sandbox does not enforce is refused: silence would look like a pass.
const demanded: Readonly<Record<string, readonly string[]>> = {
  creation: [],
  update: [],
  deletion: [],
  non_fast_forward: [],
  required_linear_history: [],
  required_signatures: [],
  required_deployments: ['required_deployment_environments'],
  workflows: ['workflows'],
  code_scanning: ['code_scanning_tools'],
  pull_request: [
    'required_approving_review_count',
    'dismiss_stale_reviews_on_push',
    'require_code_owner_review',
    'require_last_push_approval',
    'required_review_thread_resolution',
  ],
  required_status_checks: ['strict_required_status_checks_policy', 'required_status_checks'],
  merge_queue: [
    'check_response_timeout_minutes',
    'grouping_strategy',
    'max_entries_to_build',
    'max_entries_to_merge',
    'merge_method',
    'min_entries_to_merge',
    'min_entries_to_merge_wait_minutes',
  ],
}

/** Reads a request or a file of an administrator's; throws GitHub's 422 for what it would not take. */
export function readRuleset(repo: Repo, body: Payload): RulesetRequest {
  const request = body as unknown as RulesetRequest
  if (typeof request.name !== 'string') throw invalid('Ruleset', 'name', 'missing_field')
  if (!['active', 'evaluate', 'disabled'].includes(request.enforcement))
    throw invalid('Ruleset', 'enforcement', 'missing_field')
  for (const { type, parameters = {} } of request.rules ?? []) {
    const fields = demanded[type]
    if (fields === undefined) throw problem(`Invalid rule '${type}': the sandbox does not enforce it`)
    for (const field of fields)
      if (!(field in parameters)) throw problem(`Invalid rule '${type}': ${field} is missing`)
    // Merge queues are for organizations.
    if (type === 'merge_queue' && repo.owner.type === 'User') throw problem(`Invalid rule '${type}'`)
  }
  for (const { actor_type, actor_id } of request.bypass_actors ?? [])
    if (actor_type === 'Integration' && repo.owner.type === 'User')
      throw problem(`Actor ${actor_id ?? ''} must be part of the ruleset source or owner organization`)
  return request
}

const problem = (message: string): Refusal => invalid('RepositoryRuleset', 'rules', 'custom', message)

/** Whether a ruleset that is in force speaks of this ref. */
export function appliesTo(repo: Repo, ruleset: Ruleset, ref: string): boolean {
  const folder = { branch: 'refs/heads/', tag: 'refs/tags/', push: undefined }[ruleset.target]
  if (ruleset.enforcement !== 'active' || folder === undefined || !ref.startsWith(folder)) return false
  const { include = [], exclude = [] } = ruleset.conditions.ref_name ?? {}
  const matches = (pattern: string): boolean =>
    pattern === '~ALL' ||
    (pattern === '~DEFAULT_BRANCH'
      ? ref === `refs/heads/${repo.defaultBranch}`
      : minimatch(ref, pattern, { dot: true, nonegate: true, nocomment: true }))
  return include.some(matches) && !exclude.some(matches)
}
