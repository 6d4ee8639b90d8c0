// REST routes of rulesets, classic branch protection and merge settings: what anyone may read, and what
// administrators set, so that the JSON they import can be tried.
import { mayAdminister } from '../http/auth.ts'
import type { BranchProtection, ProtectionRequest } from '../branch-rules/rule-shapes.ts'
import { allRulesets } from '../branch-rules/layers.ts'
import { readRuleset } from '../branch-rules/ruleset.ts'
import type { Ruleset, RulesetRequest } from '../branch-rules/rule-shapes.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import {
  Refusal,
  created,
  idParam,
  invalid,
  noContent,
  notFound,
  ok,
  page,
  repoRoute,
} from '../http/route.ts'
import type { RepoCall, Route } from '../http/route.ts'
import { apiUrl, fullRepositoryView } from '../views/repository-view.ts'
import {
  branchRulesView,
  protectionRuleView,
  protectionView,
  rulesetSummary,
  rulesetView,
} from '../views/rule-view.ts'
import type { Account, MergeMethod, Repo } from '../world.ts'

const admin = { administration: 'write' } as const

/** People need the admin role; apps were asked for their permission already. */
function administer({ world, caller, repo }: RepoCall): void {
  if (!mayAdminister(world, caller, repo)) throw new Refusal(403, 'Must have admin rights to Repository.')
}

/** Tells the apps of a ruleset: https://docs.github.com/webhooks/webhook-events-and-payloads#repository_ruleset */
export function emitRuleset(
  { world, webhooks }: GitHubState,
  repo: Repo,
  ruleset: Ruleset,
  action: 'created' | 'edited' | 'deleted',
  by: Account,
): void {
  const repository_ruleset = rulesetView(world, repo, ruleset, { kind: 'user', account: by })
  webhooks.emit('repository_ruleset', action, repo, by, { repository_ruleset })
}

/** Tells the apps of classic protection: https://docs.github.com/webhooks/webhook-events-and-payloads#branch_protection_rule */
export function emitProtection(
  { world, webhooks }: GitHubState,
  repo: Repo,
  [pattern, protection]: readonly [string, BranchProtection],
  action: 'created' | 'edited' | 'deleted',
  by: Account,
): void {
  const rule = protectionRuleView(world, repo, pattern, protection)
  webhooks.emit('branch_protection_rule', action, repo, by, {
    rule,
    ...(action === 'edited' ? { changes: {} } : {}),
  })
}

/** Stores a ruleset, under a new id or in place of the one that has it, and tells the apps. */
export function keepRuleset(
  state: GitHubState,
  repo: Repo,
  request: RulesetRequest,
  by: Account,
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
  emitRuleset(state, repo, ruleset, old === undefined ? 'created' : 'edited', by)
  return ruleset
}

export function ruleRoutes(state: GitHubState): Route[] {
  return [...rulesetRoutes(state), ...protectionRoutes(state), mergeSettingsRoute(state)]
}

function rulesetRoutes(state: GitHubState): Route[] {
  const { world } = state
  const rulesetOf = (call: RepoCall): Ruleset => {
    const found = call.repo.rulesets.get(idParam(call, 'ruleset_id'))
    if (found === undefined) throw notFound()
    return found
  }
  /** Readers see the organization's, too; only the organization changes them. */
  const readable = (call: RepoCall): Ruleset => {
    const found = allRulesets(call.repo).find(({ id }) => id === idParam(call, 'ruleset_id'))
    if (found === undefined) throw notFound()
    return found
  }
  const read = { metadata: 'read' } as const
  return [
    repoRoute('GET /rules/branches/{branch}', read, (call) =>
      page(call, branchRulesView(call.repo, call.params['branch'] ?? '')),
    ),
    repoRoute('GET /rulesets', read, (call) =>
      page(
        call,
        allRulesets(call.repo).map((it) => rulesetSummary(world, call.repo, it)),
      ),
    ),
    repoRoute('GET /rulesets/{ruleset_id}', read, (call) =>
      ok(rulesetView(world, call.repo, readable(call), call.caller)),
    ),
    repoRoute('POST /rulesets', admin, (call) => {
      administer(call)
      const kept = keepRuleset(state, call.repo, readRuleset(call.repo, call.body), actorOf(call.caller))
      return created(rulesetView(world, call.repo, kept, call.caller))
    }),
    repoRoute('PUT /rulesets/{ruleset_id}', admin, (call) => {
      administer(call)
      const { id, name, enforcement } = rulesetOf(call)
      const request = readRuleset(call.repo, { name, enforcement, ...call.body })
      const kept = keepRuleset(state, call.repo, request, actorOf(call.caller), id)
      return ok(rulesetView(world, call.repo, kept, call.caller))
    }),
    repoRoute('DELETE /rulesets/{ruleset_id}', admin, (call) => {
      administer(call)
      const ended = rulesetOf(call)
      call.repo.rulesets.delete(ended.id)
      emitRuleset(state, call.repo, ended, 'deleted', actorOf(call.caller))
      return noContent()
    }),
  ]
}

