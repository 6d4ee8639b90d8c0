// The layers that are in force for a ref: every ruleset that matches it, and classic protection. Layers are
// cumulative, and each has separate exceptions.
import { toBranchUpdateRules, findBranchProtection, toPullRequestRules } from './branch-protection.ts'
import {
  isRepositoryAdmin,
  computeBypassMode,
  computeBypassEffect,
  isCallerInBranchProtectionList,
} from './bypass.ts'
import { getBranchName } from './ref-update.ts'
import type { RefUpdate } from './ref-update.ts'
import { rulesetAppliesToRef } from './ruleset.ts'
import type { BranchRule, RuleParametersByType, Ruleset, StatusChecksRuleParameters } from './rule-types.ts'
import type { MockRepository } from '../github-data.ts'

export interface BranchRuleLayer {
  /** Undefined: classic protection. */
  readonly ruleset: Ruleset | undefined
  readonly rules: readonly BranchRule[]
  readonly bypass: 'no' | 'yes' | 'exempt'
}

export const collectRulesets = ({ owner, rulesets }: MockRepository): Ruleset[] => [
  ...(owner.rulesets?.values() ?? []),
  ...rulesets.values(),
]

export function findRulesetsForRef(repo: MockRepository, ref: string): Ruleset[] {
  // Rulesets of the organization and of the repository are cumulative:
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/about-rulesets#about-rule-layering
  return collectRulesets(repo).filter((it) => rulesetAppliesToRef(repo, it, ref))
}

/** The parameters of the rules of one type. */
export const selectRuleParameters = <Type extends keyof RuleParametersByType>(
  rules: readonly BranchRule[],
  type: Type,
): RuleParametersByType[Type][] =>
  rules
    .filter((rule) => rule.type === type)
    .map(({ parameters }) => parameters as unknown as RuleParametersByType[Type])

/** The parameters of all rules of one type that are in force for a branch, regardless of exemptions. */
export function findRuleParameters<Type extends keyof RuleParametersByType>(
  repo: MockRepository,
  branch: string,
  type: Type,
): RuleParametersByType[Type][] {
  const protection = findBranchProtection(repo, branch)
  const rules = findRulesetsForRef(repo, `refs/heads/${branch}`).flatMap((it) => it.rules)
  if (protection !== undefined)
    rules.push(...toPullRequestRules(protection), ...toBranchUpdateRules(protection))
  return selectRuleParameters(rules, type)
}

export const findRequiredChecks = (
  repo: MockRepository,
  branch: string,
): StatusChecksRuleParameters['required_status_checks'] =>
  findRuleParameters(repo, branch, 'required_status_checks').flatMap((it) => it.required_status_checks)

/** Whether any rule is in force for a ref. */
export function hasRulesForRef(repo: MockRepository, ref: string): boolean {
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined
  return (
    findRulesetsForRef(repo, ref).length > 0 ||
    (branch !== undefined && findBranchProtection(repo, branch) !== undefined)
  )
}

export function collectBranchRuleLayers(update: RefUpdate): BranchRuleLayer[] {
  const { repo, ref, by } = update
  const layers: BranchRuleLayer[] = findRulesetsForRef(repo, ref).map((ruleset) => ({
    ruleset,
    rules: ruleset.rules,
    bypass: computeBypassEffect(update, computeBypassMode(repo, by, ruleset.bypass_actors)),
  }))
  return [...layers, ...toBranchProtectionRuleLayers(update)]
}

function toBranchProtectionRuleLayers(update: RefUpdate): BranchRuleLayer[] {
  const { repo, ref, by, old } = update
  const protection = ref.startsWith('refs/heads/')
    ? findBranchProtection(repo, getBranchName(update))
    : undefined
  if (protection === undefined) return []
  const spared = protection.enforce_admins !== true && isRepositoryAdmin(repo, by)
  const layer = (rules: BranchRule[], bypass: boolean): BranchRuleLayer => ({
    ruleset: undefined,
    rules,
    bypass: bypass ? 'yes' : 'no',
  })
  // Creating a branch that matches a pattern is allowed, unless the pattern restricts creations.
  if (old === undefined) {
    const restricted = protection.restrictions && protection.block_creations === true
    return restricted
      ? [layer([{ type: 'restricted_pushers', parameters: { ...protection.restrictions } }], spared)]
      : []
  }
  const allowed = protection.required_pull_request_reviews?.bypass_pull_request_allowances
  return [
    layer(toPullRequestRules(protection), spared || isCallerInBranchProtectionList(repo, by, allowed)),
    layer(toBranchUpdateRules(protection), spared),
  ]
}
