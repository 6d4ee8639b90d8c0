// Rulesets and branch protection as GitHub's REST answers show them, to users who can see them.
import { canAdministerRepository } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { parseRequiredChecks, findBranchProtection } from '../branch-rules/branch-protection.ts'
import type { BranchProtection, BranchProtectionActorNames } from '../branch-rules/rule-types.ts'
import { computeBypassMode } from '../branch-rules/bypass.ts'
import { findRulesetsForRef } from '../branch-rules/rule-layers.ts'
import type { Ruleset } from '../branch-rules/rule-types.ts'
import { findAccountByLogin } from '../github-data.ts'
import type { GitHubPayload, MockRepository } from '../github-data.ts'
import { toAccountView, toAppView, toNodeId, toTeamView } from './account-view.ts'
import { getRepositoryApiUrl, getRepositoryFullName, getRepositoryWebUrl } from './repository-view.ts'

const toRulesetSourceView = (repo: MockRepository, { organization }: Ruleset): GitHubPayload =>
  organization === null
    ? { source_type: 'Repository', source: getRepositoryFullName(repo) }
    : { source_type: 'Organization', source: organization }

/** A ruleset in a list, without its rules. */
export function toRulesetSummaryView(repo: MockRepository, ruleset: Ruleset): GitHubPayload {
  const { id, name, target, enforcement, createdAt, updatedAt } = ruleset
  return {
    id,
    name,
    target,
    ...toRulesetSourceView(repo, ruleset),
    enforcement,
    node_id: toNodeId('RepositoryRuleset', id),
    _links: {
      self: { href: `${getRepositoryApiUrl(repo)}/rulesets/${id}` },
      html: { href: `${getRepositoryWebUrl(repo)}/rules/${id}` },
    },
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

/**
 * A ruleset with its rules. Only users who can change it see its bypass list. Everyone sees whether they can bypass
 * it.
 */
export function toRulesetView(repo: MockRepository, ruleset: Ruleset, caller: ApiCaller): GitHubPayload {
  const { conditions, rules, bypass_actors } = ruleset
  const mode = computeBypassMode(repo, caller, bypass_actors)
  const { include = [], exclude = [] } = conditions.ref_name ?? {}
  return {
    ...toRulesetSummaryView(repo, ruleset),
    conditions: { ...conditions, ref_name: { include, exclude } },
    rules,
    ...(canAdministerRepository(caller, repo)
      ? { bypass_actors: bypass_actors.map((it) => ({ bypass_mode: 'always', ...it })) }
      : {}),
    current_user_can_bypass: mode === 'pull_request' ? 'pull_requests_only' : mode,
  }
}

/**
 * All rules of all rulesets that are in force for a branch, even if it does not exist. Excludes classic protection.
 */
export function toBranchRulesView(repo: MockRepository, branch: string): GitHubPayload[] {
  return findRulesetsForRef(repo, `refs/heads/${branch}`).flatMap((ruleset) =>
    ruleset.rules.map((rule) => ({
      ...rule,
      ruleset_source_type: toRulesetSourceView(repo, ruleset)['source_type'],
      ruleset_source: toRulesetSourceView(repo, ruleset)['source'],
      ruleset_id: ruleset.id,
    })),
  )
}

/** The summary of classic protection in the branch's own answer, visible to everyone who can read the branch. */
export function toBranchProtectionSummary(repo: MockRepository, branch: string): GitHubPayload {
  const protection = findBranchProtection(repo, branch)
  const checks = protection?.required_status_checks ? parseRequiredChecks(protection) : []
  const level = !protection?.required_status_checks
    ? 'off'
    : protection.enforce_admins === true
      ? 'everyone'
      : 'non_admins'
  return {
    enabled: protection !== undefined,
    required_status_checks: {
      enforcement_level: level,
      contexts: checks.map(({ context }) => context),
      checks,
    },
  }
}

function toProtectionActorsView(
  repo: MockRepository,
  { users = [], teams = [], apps = [] }: BranchProtectionActorNames,
): GitHubPayload {
  const { github } = repo
  return {
    users: users.flatMap((login) => {
      const account = findAccountByLogin(github, login)
      return account === undefined ? [] : [toAccountView(account)]
    }),
    teams: github.teams
      .filter(({ organization, slug }) => organization === repo.owner && teams.includes(slug))
      .map((it) => toTeamView(it)),
    apps: [...github.apps.values()].filter(({ slug }) => apps.includes(slug)).map((it) => toAppView(it)),
  }
}

/** `GET /branches/{branch}/protection`, or with `made` the answer of `PUT`. */
export function toBranchProtectionView(
  repo: MockRepository,
  branch: string,
  protection: BranchProtection,
): GitHubPayload {
  const url = `${getRepositoryApiUrl(repo)}/branches/${encodeURIComponent(branch)}/protection`
  const { required_status_checks: status, restrictions } = protection
  const checks = parseRequiredChecks(protection)
  const enabledView = (value: boolean | null | undefined): GitHubPayload => ({ enabled: value === true })
  return {
    url,
    ...(status
      ? {
          required_status_checks: {
            url: `${url}/required_status_checks`,
            strict: status.strict,
            contexts: checks.map(({ context }) => context),
            contexts_url: `${url}/required_status_checks/contexts`,
            checks,
          },
        }
      : {}),
    enforce_admins: { url: `${url}/enforce_admins`, ...enabledView(protection.enforce_admins) },
    ...toRequiredReviewsView(repo, url, protection),
    ...(restrictions
      ? {
          restrictions: {
            url: `${url}/restrictions`,
            users_url: `${url}/restrictions/users`,
            teams_url: `${url}/restrictions/teams`,
            apps_url: `${url}/restrictions/apps`,
            ...toProtectionActorsView(repo, restrictions),
          },
        }
      : {}),
    required_linear_history: enabledView(protection.required_linear_history),
    required_signatures: { url: `${url}/required_signatures`, enabled: protection.required_signatures },
    allow_force_pushes: enabledView(protection.allow_force_pushes),
    allow_deletions: enabledView(protection.allow_deletions),
    block_creations: enabledView(protection.block_creations),
    required_conversation_resolution: enabledView(protection.required_conversation_resolution),
    lock_branch: enabledView(protection.lock_branch),
    allow_fork_syncing: enabledView(protection.allow_fork_syncing),
  }
}

function toRequiredReviewsView(
  repo: MockRepository,
  url: string,
  protection: BranchProtection,
): GitHubPayload {
  const reviews = protection.required_pull_request_reviews
  if (!reviews) return {}
  const allowed = reviews.bypass_pull_request_allowances
  return {
    required_pull_request_reviews: {
      url: `${url}/required_pull_request_reviews`,
      dismiss_stale_reviews: reviews.dismiss_stale_reviews ?? false,
      require_code_owner_reviews: reviews.require_code_owner_reviews ?? false,
      required_approving_review_count: reviews.required_approving_review_count ?? 1,
      require_last_push_approval: reviews.require_last_push_approval ?? false,
      ...(allowed ? { bypass_pull_request_allowances: toProtectionActorsView(repo, allowed) } : {}),
    },
  }
}

/** Classic protection as webhooks show it: each setting with the users it applies to. */
export function toBranchProtectionRuleView(
  repo: MockRepository,
  pattern: string,
  protection: BranchProtection,
): GitHubPayload {
  const { github } = repo
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = protection
  const { users = [], teams = [], apps = [] } = restrictions ?? {}
  const enforcementLevel = (on: unknown): string =>
    !on ? 'off' : protection.enforce_admins === true ? 'everyone' : 'non_admins'
  return {
    id: repo.id,
    repository_id: repo.id,
    name: pattern,
    created_at: github.timestamp(),
    updated_at: github.timestamp(),
    pull_request_reviews_enforcement_level: enforcementLevel(reviews),
    required_approving_review_count: reviews?.required_approving_review_count ?? 0,
    dismiss_stale_reviews_on_push: reviews?.dismiss_stale_reviews ?? false,
    require_code_owner_review: reviews?.require_code_owner_reviews ?? false,
    authorized_dismissal_actors_only: reviews?.dismissal_restrictions !== undefined,
    ignore_approvals_from_contributors: false,
    require_last_push_approval: reviews?.require_last_push_approval ?? false,
    required_status_checks: parseRequiredChecks(protection).map(({ context }) => context),
    required_status_checks_enforcement_level: enforcementLevel(checks),
    strict_required_status_checks_policy: checks?.strict ?? false,
    signature_requirement_enforcement_level: enforcementLevel(protection.required_signatures),
    linear_history_requirement_enforcement_level: enforcementLevel(protection.required_linear_history),
    lock_branch_enforcement_level: enforcementLevel(protection.lock_branch),
    admin_enforced: protection.enforce_admins === true,
    allow_force_pushes_enforcement_level: enforcementLevel(protection.allow_force_pushes),
    allow_deletions_enforcement_level: enforcementLevel(protection.allow_deletions),
    merge_queue_enforcement_level: 'off',
    required_deployments_enforcement_level: 'off',
    required_conversation_resolution_level: enforcementLevel(protection.required_conversation_resolution),
    authorized_actors_only: Boolean(restrictions),
    authorized_actor_names: [...users, ...teams, ...apps],
  }
}
