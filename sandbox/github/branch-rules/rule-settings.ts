// How a test or the demo sets rules, as an administrator would: the same JSON that the REST interface takes.
import { keepRuleset } from '../routes/rule-routes.ts'
import { Settings } from '../settings.ts'
import type { MergeMethod, Payload, Pull } from '../world.ts'
import type { ProtectionRequest } from './rule-shapes.ts'
import { readRuleset } from './ruleset.ts'
import type { Rule, Ruleset, RulesetRequest } from './rule-shapes.ts'

export class RuleSettings extends Settings {
  /** Imports a ruleset. */
  addRuleset(repository: string, request: RulesetRequest): Ruleset {
    const repo = this.repository(repository)
    return keepRuleset(this.state.world, repo, readRuleset(repo, request as unknown as Payload))
  }

  /** A ruleset of these rules for the default branch, without bypass unless some is given. */
  addRules(repository: string, rules: readonly Rule[], more: Partial<RulesetRequest> = {}): Ruleset {
    return this.addRuleset(repository, {
      name: rules.map(({ type }) => type).join(', '),
      enforcement: 'active',
      conditions: { ref_name: { include: ['~DEFAULT_BRANCH'] } },
      rules,
      ...more,
    })
  }

  removeRuleset(repository: string, { id }: Ruleset): void {
    this.repository(repository).rulesets.delete(id)
  }

  /** Classic protection of a branch or of a pattern of branches; null ends it. */
  protect(
    repository: string,
    pattern: string,
    protection: (ProtectionRequest & { readonly required_signatures?: boolean }) | null,
  ): void {
    const { protections } = this.repository(repository)
    if (protection === null) protections.delete(pattern)
    else protections.set(pattern, { required_signatures: false, ...protection })
  }

  /** Switches on or off that nobody at all may push to a branch. */
  protectBranch(repository: string, branch: string, on = true): void {
    const nobody = { users: [], teams: [], apps: [] }
    this.protect(repository, branch, on ? { restrictions: nobody, enforce_admins: true } : null)
  }

  /** How the repository lets pull requests be merged at all. */
  allowMergeMethods(repository: string, allowed: Partial<Record<MergeMethod, boolean>>): void {
    Object.assign(this.repository(repository).mergeMethods, allowed)
  }

  /** Somebody starts a conversation on a line of a pull request; it stays open until `resolveConversation`. */
  openConversation(pull: Pull): void {
    pull.openConversations += 1
  }
  resolveConversation(pull: Pull): void {
    pull.openConversations -= 1
  }

  /** How many milliseconds pass until rules see a check or status that was just posted. */
  delayChecks(milliseconds: number): void {
    this.state.world.checkDelay = milliseconds
  }
}
