// Converts branch rules from GitHub's REST API. Pure. Unknown rules are named, because they might reject the planned merge.
import { z } from 'zod'
import type {
  BranchRules,
  MergeMethod,
  PullRequestRuleSettings,
  MergeQueueSettings,
  RequiredCheck,
} from '../../policy/branch-rules.ts'

/** How rules apply to our App: `pull_requests_only` doesn't allow pushes. */
export type RuleBypassMode = 'always' | 'exempt' | 'pull_requests_only' | 'never'

export interface AppliedBranchRule {
  readonly type: string
  readonly parameters?: unknown
  readonly bypass: RuleBypassMode
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
export const toRequiredCheck = (name: string, app: number | null | undefined): RequiredCheck =>
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
export function parseBranchRule({
  type,
  parameters,
  bypass,
}: AppliedBranchRule): Partial<BranchRequirements> | undefined {
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
