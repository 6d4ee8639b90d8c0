// Converts classic branch protection from GitHub's REST API. Pure.
import { z } from 'zod'
import { toRequiredCheck, type BranchRequirements } from './parse-branch-rules.ts'

const enabledSettingSchema = z.object({ enabled: z.boolean() }).optional()
const appListSchema = z.object({ apps: z.array(z.object({ id: z.number() })).optional() })
const requiredChecksSchema = z.array(
  z.object({ context: z.string(), app_id: z.number().nullable().optional() }),
)

/** The branch answer that every reader gets. */
export const branchResponseSchema = z.object({
  protected: z.boolean().optional(),
  protection: z
    .object({
      enabled: z.boolean().optional(),
      required_status_checks: z
        .object({
          enforcement_level: z.string().nullable().optional(),
          contexts: z.array(z.string()).optional(),
          checks: requiredChecksSchema.optional(),
        })
        .optional(),
    })
    .optional(),
})

/** The answer for administrators. */
const branchProtectionSchema = z.object({
  required_status_checks: z
    .object({
      strict: z.boolean().optional(),
      contexts: z.array(z.string()).optional(),
      checks: requiredChecksSchema.optional(),
    })
    .optional(),
  required_pull_request_reviews: z
    .object({
      dismiss_stale_reviews: z.boolean().optional(),
      require_code_owner_reviews: z.boolean().optional(),
      required_approving_review_count: z.number().optional(),
      require_last_push_approval: z.boolean().optional(),
      bypass_pull_request_allowances: appListSchema.optional(),
    })
    .optional(),
  restrictions: appListSchema.optional(),
  required_linear_history: enabledSettingSchema,
  required_signatures: enabledSettingSchema,
  required_conversation_resolution: enabledSettingSchema,
  lock_branch: enabledSettingSchema,
})

/** Settings that don't prevent a fast-forward. */
const ignoredProtectionSettings = new Set([
  'enforce_admins',
  'allow_force_pushes',
  'allow_deletions',
  'block_creations',
  'allow_fork_syncing',
])

/** Undefined: not as documented. */
export function parseBranchProtection(answer: unknown, app: number): Partial<BranchRequirements> | undefined {
  const read = branchProtectionSchema.safeParse(answer).data
  if (read === undefined) return undefined
  const { required_status_checks: status, required_pull_request_reviews: reviews, restrictions } = read
  const isListed = (list: z.infer<typeof appListSchema> | undefined) =>
    list?.apps?.some(({ id }) => id === app) === true
  const conversations = read.required_conversation_resolution?.enabled === true
  const binds = reviews !== undefined && !isListed(reviews.bypass_pull_request_allowances)
  const others = Object.entries(answer as object)
    .filter(
      ([name, value]) =>
        !(name in branchProtectionSchema.shape) &&
        !ignoredProtectionSettings.has(name) &&
        isProtectionSettingEnabled(value),
    )
    .map(([name]) => name)
  return {
    ...(status !== undefined && {
      checks: { required: parseRequiredChecks(status), strict: status.strict === true },
    }),
    ...((binds || conversations) && {
      pullRequest: {
        approvals: binds ? (reviews.required_approving_review_count ?? 1) : 0,
        dismissesStale: binds && reviews.dismiss_stale_reviews === true,
        lastPushApproval: binds && reviews.require_last_push_approval === true,
        codeOwners: binds && reviews.require_code_owner_reviews === true,
        conversations,
      },
    }),
    ...(restrictions !== undefined && {
      closedToUs: !isListed(restrictions),
      reservedForUs: isListed(restrictions),
    }),
    linearHistory: read.required_linear_history?.enabled === true,
    signatures: read.required_signatures?.enabled === true,
    locked: read.lock_branch?.enabled === true,
    others,
  }
}

/** For settings added to GitHub after this was written. */
const isProtectionSettingEnabled = (value: unknown): boolean =>
  z.object({ enabled: z.literal(true) }).safeParse(value).success

export function parseRequiredChecks(status: {
  readonly contexts?: readonly string[] | undefined
  readonly checks?: z.infer<typeof requiredChecksSchema> | undefined
}) {
  const pinned = status.checks ?? []
  const named = (status.contexts ?? []).filter((name) => !pinned.some(({ context }) => context === name))
  return [...pinned.map((it) => toRequiredCheck(it.context, it.app_id)), ...named.map((name) => ({ name }))]
}

/** `Ref.refUpdateRule`: what binds the reader, for readers who can't see the protection itself. */
const refUpdateRuleSchema = z.object({
  repository: z.object({
    ref: z
      .object({
        refUpdateRule: z
          .object({
            requiredApprovingReviewCount: z.number().nullable(),
            requiresCodeOwnerReviews: z.boolean(),
            requiresConversationResolution: z.boolean(),
            requiresLinearHistory: z.boolean(),
            requiresSignatures: z.boolean(),
            viewerCanPush: z.boolean(),
          })
          .nullable(),
      })
      .nullable(),
  }),
})

export const refUpdateRuleQuery = `query UpdateRule($owner: String!, $repo: String!, $ref: String!) {
  repository(owner: $owner, name: $repo) { ref(qualifiedName: $ref) { refUpdateRule {
    requiredApprovingReviewCount requiresCodeOwnerReviews requiresConversationResolution
    requiresLinearHistory requiresSignatures viewerCanPush
  } } }
}`

export function parseRefUpdateRule(answer: unknown): Partial<BranchRequirements> | undefined {
  const rule = refUpdateRuleSchema.safeParse(answer).data?.repository.ref?.refUpdateRule
  // Null means either not bound or not allowed to know.
  if (rule === null || rule === undefined) return undefined
  const approvals = rule.requiredApprovingReviewCount ?? 0
  const reviews = approvals > 0 || rule.requiresCodeOwnerReviews || rule.requiresConversationResolution
  return {
    linearHistory: rule.requiresLinearHistory,
    signatures: rule.requiresSignatures,
    closedToUs: !rule.viewerCanPush,
    ...(reviews && {
      pullRequest: {
        approvals,
        dismissesStale: false,
        lastPushApproval: false,
        codeOwners: rule.requiresCodeOwnerReviews,
        conversations: rule.requiresConversationResolution,
      },
    }),
  }
}
