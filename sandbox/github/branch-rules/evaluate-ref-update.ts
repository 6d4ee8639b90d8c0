// The evaluation of one ref update: every layer that is in force, every rule in it, the exemptions, and the messages.
// It never moves a ref.
import type { ProtectionActorNames } from './rule-types.ts'
import { checkLinearHistory, checkCommitSignatures } from './commit-history-rules.ts'
import { collectRuleLayers } from './rule-layers.ts'
import {
  checkRequiredCodeScanning,
  checkRequiredDeployments,
  checkRequiredWorkflows,
} from './required-results.ts'
import {
  checkAuthorEmail,
  checkBranchName,
  checkCommitMessage,
  checkCommitterEmail,
} from './name-patterns.ts'
import type { NamePattern } from './name-patterns.ts'
import type { NonDeletingRefUpdate, RefUpdate, RuleViolation } from './ref-update.ts'
import { checkRequiredChecks } from './required-checks.ts'
import { checkConversationResolution, checkPullRequestRule } from './required-pull.ts'
import {
  checkRefCreation,
  checkRefDeletion,
  checkLockedBranch,
  checkNonFastForward,
  checkRestrictedPushers,
  checkRefUpdate,
} from './restrictions.ts'
import type { PullRequestParameters, BranchRule, StatusCheckParameters } from './rule-types.ts'

/** The reason why an update is rejected, or the violation that a bypass allowed. */
export interface RefUpdateRuleVerdict {
  /** GH013 is for rulesets, and GH006 for classic protection. */
  readonly code: 'GH006' | 'GH013'
  readonly rejected: readonly RuleViolation[]
  readonly bypassed: readonly RuleViolation[]
}

type RuleEvaluator = (
  it: RefUpdate,
  parameters: unknown,
) => readonly RuleViolation[] | Promise<readonly RuleViolation[]>

/** A rule about the new commit of an update. A deletion has none. */
const createNonDeletionRuleEvaluator =
  (
    judge: (
      move: NonDeletingRefUpdate,
      parameters: never,
    ) => readonly RuleViolation[] | Promise<readonly RuleViolation[]>,
  ): RuleEvaluator =>
  (it, parameters) =>
    it.now === undefined ? [] : judge({ ...it, now: it.now }, parameters as never)

const ruleEvaluators: Readonly<Record<string, RuleEvaluator>> = {
  creation: checkRefCreation,
  update: checkRefUpdate,
  deletion: checkRefDeletion,
  locked: checkLockedBranch,
  non_fast_forward: checkNonFastForward,
  restricted_pushers: (it, named) => checkRestrictedPushers(it, named as ProtectionActorNames),
  required_linear_history: createNonDeletionRuleEvaluator(checkLinearHistory),
  required_signatures: createNonDeletionRuleEvaluator(checkCommitSignatures),
  required_status_checks: createNonDeletionRuleEvaluator((move, it: StatusCheckParameters) =>
    checkRequiredChecks(move, it),
  ),
  pull_request: createNonDeletionRuleEvaluator((move, it: PullRequestParameters) =>
    checkPullRequestRule(move, it),
  ),
  conversation_resolution: createNonDeletionRuleEvaluator(checkConversationResolution),
  merge_queue: createNonDeletionRuleEvaluator(({ merge }) =>
    merge?.queued === true ? [] : [{ message: 'Changes must be made through the merge queue' }],
  ),
  workflows: createNonDeletionRuleEvaluator(checkRequiredWorkflows),
  code_scanning: createNonDeletionRuleEvaluator(checkRequiredCodeScanning),
  required_deployments: createNonDeletionRuleEvaluator(checkRequiredDeployments),
  branch_name_pattern: (it, parameters) => checkBranchName(it, parameters as NamePattern),
  commit_message_pattern: createNonDeletionRuleEvaluator(checkCommitMessage),
  commit_author_email_pattern: createNonDeletionRuleEvaluator(checkAuthorEmail),
  committer_email_pattern: createNonDeletionRuleEvaluator(checkCommitterEmail),
}

export async function evaluateRule(
  it: RefUpdate,
  { type, parameters }: BranchRule,
): Promise<readonly RuleViolation[]> {
  const judge = ruleEvaluators[type]
  if (judge === undefined) throw new Error(`the sandbox does not enforce ${type}`)
  return await judge(it, parameters)
}

export async function evaluateRefUpdate(it: RefUpdate): Promise<RefUpdateRuleVerdict> {
  const rejected = new Map<string, RuleViolation>()
  const bypassed = new Map<string, RuleViolation>()
  let code: RefUpdateRuleVerdict['code'] = 'GH006'
  for (const { ruleset, rules, bypass } of collectRuleLayers(it)) {
    if (bypass === 'exempt') continue
    for (const rule of rules)
      for (const violation of await evaluateRule(it, rule)) {
        if (bypass === 'no' && ruleset !== undefined) code = 'GH013'
        // A message that two layers share is reported once.
        ;(bypass === 'yes' ? bypassed : rejected).set(violation.message, violation)
      }
  }
  return { code, rejected: [...rejected.values()], bypassed: [...bypassed.values()] }
}
