// Converts branch rules from GitHub's REST API. Pure. Unknown rules are named, because they might reject the planned merge.
import { z } from 'zod'
import type {
  BranchRules,
  MergeMethod,
  PullRequestRuleSettings,
  MergeQueueSettings,
  RequiredCheck,
} from '../../policy/branch-rules.ts'

const protectionSettingSchema = z.object({ enabled: z.boolean() }).optional()

const appListSchema = z.object({ apps: z.array(z.object({ id: z.number() })).optional() })

const requiredChecksSchema = z.array(
  z.object({ context: z.string(), app_id: z.number().nullable().optional() }),
)

const requiredChecksFields = {
  contexts: z.array(z.string()).optional(),
  checks: requiredChecksSchema.optional(),
}

/** The branch answer that every reader gets. */
export const branchResponseSchema = z.object({
  protected: z.boolean().optional(),
  protection: z
    .object({
      enabled: z.boolean().optional(),
      required_status_checks: z
        .object({ enforcement_level: z.string().nullable().optional(), ...requiredChecksFields })
        .optional(),
    })
    .optional(),
})

/** The answer for administrators. */
const branchProtectionSchema = z.object({
  required_status_checks: z.object({ strict: z.boolean().optional(), ...requiredChecksFields }).optional(),
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
  required_linear_history: protectionSettingSchema,
  required_signatures: protectionSettingSchema,
  required_conversation_resolution: protectionSettingSchema,
  lock_branch: protectionSettingSchema,
})

/** Settings that don't prevent a fast-forward. */
const ignoredProtectionSettings = new Set([
  'enforce_admins',
  'allow_force_pushes',
  'allow_deletions',
  'block_creations',
  'allow_fork_syncing',
])

/** For settings added to GitHub after this was written. */
const isProtectionSettingEnabled = (value: unknown): boolean =>
  z.object({ enabled: z.literal(true) }).safeParse(value).success

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

/** How rules apply to the App: `pull_requests_only` doesn't allow pushes. */
export type BranchRuleBypassMode = 'always' | 'exempt' | 'pull_requests_only' | 'never'

export interface AppliedBranchRule {
  readonly type: string
  readonly parameters?: unknown
  readonly bypass: BranchRuleBypassMode
}

export type BranchRequirements = Pick<
  BranchRules,
  'checks' | 'pullRequest' | 'locked' | 'linearHistory' | 'signatures' | 'mergeQueue' | 'queue' | 'workflows'
> &
  Pick<BranchRules, 'others' | 'closedToUs' | 'closedToPushes' | 'reservedForUs'> & {
    /** Absent: any method. */
    readonly allowedMethods?: readonly MergeMethod[]
  }

const mergeMethodSchema = z.enum(['merge', 'squash', 'rebase'])

const requiredChecksParametersSchema = z.object({
  strict_required_status_checks_policy: z.boolean(),
  do_not_enforce_on_create: z.boolean().optional(),
  required_status_checks: z.array(
    z.object({ context: z.string(), integration_id: z.number().nullable().optional() }),
  ),
})

const pullRequestParametersSchema = z.object({
  required_approving_review_count: z.number(),
  dismiss_stale_reviews_on_push: z.boolean(),
  require_code_owner_review: z.boolean(),
  require_last_push_approval: z.boolean(),
  required_review_thread_resolution: z.boolean(),
  allowed_merge_methods: z.array(mergeMethodSchema).optional(),
  required_reviewers: z.array(z.unknown()).optional(),
})

const mergeQueueParametersSchema = z.object({
  merge_method: z.enum(['MERGE', 'SQUASH', 'REBASE']),
  max_entries_to_merge: z.number(),
})

/** Any App may report where GitHub names none, or -1. */
const toRequiredCheck = (name: string, app: number | null | undefined): RequiredCheck =>
  typeof app === 'number' && app > 0 ? { name, app } : { name }

/** Rules that don't prevent a fast-forward of an existing branch. */
const ignoredBranchRuleTypes = new Set([
  'creation',
  'deletion',
  'non_fast_forward',
  'branch_name_pattern',
  'tag_name_pattern',
  // Asks for a review; nothing waits for it.
  'copilot_code_review',
])

/** Undefined: irrelevant to a merge. */
export function parseBranchRule(rule: AppliedBranchRule): Partial<BranchRequirements> | undefined {
  const { type, parameters, bypass } = rule
  if (type === 'update')
    return bypass === 'never'
      ? { closedToUs: true }
      : { reservedForUs: true, ...(bypass === 'pull_requests_only' && { closedToPushes: true }) }
  if (bypass === 'always' || bypass === 'exempt') return undefined
  switch (type) {
    case 'required_linear_history':
      return { linearHistory: true }
    case 'required_signatures':
      return { signatures: true }
    case 'workflows':
      return { workflows: true }
    case 'required_status_checks': {
      const read = requiredChecksParametersSchema.safeParse(parameters).data
      return read === undefined
        ? { others: [type] }
        : {
            checks: {
              strict: read.strict_required_status_checks_policy,
              required: read.required_status_checks.map((it) =>
                toRequiredCheck(it.context, it.integration_id),
              ),
            },
          }
    }
    case 'pull_request':
      return parsePullRequestRule(parameters)
    case 'merge_queue':
      return { mergeQueue: true, ...parseMergeQueueSettings(parameters) }
    default:
      return ignoredBranchRuleTypes.has(type) ? undefined : { others: [type] }
  }
}