function protectionRoutes(state: GitHubState): Route[] {
  const { world } = state
  const path = '/branches/{branch}/protection'
  const named = ({ repo, params }: RepoCall): string => {
    const branch = params['branch'] ?? ''
    if (!repo.known.has(`refs/heads/${branch}`)) throw new Refusal(404, 'Branch not found')
    return branch
  }
  const protectionAt = (call: RepoCall): BranchProtection => {
    const found = call.repo.protections.get(named(call))
    if (found === undefined) throw new Refusal(404, 'Branch not protected')
    return found
  }
  const signed = (call: RepoCall, required: boolean): object => {
    administer(call)
    call.repo.protections.set(named(call), { ...protectionAt(call), required_signatures: required })
    const url = `${apiUrl(world, call.repo)}/branches/${encodeURIComponent(named(call))}/protection/required_signatures`
    return { url, enabled: required }
  }
  return [
    repoRoute(`GET ${path}`, { administration: 'read' }, (call) => {
      // People who are no administrators are not told that there is anything.
      if (!mayAdminister(world, call.caller, call.repo, 'read')) throw notFound()
      return ok(protectionView(world, call.repo, named(call), protectionAt(call)))
    }),
    repoRoute(`PUT ${path}`, admin, (call) => {
      administer(call)
      const { repo, body } = call
      for (const field of [
        'required_status_checks',
        'enforce_admins',
        'required_pull_request_reviews',
        'restrictions',
      ])
        if (!(field in body)) throw invalid('ProtectedBranch', field, 'missing_field')
      const old = repo.protections.get(named(call))
      const kept: BranchProtection = {
        ...(body as ProtectionRequest),
        required_signatures: old?.required_signatures ?? false,
      }
      repo.protections.set(named(call), kept)
      const action = old === undefined ? 'created' : 'edited'
      emitProtection(state, repo, [named(call), kept], action, actorOf(call.caller))
      return ok(protectionView(world, repo, named(call), kept))
    }),
    repoRoute(`DELETE ${path}`, admin, (call) => {
      administer(call)
      const ended = protectionAt(call)
      call.repo.protections.delete(named(call))
      emitProtection(state, call.repo, [named(call), ended], 'deleted', actorOf(call.caller))
      return noContent()
    }),
    repoRoute(`POST ${path}/required_signatures`, admin, (call) => ok(signed(call, true))),
    repoRoute(`DELETE ${path}/required_signatures`, admin, (call) => {
      signed(call, false)
      return noContent()
    }),
  ]
}

/** `PATCH /repos/{owner}/{repo}`, as far as it says how pull requests may be merged. */
function mergeSettingsRoute({ world }: GitHubState): Route {
  const fields = { merge: 'allow_merge_commit', squash: 'allow_squash_merge', rebase: 'allow_rebase_merge' }
  return repoRoute('PATCH ', admin, (call) => {
    administer(call)
    const { repo, body } = call
    const wanted = { ...repo.mergeMethods }
    for (const [method, field] of Object.entries(fields))
      if (typeof body[field] === 'boolean') wanted[method as MergeMethod] = body[field]
    if (!Object.values(wanted).includes(true))
      throw invalid('Repository', 'merge_commit_allowed', 'no_merge_method')
    Object.assign(repo.mergeMethods, wanted)
    if (typeof body['allow_auto_merge'] === 'boolean') repo.allowAutoMerge = body['allow_auto_merge']
    return ok(fullRepositoryView(world, repo, true))
  })
}
