// REST routes of rulesets and classic branch protection: what anyone may read, and the rulesets that administrators
// import.
import { canAdministerRepository } from '../http/auth.ts'
import type { BranchProtection } from '../branch-rules/rule-types.ts'
import { collectRulesets } from '../branch-rules/rule-layers.ts'
import { parseRuleset } from '../branch-rules/ruleset.ts'
import type { Ruleset, RulesetRequest } from '../branch-rules/rule-types.ts'
import { getActingAccount } from '../github-state.ts'
import type { MockGitHubState } from '../github-state.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  respondNoContent,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
} from '../http/route.ts'
import type { RepositoryRouteRequest, Route } from '../http/route.ts'
import {
  toBranchRulesView,
  toBranchProtectionRuleView,
  toBranchProtectionView,
  toRulesetSummaryView,
  toRulesetView,
} from '../views/rule-view.ts'
import type { MockAccount, MockRepository } from '../github-data.ts'

const administrationWritePermission = { administration: 'write' } as const

/** Users need the admin role. The permissions of apps were already checked. */
function requireRepositoryAdmin({ world, caller, repo }: RepositoryRouteRequest): void {
  if (!canAdministerRepository(world, caller, repo))
    throw new GitHubApiError(403, 'Must have admin rights to Repository.')
}

/** Tells the apps of a ruleset: https://docs.github.com/webhooks/webhook-events-and-payloads#repository_ruleset */
export function emitRulesetEvent(
  { world, webhooks }: MockGitHubState,
  repo: MockRepository,
  ruleset: Ruleset,
  action: 'created' | 'deleted',
  by: MockAccount,
): void {
  const repository_ruleset = toRulesetView(world, repo, ruleset, { kind: 'user', account: by })
  webhooks.emit('repository_ruleset', action, repo, by, { repository_ruleset })
}

/** Tells the apps of classic protection: https://docs.github.com/webhooks/webhook-events-and-payloads#branch_protection_rule */
export function emitBranchProtectionEvent(
  { world, webhooks }: MockGitHubState,
  repo: MockRepository,
  [pattern, protection]: readonly [string, BranchProtection],
  action: 'created' | 'edited' | 'deleted',
  by: MockAccount,
): void {
  const rule = toBranchProtectionRuleView(world, repo, pattern, protection)
  webhooks.emit('branch_protection_rule', action, repo, by, {
    rule,
    ...(action === 'edited' ? { changes: {} } : {}),
  })
}

/** Stores a ruleset, and notifies the apps. */
export function saveRulesetAndEmitEvent(
  state: MockGitHubState,
  repo: MockRepository,
  request: RulesetRequest,
  by: MockAccount,
): Ruleset {
  const { world } = state
  const at = world.timestamp()
  const ruleset: Ruleset = {
    id: world.nextId(),
    organization: null,
    createdAt: at,
    updatedAt: at,
    name: request.name,
    enforcement: request.enforcement,
    target: request.target ?? 'branch',
    bypass_actors: request.bypass_actors ?? [],
    conditions: request.conditions ?? {},
    rules: request.rules ?? [],
  }
  repo.rulesets.set(ruleset.id, ruleset)
  emitRulesetEvent(state, repo, ruleset, 'created', by)
  return ruleset
}

export function createRuleRoutes(state: MockGitHubState): Route[] {
  return [...createRulesetRoutes(state), createBranchProtectionRoute(state)]
}

function createRulesetRoutes(state: MockGitHubState): Route[] {
  const { world } = state
  const requireRuleset = (call: RepositoryRouteRequest): Ruleset => {
    const found = call.repo.rulesets.get(parseIdParam(call, 'ruleset_id'))
    if (found === undefined) throw createNotFoundError()
    return found
  }
  /** Readers see the organization's rulesets, too, but only the organization can change them. */
  const requireReadableRuleset = (call: RepositoryRouteRequest): Ruleset => {
    const found = collectRulesets(call.repo).find(({ id }) => id === parseIdParam(call, 'ruleset_id'))
    if (found === undefined) throw createNotFoundError()
    return found
  }
  const read = { metadata: 'read' } as const
  return [
    defineRepositoryRoute('GET /rules/branches/{branch}', read, (call) =>
      paginate(call, toBranchRulesView(call.repo, call.params['branch'] ?? '')),
    ),
    defineRepositoryRoute('GET /rulesets', read, (call) =>
      paginate(
        call,
        collectRulesets(call.repo).map((it) => toRulesetSummaryView(world, call.repo, it)),
      ),
    ),
    defineRepositoryRoute('GET /rulesets/{ruleset_id}', read, (call) =>
      respondOk(toRulesetView(world, call.repo, requireReadableRuleset(call), call.caller)),
    ),
    defineRepositoryRoute('POST /rulesets', administrationWritePermission, (call) => {
      requireRepositoryAdmin(call)
      const stored = saveRulesetAndEmitEvent(
        state,
        call.repo,
        parseRuleset(call.repo, call.body),
        getActingAccount(call.caller),
      )
      return respondCreated(toRulesetView(world, call.repo, stored, call.caller))
    }),
    defineRepositoryRoute('DELETE /rulesets/{ruleset_id}', administrationWritePermission, (call) => {
      requireRepositoryAdmin(call)
      const ended = requireRuleset(call)
      call.repo.rulesets.delete(ended.id)
      emitRulesetEvent(state, call.repo, ended, 'deleted', getActingAccount(call.caller))
      return respondNoContent()
    }),
  ]
}

function createBranchProtectionRoute({ world }: MockGitHubState): Route {
  return defineRepositoryRoute('GET /branches/{branch}/protection', { administration: 'read' }, (call) => {
    const { repo, params, caller } = call
    const branch = params['branch'] ?? ''
    // Users who are not administrators do not learn whether protection exists.
    if (!canAdministerRepository(world, caller, repo, 'read')) throw createNotFoundError()
    if (!repo.knownRefs.has(`refs/heads/${branch}`)) throw new GitHubApiError(404, 'Branch not found')
    const protection = repo.protections.get(branch)
    if (protection === undefined) throw new GitHubApiError(404, 'Branch not protected')
    return respondOk(toBranchProtectionView(world, repo, branch, protection))
  })
}
