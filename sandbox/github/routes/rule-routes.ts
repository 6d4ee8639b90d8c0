// REST routes of rulesets and classic branch protection: what anyone may read, and the rulesets that administrators
// import.
import { canAdministerRepository } from '../http/auth.ts'
import type { BranchProtection } from '../branch-rules/rule-types.ts'
import { collectRulesets } from '../branch-rules/rule-layers.ts'
import { createRuleset, parseRuleset } from '../branch-rules/ruleset.ts'
import type { Ruleset, RulesetRequest } from '../branch-rules/rule-types.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  respondNoContent,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
  getActingAccount,
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
function requireRepositoryAdmin({ caller, repo }: RepositoryRouteRequest): void {
  if (!canAdministerRepository(caller, repo))
    throw new GitHubApiError(403, 'Must have admin rights to Repository.')
}

/** Tells the apps of a ruleset: https://docs.github.com/webhooks/webhook-events-and-payloads#repository_ruleset */
export function emitRulesetEvent(
  repo: MockRepository,
  ruleset: Ruleset,
  action: 'created' | 'deleted',
  by: MockAccount,
): void {
  const repository_ruleset = toRulesetView(repo, ruleset, { kind: 'user', account: by })
  repo.github.webhooks.emit('repository_ruleset', action, repo, by, { repository_ruleset })
}

/** Tells the apps of classic protection: https://docs.github.com/webhooks/webhook-events-and-payloads#branch_protection_rule */
export function emitBranchProtectionEvent(
  repo: MockRepository,
  [pattern, protection]: readonly [string, BranchProtection],
  action: 'created' | 'edited' | 'deleted',
  by: MockAccount,
): void {
  const rule = toBranchProtectionRuleView(repo, pattern, protection)
  repo.github.webhooks.emit('branch_protection_rule', action, repo, by, {
    rule,
    ...(action === 'edited' ? { changes: {} } : {}),
  })
}

/** Stores a ruleset, and notifies the apps. */
export function saveRulesetAndEmitEvent(
  repo: MockRepository,
  request: RulesetRequest,
  by: MockAccount,
): Ruleset {
  const ruleset = createRuleset(repo.github, request, null)
  repo.rulesets.set(ruleset.id, ruleset)
  emitRulesetEvent(repo, ruleset, 'created', by)
  return ruleset
}

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
const rulesetRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /rules/branches/{branch}', read, (call) =>
    paginate(call, toBranchRulesView(call.repo, call.params['branch'] ?? '')),
  ),
  defineRepositoryRoute('GET /rulesets', read, (call) =>
    paginate(
      call,
      collectRulesets(call.repo).map((it) => toRulesetSummaryView(call.repo, it)),
    ),
  ),
  defineRepositoryRoute('GET /rulesets/{ruleset_id}', read, (call) =>
    respondOk(toRulesetView(call.repo, requireReadableRuleset(call), call.caller)),
  ),
  defineRepositoryRoute('POST /rulesets', administrationWritePermission, (call) => {
    requireRepositoryAdmin(call)
    const stored = saveRulesetAndEmitEvent(
      call.repo,
      parseRuleset(call.repo, call.body),
      getActingAccount(call.caller),
    )
    return respondCreated(toRulesetView(call.repo, stored, call.caller))
  }),
  defineRepositoryRoute('DELETE /rulesets/{ruleset_id}', administrationWritePermission, (call) => {
    requireRepositoryAdmin(call)
    const ended = requireRuleset(call)
    call.repo.rulesets.delete(ended.id)
    emitRulesetEvent(call.repo, ended, 'deleted', getActingAccount(call.caller))
    return respondNoContent()
  }),
]

const branchProtectionRoute = defineRepositoryRoute(
  'GET /branches/{branch}/protection',
  { administration: 'read' },
  (call) => {
    const { repo, params, caller } = call
    const branch = params['branch'] ?? ''
    // Users who are not administrators do not learn whether protection exists.
    if (!canAdministerRepository(caller, repo, 'read')) throw createNotFoundError()
    if (!repo.knownRefs.has(`refs/heads/${branch}`)) throw new GitHubApiError(404, 'Branch not found')
    const protection = repo.protections.get(branch)
    if (protection === undefined) throw new GitHubApiError(404, 'Branch not protected')
    return respondOk(toBranchProtectionView(repo, branch, protection))
  },
)

export const ruleRoutes: readonly Route[] = [...rulesetRoutes, branchProtectionRoute]