function parsePullRequestRule(parameters: unknown): Partial<BranchRequirements> {
  const read = pullRequestParametersSchema.safeParse(parameters).data
  if (read === undefined) return { others: ['pull_request'] }
  const { allowed_merge_methods, required_reviewers = [] } = read
  return {
    pullRequest: {
      approvals: read.required_approving_review_count,
      dismissesStale: read.dismiss_stale_reviews_on_push,
      lastPushApproval: read.require_last_push_approval,
      codeOwners: read.require_code_owner_review,
      conversations: read.required_review_thread_resolution,
    },
    ...(allowed_merge_methods !== undefined && { allowedMethods: allowed_merge_methods }),
    ...(required_reviewers.length > 0 && { others: ['required_reviewers'] }),
  }
}

function parseMergeQueueSettings(parameters: unknown): { readonly queue?: MergeQueueSettings } {
  const read = mergeQueueParametersSchema.safeParse(parameters).data
  if (read === undefined) return {}
  const method = mergeMethodSchema.parse(read.merge_method.toLowerCase())
  return { queue: { method, largestGroup: read.max_entries_to_merge } }
}

/** Combined layers are as strict as the strictest one. */
export function combineBranchRequirements(parts: readonly Partial<BranchRequirements>[]): BranchRequirements {
  const isAny = (test: (part: Partial<BranchRequirements>) => boolean | undefined) =>
    parts.some((part) => test(part) === true)
  const pulls = parts.flatMap(({ pullRequest }) => pullRequest ?? [])
  const queue = parts.find((part) => part.queue !== undefined)?.queue
  const limits = parts.flatMap(({ allowedMethods }) => (allowedMethods === undefined ? [] : [allowedMethods]))
  return {
    checks: {
      required: removeDuplicateRequiredChecks(parts.flatMap(({ checks }) => checks?.required ?? [])),
      strict: isAny(({ checks }) => checks?.strict === true && checks.required.length > 0),
    },
    ...(pulls.length > 0 && { pullRequest: combinePullRequestRequirements(pulls) }),
    closedToUs: isAny((part) => part.closedToUs),
    closedToPushes: isAny((part) => part.closedToPushes),
    reservedForUs: isAny((part) => part.reservedForUs) && !isAny((part) => part.closedToUs),
    locked: isAny((part) => part.locked),
    linearHistory: isAny((part) => part.linearHistory),
    signatures: isAny((part) => part.signatures),
    mergeQueue: isAny((part) => part.mergeQueue),
    ...(queue !== undefined && { queue }),
    workflows: isAny((part) => part.workflows),
    others: [...new Set(parts.flatMap(({ others }) => others ?? []))].sort(),
    ...(limits.length > 0 && {
      allowedMethods: mergeMethodSchema.options.filter((method) =>
        limits.every((limit) => limit.includes(method)),
      ),
    }),
  }
}

function removeDuplicateRequiredChecks(checks: readonly RequiredCheck[]): RequiredCheck[] {
  return [...new Map(checks.map((check) => [JSON.stringify([check.name, check.app]), check])).values()]
}

function combinePullRequestRequirements(pulls: readonly PullRequestRuleSettings[]): PullRequestRuleSettings {
  return {
    approvals: Math.max(...pulls.map(({ approvals }) => approvals)),
    dismissesStale: pulls.some((it) => it.dismissesStale),
    lastPushApproval: pulls.some((it) => it.lastPushApproval),
    codeOwners: pulls.some((it) => it.codeOwners),
    conversations: pulls.some((it) => it.conversations),
  }
}

/** Whether a rule prevents creating a branch from an unsigned merge without checks, or deleting it. */
export function doesRuleBlockStagingBranch({ type, parameters, bypass }: AppliedBranchRule): boolean {
  if (bypass === 'always' || bypass === 'exempt') return false
  switch (type) {
    // Creating a branch is not an update, and deleting it is not a force push.
    case 'update':
    case 'non_fast_forward':
    case 'tag_name_pattern':
    case 'copilot_code_review':
      return false
    case 'required_status_checks':
    case 'workflows':
      return z.object({ do_not_enforce_on_create: z.literal(true) }).safeParse(parameters).data === undefined
    default:
      return true
  }
}

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

export function parseRequiredChecks(status: {
  readonly contexts?: readonly string[] | undefined
  readonly checks?: z.infer<typeof requiredChecksSchema> | undefined
}) {
  const pinned = status.checks ?? []
  const named = (status.contexts ?? []).filter((name) => !pinned.some(({ context }) => context === name))
  return [...pinned.map((it) => toRequiredCheck(it.context, it.app_id)), ...named.map((name) => ({ name }))]
}

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
