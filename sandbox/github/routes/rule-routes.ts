// REST routes of rulesets, classic branch protection and merge settings: what anyone may read, and what
// administrators set, so that the JSON they import can be tried.
import { canAdministerRepository } from '../http/auth.ts'
import type { BranchProtection, BranchProtectionRequest } from '../branch-rules/rule-types.ts'
import { collectRulesets } from '../branch-rules/rule-layers.ts'
import { parseRuleset } from '../branch-rules/ruleset.ts'
import type { Ruleset, RulesetRequest } from '../branch-rules/rule-types.ts'
import { getActingAccount } from '../github-state.ts'
import type { MockGitHubState } from '../github-state.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createValidationError,
  respondNoContent,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
} from '../http/route.ts'
import type { RepositoryRouteRequest, Route } from '../http/route.ts'
import { getRepositoryApiUrl, toFullRepositoryView } from '../views/repository-view.ts'
import {
  toBranchRulesView,
  toBranchProtectionRuleView,
  toBranchProtectionView,
  toRulesetSummaryView,
  toRulesetView,
} from '../views/rule-view.ts'
import type { MockAccount, MergeMethod, MockRepository } from '../github-data.ts'

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
  action: 'created' | 'edited' | 'deleted',
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

/** Stores a ruleset under a new ID, or replaces the one with its ID, and notifies the apps. */
export function saveRulesetAndEmitEvent(
  state: MockGitHubState,
  repo: MockRepository,
  request: RulesetRequest,
  by: MockAccount,
  id?: number,
): Ruleset {
  const { world } = state
  const old = id === undefined ? undefined : repo.rulesets.get(id)
  const at = world.timestamp()
  const ruleset: Ruleset = {
    id: old?.id ?? world.nextId(),
    organization: null,
    createdAt: old?.createdAt ?? at,
    updatedAt: at,
    name: request.name,
    enforcement: request.enforcement,
    target: request.target ?? old?.target ?? 'branch',
    bypass_actors: request.bypass_actors ?? old?.bypass_actors ?? [],
    conditions: request.conditions ?? old?.conditions ?? {},
    rules: request.rules ?? old?.rules ?? [],
  }
  repo.rulesets.set(ruleset.id, ruleset)
  emitRulesetEvent(state, repo, ruleset, old === undefined ? 'created' : 'edited', by)
  return ruleset
}

export function createRuleRoutes(state: MockGitHubState): Route[] {
  return [
    ...createRulesetRoutes(state),
    ...createBranchProtectionRoutes(state),
    createMergeSettingsRoute(state),
  ]
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
    defineRepositoryRoute('PUT /rulesets/{ruleset_id}', administrationWritePermission, (call) => {
      requireRepositoryAdmin(call)
      const { id, name, enforcement } = requireRuleset(call)
      const request = parseRuleset(call.repo, { name, enforcement, ...call.body })
      const stored = saveRulesetAndEmitEvent(state, call.repo, request, getActingAccount(call.caller), id)
      return respondOk(toRulesetView(world, call.repo, stored, call.caller))
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

function createBranchProtectionRoutes(state: MockGitHubState): Route[] {
  const { world } = state
  const path = '/branches/{branch}/protection'
  const requireBranch = ({ repo, params }: RepositoryRouteRequest): string => {
    const branch = params['branch'] ?? ''
    if (!repo.knownRefs.has(`refs/heads/${branch}`)) throw new GitHubApiError(404, 'Branch not found')
    return branch
  }
  const requireProtection = (call: RepositoryRouteRequest): BranchProtection => {
    const found = call.repo.protections.get(requireBranch(call))
    if (found === undefined) throw new GitHubApiError(404, 'Branch not protected')
    return found
  }
  const setSignatureRequirement = (call: RepositoryRouteRequest, required: boolean): object => {
    requireRepositoryAdmin(call)
    call.repo.protections.set(requireBranch(call), {
      ...requireProtection(call),
      required_signatures: required,
    })
    const url = `${getRepositoryApiUrl(world, call.repo)}/branches/${encodeURIComponent(requireBranch(call))}/protection/required_signatures`
    return { url, enabled: required }
  }
  return [
    defineRepositoryRoute(`GET ${path}`, { administration: 'read' }, (call) => {
      // Users who are not administrators do not learn whether protection exists.
      if (!canAdministerRepository(world, call.caller, call.repo, 'read')) throw createNotFoundError()
      return respondOk(toBranchProtectionView(world, call.repo, requireBranch(call), requireProtection(call)))
    }),
    defineRepositoryRoute(`PUT ${path}`, administrationWritePermission, (call) => {
      requireRepositoryAdmin(call)
      const { repo, body } = call
      for (const field of [
        'required_status_checks',
        'enforce_admins',
        'required_pull_request_reviews',
        'restrictions',
      ])
        if (!(field in body)) throw createValidationError('ProtectedBranch', field, 'missing_field')
      const old = repo.protections.get(requireBranch(call))
      const stored: BranchProtection = {
        ...(body as BranchProtectionRequest),
        required_signatures: old?.required_signatures ?? false,
      }
      repo.protections.set(requireBranch(call), stored)
      const action = old === undefined ? 'created' : 'edited'
      emitBranchProtectionEvent(
        state,
        repo,
        [requireBranch(call), stored],
        action,
        getActingAccount(call.caller),
      )
      return respondOk(toBranchProtectionView(world, repo, requireBranch(call), stored))
    }),
    defineRepositoryRoute(`DELETE ${path}`, administrationWritePermission, (call) => {
      requireRepositoryAdmin(call)
      const ended = requireProtection(call)
      call.repo.protections.delete(requireBranch(call))
      emitBranchProtectionEvent(
        state,
        call.repo,
        [requireBranch(call), ended],
        'deleted',
        getActingAccount(call.caller),
      )
      return respondNoContent()
    }),
    defineRepositoryRoute(`POST ${path}/required_signatures`, administrationWritePermission, (call) =>
      respondOk(setSignatureRequirement(call, true)),
    ),
    defineRepositoryRoute(`DELETE ${path}/required_signatures`, administrationWritePermission, (call) => {
      setSignatureRequirement(call, false)
      return respondNoContent()
    }),
  ]
}

/** `PATCH /repos/{owner}/{repo}`, limited to the merge settings of pull requests. */
function createMergeSettingsRoute({ world }: MockGitHubState): Route {
  const fields = { merge: 'allow_merge_commit', squash: 'allow_squash_merge', rebase: 'allow_rebase_merge' }
  return defineRepositoryRoute('PATCH ', administrationWritePermission, (call) => {
    requireRepositoryAdmin(call)
    const { repo, body } = call
    const wanted = { ...repo.mergeMethods }
    for (const [method, field] of Object.entries(fields))
      if (typeof body[field] === 'boolean') wanted[method as MergeMethod] = body[field]
    if (!Object.values(wanted).includes(true))
      throw createValidationError('Repository', 'merge_commit_allowed', 'no_merge_method')
    Object.assign(repo.mergeMethods, wanted)
    if (typeof body['allow_auto_merge'] === 'boolean') repo.allowAutoMerge = body['allow_auto_merge']
    return respondOk(toFullRepositoryView(world, repo, true))
  })
}
