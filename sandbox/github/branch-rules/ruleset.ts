// A repository ruleset in the format of the REST API, and whether it applies to a ref.
import { minimatch } from 'minimatch'
import { createValidationError } from '../http/route.ts'
import type { GitHubApiError } from '../http/route.ts'
import type { GitHubPayload, MockGitHubData, MockRepository } from '../github-data.ts'
import type { Ruleset, RulesetRequest } from './rule-types.ts'

// The required parameters of each rule. A rule that the sandbox does not enforce is rejected, because ignoring it
// would look like a pass.
const requiredFieldsByRuleType: Readonly<Record<string, readonly string[]>> = {
  creation: [],
  update: [],
  deletion: [],
  non_fast_forward: [],
  required_linear_history: [],
  required_signatures: [],
  required_deployments: ['required_deployment_environments'],
  workflows: ['workflows'],
  code_scanning: ['code_scanning_tools'],
  branch_name_pattern: ['operator', 'pattern'],
  commit_message_pattern: ['operator', 'pattern'],
  commit_author_email_pattern: ['operator', 'pattern'],
  committer_email_pattern: ['operator', 'pattern'],
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

/** Parses an administrator's request or file. Throws GitHub's 422 if it is invalid. */
export function parseRuleset(
  repo: Pick<MockRepository, 'owner'>,
  body: GitHubPayload,
  source: 'Repository' | 'Organization' = 'Repository',
): RulesetRequest {
  const request = body as unknown as RulesetRequest
  if (typeof request.name !== 'string') throw createValidationError('Ruleset', 'name', 'missing_field')
  if (!['active', 'evaluate', 'disabled'].includes(request.enforcement))
    throw createValidationError('Ruleset', 'enforcement', 'missing_field')
  for (const { type, parameters = {} } of request.rules ?? []) {
    const fields = requiredFieldsByRuleType[type]
    if (fields === undefined)
      throw createInvalidRulesetRuleError(`Invalid rule '${type}': the sandbox does not enforce it`)
    for (const field of fields)
      if (!(field in parameters))
        throw createInvalidRulesetRuleError(`Invalid rule '${type}': ${field} is missing`)
    // Merge queues are available only to organizations.
    if (type === 'merge_queue' && repo.owner.type === 'User')
      throw createInvalidRulesetRuleError(`Invalid rule '${type}'`)
    if (source === 'Organization' && ['merge_queue', 'required_deployments'].includes(type))
      throw createInvalidRulesetRuleError(`Invalid rule '${type}'`)
  }
  for (const { actor_type, actor_id } of request.bypass_actors ?? [])
    if (actor_type === 'Integration' && repo.owner.type === 'User')
      throw createInvalidRulesetRuleError(
        `Actor ${actor_id ?? ''} must be part of the ruleset source or owner organization`,
      )
  return request
}

/** A ruleset from an administrator's request. `organization` is null for a ruleset of the repository. */
export function createRuleset(
  state: MockGitHubData,
  request: RulesetRequest,
  organization: string | null,
): Ruleset {
  const at = state.timestamp()
  return {
    target: 'branch',
    bypass_actors: [],
    conditions: {},
    rules: [],
    ...request,
    id: state.nextId(),
    organization,
    createdAt: at,
    updatedAt: at,
  }
}

const createInvalidRulesetRuleError = (message: string): GitHubApiError =>
  createValidationError('RepositoryRuleset', 'rules', 'custom', message)

const rulesetGlobOptions = { dot: true, nonegate: true, nocomment: true } as const

/** An organization's ruleset names its repositories: https://docs.github.com/rest/orgs/rules#create-an-organization-repository-ruleset */
function rulesetAppliesToRepository(repo: MockRepository, { conditions }: Ruleset): boolean {
  if (conditions.repository_name === undefined) return true
  const { include = [], exclude = [] } = conditions.repository_name
  const matches = (pattern: string): boolean =>
    pattern === '~ALL' || minimatch(repo.name, pattern, rulesetGlobOptions)
  return include.some(matches) && !exclude.some(matches)
}

/** Whether an active ruleset applies to this ref. */
export function rulesetAppliesToRef(repo: MockRepository, ruleset: Ruleset, ref: string): boolean {
  if (!rulesetAppliesToRepository(repo, ruleset)) return false
  const folder = { branch: 'refs/heads/', tag: 'refs/tags/', push: undefined }[ruleset.target]
  if (ruleset.enforcement !== 'active' || folder === undefined || !ref.startsWith(folder)) return false
  const { include = [], exclude = [] } = ruleset.conditions.ref_name ?? {}
  const matches = (pattern: string): boolean =>
    pattern === '~ALL' ||
    (pattern === '~DEFAULT_BRANCH'
      ? ref === `refs/heads/${repo.defaultBranch}`
      : minimatch(ref, pattern, rulesetGlobOptions))
  return include.some(matches) && !exclude.some(matches)
}
