// What is in force for a ref, layer by layer: every ruleset that speaks of it, and classic protection. Layers add up,
// and each has its own exceptions.
import { requiredApprovalsOf, protectionOf, pullDemandsOf } from './branch-protection.ts'
import { administers, bypassMode, bypasses, isNamed } from './bypass.ts'
import { branchOf } from './ref-update.ts'
import type { RefUpdate } from './ref-update.ts'
import { appliesTo } from './ruleset.ts'
import type { Rule, Ruleset } from './rule-shapes.ts'
import type { Repo } from '../world.ts'

export interface Layer {
  /** Undefined: classic protection. */
  readonly ruleset: Ruleset | undefined
  readonly rules: readonly Rule[]
  readonly bypass: 'no' | 'yes' | 'exempt'
}

export const allRulesets = ({ owner, rulesets }: Repo): Ruleset[] => [
  ...(owner.rulesets?.values() ?? []),
  ...rulesets.values(),
]

export function rulesetsFor(repo: Repo, ref: string): Ruleset[] {
  // Those of the organization and those of the repository add up:
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/about-rulesets#about-rule-layering
  return allRulesets(repo).filter((it) => appliesTo(repo, it, ref))
}

/** Whether anything at all is in force for a ref. */
export function isRuled(repo: Repo, ref: string): boolean {
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined
  return (
    rulesetsFor(repo, ref).length > 0 || (branch !== undefined && protectionOf(repo, branch) !== undefined)
  )
}

export function layersOf(update: RefUpdate): Layer[] {
  const { world, repo, ref, by } = update
  const layers: Layer[] = rulesetsFor(repo, ref).map((ruleset) => ({
    ruleset,
    rules: ruleset.rules,
    bypass: bypasses(update, bypassMode(world, repo, by, ruleset.bypass_actors)),
  }))
  return [...layers, ...protectionLayers(update)]
}

function protectionLayers(update: RefUpdate): Layer[] {
  const { world, repo, ref, by, old } = update
  const protection = ref.startsWith('refs/heads/') ? protectionOf(repo, branchOf(update)) : undefined
  if (protection === undefined) return []
  const spared = protection.enforce_admins !== true && administers(world, repo, by)
  const layer = (rules: Rule[], bypass: boolean): Layer => ({
    ruleset: undefined,
    rules,
    bypass: bypass ? 'yes' : 'no',
  })
  // Making a branch that matches a pattern is free, unless the pattern restricts who makes them.
  if (old === undefined) {
    const restricted = protection.restrictions && protection.block_creations === true
    return restricted
      ? [layer([{ type: 'restricted_pushers', parameters: { ...protection.restrictions } }], spared)]
      : []
  }
  const allowed = protection.required_pull_request_reviews?.bypass_pull_request_allowances
  return [
    layer(pullDemandsOf(protection), spared || isNamed(world, repo, by, allowed)),
    layer(requiredApprovalsOf(protection), spared),
  ]
}
