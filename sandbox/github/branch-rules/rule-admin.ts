// Sets rules for a test or the demo, as an administrator would, with the JSON format of the REST API.
import { toPullSummaryView } from '../views/pull-view.ts'
import { toNodeId } from '../views/account-view.ts'
import {
  emitBranchProtectionEvent,
  emitRulesetEvent,
  saveRulesetAndEmitEvent,
} from '../routes/rule-routes.ts'
import { GitHubAdmin } from '../github-admin.ts'
import type { MergeMethod, GitHubPayload, MockPull } from '../github-data.ts'
import type { BranchProtectionRequest } from './rule-types.ts'
import { createRuleset, parseRuleset } from './ruleset.ts'
import type { BranchRule, Ruleset, RulesetRequest } from './rule-types.ts'

const createRulesetRequest = (rules: readonly BranchRule[], more: Partial<RulesetRequest>) => ({
  name: rules.map(({ type }) => type).join(', '),
  enforcement: 'active' as const,
  rules,
  ...more,
})

export class BranchRuleAdmin extends GitHubAdmin {
  /** Imports a ruleset. */
  addRuleset(repository: string, request: RulesetRequest): Ruleset {
    const repo = this.repository(repository)
    return saveRulesetAndEmitEvent(repo, parseRuleset(repo, request as unknown as GitHubPayload), repo.owner)
  }

  /** A ruleset with these rules for the default branch, without bypass by default. */
  addRules(repository: string, rules: readonly BranchRule[], more: Partial<RulesetRequest> = {}): Ruleset {
    const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'] } }
    return this.addRuleset(repository, createRulesetRequest(rules, { conditions, ...more }))
  }

  removeRuleset(repository: string, ruleset: Ruleset): void {
    const repo = this.repository(repository)
    repo.rulesets.delete(ruleset.id)
    emitRulesetEvent(repo, ruleset, 'deleted', repo.owner)
  }

  /** A ruleset of an organization, for the default branches of all its repositories by default. */
  addOrganizationRules(
    login: string,
    rules: readonly BranchRule[],
    more: Partial<RulesetRequest> = {},
  ): Ruleset {
    const owner = this.account(login)
    const request = parseRuleset({ owner }, createRulesetRequest(rules, more), 'Organization')
    const conditions = {
      ref_name: { include: ['~DEFAULT_BRANCH'] },
      repository_name: { include: ['~ALL'] },
      ...request.conditions,
    }
    const ruleset = createRuleset(this.state, { ...request, conditions }, owner.login)
    owner.rulesets = new Map([...(owner.rulesets ?? []), [ruleset.id, ruleset]])
    return ruleset
  }
  removeOrganizationRules(login: string, { id }: Ruleset): void {
    this.account(login).rulesets?.delete(id)
  }

  /** Classic protection of a branch or of a pattern of branches. Null removes it. */
  protect(
    repository: string,
    pattern: string,
    protection: (BranchProtectionRequest & { readonly required_signatures?: boolean }) | null,
  ): void {
    const repo = this.repository(repository)
    const old = repo.protections.get(pattern)
    const now = protection === null ? undefined : { required_signatures: false, ...protection }
    if (now === undefined) repo.protections.delete(pattern)
    else repo.protections.set(pattern, now)
    const reported = now ?? old
    const action = now === undefined ? 'deleted' : old === undefined ? 'created' : 'edited'
    if (reported !== undefined) emitBranchProtectionEvent(repo, [pattern, reported], action, repo.owner)
  }

  /** Locks or unlocks a branch. No user can push to a locked branch. */
  protectBranch(repository: string, branch: string, on = true): void {
    const nobody = { users: [], teams: [], apps: [] }
    this.protect(repository, branch, on ? { restrictions: nobody, enforce_admins: true } : null)
  }

  /** The merge methods that the repository allows. */
  allowMergeMethods(repository: string, allowed: Partial<Record<MergeMethod, boolean>>): void {
    Object.assign(this.repository(repository).mergeMethods, allowed)
  }

  /** A user starts a conversation on a line of a pull request. It remains open until `resolveConversation`. */
  openConversation(pull: MockPull): void {
    pull.openConversations += 1
    this.#emitThread(pull, 'unresolved')
  }
  resolveConversation(pull: MockPull): void {
    pull.openConversations -= 1
    this.#emitThread(pull, 'resolved')
  }

  /** https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review_thread */
  #emitThread(pull: MockPull, action: 'resolved' | 'unresolved'): void {
    this.state.webhooks.emit('pull_request_review_thread', action, pull.repo, pull.author, {
      thread: { node_id: toNodeId('PullRequestReviewThread', pull.id), comments: [] },
      pull_request: toPullSummaryView(pull),
    })
    this.state.queueDue(pull.repo)
  }

  /** A code scanning tool uploads its results for a commit. */
  analyze(repository: string, sha: string, tool: string, alerts = 0): void {
    const repo = this.repository(repository)
    repo.analyses.push({ sha, tool, alerts })
    this.state.queueDue(repo)
  }

  /** Sets how many milliseconds GitHub needs to compute whether a pull request can be merged. */
  delayTestMerges(milliseconds: number): void {
    this.state.testMergeDelay = milliseconds
  }

  /** Sets how many milliseconds pass until rules see a new check or status. */
  delayChecks(milliseconds: number): void {
    this.state.checkDelay = milliseconds
  }
}
