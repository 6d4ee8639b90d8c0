// Rulesets and branch protection as GitHub's REST answers show them, to those who may see them.
import { mayAdminister } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { protectedChecks, protectionOf } from '../branch-rules/branch-protection.ts'
import type { BranchProtection, Named } from '../branch-rules/rule-shapes.ts'
import { bypassMode } from '../branch-rules/bypass.ts'
import { rulesetsFor } from '../branch-rules/layers.ts'
import type { Ruleset } from '../branch-rules/rule-shapes.ts'
import { accountByLogin } from '../world.ts'
import type { Payload, Repo, World } from '../world.ts'
import { accountView, appView, nodeId, teamView } from './account-view.ts'
import { apiUrl, fullName, webUrl } from './repository-view.ts'

const source = (repo: Repo, { organization }: Ruleset): Payload =>
  organization === null
    ? { source_type: 'Repository', source: fullName(repo) }
    : { source_type: 'Organization', source: organization }

/** A ruleset in a list: without its rules. */
export function rulesetSummary(world: World, repo: Repo, ruleset: Ruleset): Payload {
  const { id, name, target, enforcement, createdAt, updatedAt } = ruleset
  return {
    id,
    name,
    target,
    ...source(repo, ruleset),
    enforcement,
    node_id: nodeId('RepositoryRuleset', id),
    _links: {
      self: { href: `${apiUrl(world, repo)}/rulesets/${id}` },
      html: { href: `${webUrl(world, repo)}/rules/${id}` },
    },
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

/** A ruleset with its rules. Only who may change it sees who can bypass it; everyone sees whether they can. */
export function rulesetView(world: World, repo: Repo, ruleset: Ruleset, caller: Caller): Payload {
  const { conditions, rules, bypass_actors } = ruleset
  const mode = bypassMode(world, repo, caller, bypass_actors)
  const { include = [], exclude = [] } = conditions.ref_name ?? {}
  return {
    ...rulesetSummary(world, repo, ruleset),
    conditions: { ...conditions, ref_name: { include, exclude } },
    rules,
    ...(mayAdminister(world, caller, repo)
      ? { bypass_actors: bypass_actors.map((it) => ({ bypass_mode: 'always', ...it })) }
      : {}),
    current_user_can_bypass: mode === 'pull_request' ? 'pull_requests_only' : mode,
  }
}

/** All rules of all rulesets that are in force for a branch, there or not. Classic protection is not among them. */
export function branchRulesView(repo: Repo, branch: string): Payload[] {
  return rulesetsFor(repo, `refs/heads/${branch}`).flatMap((ruleset) =>
    ruleset.rules.map((rule) => ({
      ...rule,
      ruleset_source_type: source(repo, ruleset)['source_type'],
      ruleset_source: source(repo, ruleset)['source'],
      ruleset_id: ruleset.id,
    })),
  )
}

/** What a branch's own answer says of classic protection, to everyone who can read it. */
export function protectionSummary(repo: Repo, branch: string): Payload {
  const protection = protectionOf(repo, branch)
  const checks = protection?.required_status_checks ? protectedChecks(protection) : []
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

function namedView(world: World, repo: Repo, { users = [], teams = [], apps = [] }: Named): Payload {
  return {
    users: users.flatMap((login) => {
      const account = accountByLogin(world, login)
      return account === undefined ? [] : [accountView(world, account)]
    }),
    teams: world.teams
      .filter(({ organization, slug }) => organization === repo.owner && teams.includes(slug))
      .map((it) => teamView(world, it)),
    apps: [...world.apps.values()].filter(({ slug }) => apps.includes(slug)).map((it) => appView(world, it)),
  }
}

/** `GET /branches/{branch}/protection`; with `made` as `PUT` answers. */
export function protectionView(
  world: World,
  repo: Repo,
  branch: string,
  protection: BranchProtection,
): Payload {
  const url = `${apiUrl(world, repo)}/branches/${encodeURIComponent(branch)}/protection`
  const { required_status_checks: status, restrictions } = protection
  const checks = protectedChecks(protection)
  const on = (value: boolean | null | undefined): Payload => ({ enabled: value === true })
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
    enforce_admins: { url: `${url}/enforce_admins`, ...on(protection.enforce_admins) },
    ...reviewsPart(world, repo, url, protection),
    ...(restrictions
      ? {
          restrictions: {
            url: `${url}/restrictions`,
            users_url: `${url}/restrictions/users`,
            teams_url: `${url}/restrictions/teams`,
            apps_url: `${url}/restrictions/apps`,
            ...namedView(world, repo, restrictions),
          },
        }
      : {}),
    required_linear_history: on(protection.required_linear_history),
    required_signatures: { url: `${url}/required_signatures`, enabled: protection.required_signatures },
    allow_force_pushes: on(protection.allow_force_pushes),
    allow_deletions: on(protection.allow_deletions),
    block_creations: on(protection.block_creations),
    required_conversation_resolution: on(protection.required_conversation_resolution),
    lock_branch: on(protection.lock_branch),
    allow_fork_syncing: on(protection.allow_fork_syncing),
  }
}

function reviewsPart(world: World, repo: Repo, url: string, protection: BranchProtection): Payload {
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
      ...(allowed ? { bypass_pull_request_allowances: namedView(world, repo, allowed) } : {}),
    },
  }
}

/** Classic protection as webhooks show it: each setting by whom it binds. */
export function protectionRuleView(
  world: World,
  repo: Repo,
  pattern: string,
  protection: BranchProtection,
): Payload {
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = protection
  const { users = [], teams = [], apps = [] } = restrictions ?? {}
  const level = (on: unknown): string =>
    !on ? 'off' : protection.enforce_admins === true ? 'everyone' : 'non_admins'
  return {
    id: repo.id,
    repository_id: repo.id,
    name: pattern,
    created_at: world.timestamp(),
    updated_at: world.timestamp(),
    pull_request_reviews_enforcement_level: level(reviews),
    required_approving_review_count: reviews?.required_approving_review_count ?? 0,
    dismiss_stale_reviews_on_push: reviews?.dismiss_stale_reviews ?? false,
    require_code_owner_review: reviews?.require_code_owner_reviews ?? false,
    authorized_dismissal_actors_only: reviews?.dismissal_restrictions !== undefined,
    ignore_approvals_from_contributors: false,
    require_last_push_approval: reviews?.require_last_push_approval ?? false,
    required_status_checks: protectedChecks(protection).map(({ context }) => context),
    required_status_checks_enforcement_level: level(checks),
    strict_required_status_checks_policy: checks?.strict ?? false,
    signature_requirement_enforcement_level: level(protection.required_signatures),
    linear_history_requirement_enforcement_level: level(protection.required_linear_history),
    lock_branch_enforcement_level: level(protection.lock_branch),
    admin_enforced: protection.enforce_admins === true,
    allow_force_pushes_enforcement_level: level(protection.allow_force_pushes),
    allow_deletions_enforcement_level: level(protection.allow_deletions),
    merge_queue_enforcement_level: 'off',
    required_deployments_enforcement_level: 'off',
    required_conversation_resolution_level: level(protection.required_conversation_resolution),
    authorized_actors_only: Boolean(restrictions),
    authorized_actor_names: [...users, ...teams, ...apps],
  }
}
