// Classic branch protection, in the format of `PUT /branches/{branch}/protection`, expressed as rules that work like
// those of a ruleset. This file contains the differences from rulesets: the exempt users, and that branch creation is
// mostly unrestricted.
import { minimatch } from 'minimatch'
import type { MockRepository } from '../github-data.ts'
import type { BranchProtection, BranchRule } from './rule-types.ts'

/** The protection of a branch. An exact name has priority over a pattern, and an earlier pattern over a later one. */
export function findBranchProtection(repo: MockRepository, branch: string): BranchProtection | undefined {
  const exact = repo.protections.get(branch)
  if (exact !== undefined) return exact
  return [...repo.protections].find(([pattern]) => minimatch(branch, pattern, { dot: true }))?.[1]
}

/** Each required check, with the app that must set it, if one is given (-1 and null: any app). */
export function parseRequiredChecks(
  protection: BranchProtection,
): { readonly context: string; readonly app_id: number | null }[] {
  const { contexts = [], checks = [] } = protection.required_status_checks ?? {}
  const pinned = checks.map(({ context, app_id }) => ({
    context,
    app_id: app_id === undefined || app_id === -1 ? null : app_id,
  }))
  const named = contexts.filter((it) => !checks.some(({ context }) => context === it))
  return [...pinned, ...named.map((context) => ({ context, app_id: null }))]
}

/** The requirements of the protection for an update of an existing branch. */
export function toBranchUpdateRules(protection: BranchProtection): BranchRule[] {
  const checks = protection.required_status_checks
  const rules: (BranchRule | undefined)[] = [
    checks
      ? {
          type: 'required_status_checks',
          parameters: {
            strict_required_status_checks_policy: checks.strict,
            required_status_checks: parseRequiredChecks(protection).map(({ context, app_id }) => ({
              context,
              integration_id: app_id,
            })),
          },
        }
      : undefined,
    protection.restrictions
      ? { type: 'restricted_pushers', parameters: { ...protection.restrictions } }
      : undefined,
    protection.required_linear_history === true ? { type: 'required_linear_history' } : undefined,
    protection.required_signatures ? { type: 'required_signatures' } : undefined,
    protection.allow_force_pushes === true ? undefined : { type: 'non_fast_forward' },
    protection.allow_deletions === true ? undefined : { type: 'deletion' },
    protection.lock_branch === true ? { type: 'locked' } : undefined,
  ]
  return rules.filter((it) => it !== undefined)
}

/** The settings for pull requests, which have separate exceptions. */
export function toPullRequestRules(protection: BranchProtection): BranchRule[] {
  const reviews = protection.required_pull_request_reviews
  const resolved = protection.required_conversation_resolution === true
  if (!reviews) return resolved ? [{ type: 'conversation_resolution' }] : []
  const parameters = {
    required_approving_review_count: reviews.required_approving_review_count ?? 1,
    dismiss_stale_reviews_on_push: reviews.dismiss_stale_reviews ?? false,
    require_code_owner_review: reviews.require_code_owner_reviews ?? false,
    require_last_push_approval: reviews.require_last_push_approval ?? false,
    required_review_thread_resolution: resolved,
  }
  return [{ type: 'pull_request', parameters }]
}
