// The rules that the App relies on when it merges. Each probe has the required settings, the attempted action, and
// GitHub's expected answer. The same table runs against the sandbox, so a difference on GitHub is a rule to correct
// in the sandbox.
import type { CanaryProbeResult, RulesetRule, CanaryRepository } from './canary-repository.ts'

export interface CanaryProbe {
  readonly rule: string
  readonly source: string
  readonly rules: readonly RulesetRule[]
  /** The base does not move after the pull request is opened. */
  readonly upToDate?: true
  /** `accepted`, or a part of GitHub's message. */
  readonly expected: string
  readonly attempt: (it: CanaryProbeContext) => Promise<CanaryProbeResult>
}

/** A pull request of the run, and a merge commit for it that was created manually. */
export interface CanaryProbeContext {
  readonly stage: CanaryRepository
  /** Names of branches. */
  readonly base: string
  readonly temporary: string
  readonly number: number
  /** The tip of the base, the head, and their merge commit. */
  readonly B: string
  readonly H: string
  readonly M: string
}

const githubDocsUrl = 'https://docs.github.com'
const availableRulesDocsUrl = `${githubDocsUrl}/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets`
const statusCheckTroubleshootingUrl = `${githubDocsUrl}/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks`
const mergeApiDocsUrl = `${githubDocsUrl}/rest/pulls/pulls#merge-a-pull-request`
const refsApiDocsUrl = `${githubDocsUrl}/rest/git/refs#update-a-reference`

const canaryStatusContext = 'catalog-bot canary'
const createRequiredChecksRule = (strict: boolean): RulesetRule => ({
  type: 'required_status_checks',
  parameters: {
    strict_required_status_checks_policy: strict,
    required_status_checks: [{ context: canaryStatusContext }],
  },
})
const createPullRequestRule = (more: Readonly<Record<string, unknown>> = {}): RulesetRule => ({
  type: 'pull_request',
  parameters: {
    required_approving_review_count: 0,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
    ...more,
  },
})

const pushMergeCommitToBase = ({ stage, base, B, M }: CanaryProbeContext): Promise<CanaryProbeResult> =>
  stage.push([{ name: base, to: M, from: B }])

/**
 * Merges like the App: pushes the merge to a temporary branch, sets checks on it, and then pushes it to the base.
 */
const pushMergeCommitAfterChecks = async (it: CanaryProbeContext): Promise<CanaryProbeResult> => {
  await it.stage.mustPush(it.temporary, it.M)
  await it.stage.green(it.M, canaryStatusContext)
  return await it.stage.accepted(() => pushMergeCommitToBase(it))
}

const mergePullRequestAfterChecks = async ({
  stage,
  number,
  H,
}: CanaryProbeContext): Promise<CanaryProbeResult> => {
  await stage.green(H, canaryStatusContext)
  return await stage.accepted(() => stage.merge(number, H, 'merge'))
}

export const canaryProbes: readonly CanaryProbe[] = [
  {
    rule: 'A pushed merge of a pull request that is behind its base is accepted if no rule forbids it',
    source: refsApiDocsUrl,
    rules: [],
    expected: 'accepted',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'GitHub marks a pull request as merged when its merge is pushed',
    source: `${githubDocsUrl}/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/about-pull-request-merges#indirect-merges`,
    rules: [],
    expected: 'merged',
    attempt: async (it) => {
      const result = await pushMergeCommitToBase(it)
      if (result !== 'accepted') return result
      return (await it.stage.isMerged(it.number)) ? 'merged' : 'not marked as merged'
    },
  },
  {
    rule: 'A push with compare-and-swap does not overwrite a base that moved',
    source:
      'https://git-scm.com/docs/git-push#Documentation/git-push.txt---force-with-leaseltrefnamegtltexpectgt',
    rules: [],
    expected: 'stale info',
    attempt: ({ stage, base, H, M }) => stage.push([{ name: base, to: M, from: H }]),
  },
  {
    rule: 'REST can only fast-forward a branch',
    source: refsApiDocsUrl,
    rules: [],
    expected: 'Update is not a fast forward',
    attempt: async ({ stage, base, temporary, H }) => {
      await stage.mustPush(temporary, H)
      return await stage.move(base, H)
    },
  },
  {
    rule: 'The merge API rejects any head other than the specified one',
    source: mergeApiDocsUrl,
    rules: [],
    expected: 'Head branch was modified',
    attempt: ({ stage, number, B }) => stage.merge(number, B, 'merge'),
  },
  {
    rule: 'Checks on a head that is behind the base do not count for its pushed merge',
    source: statusCheckTroubleshootingUrl,
    rules: [createRequiredChecksRule(false)],
    expected: 'is expected',
    // Waits as long as GitHub may need to see the checks. Otherwise the probe would only show that GitHub has not
    // seen them yet.
    attempt: async (it) => {
      await it.stage.green(it.H, canaryStatusContext)
      return await it.stage.accepted(() => pushMergeCommitToBase(it))
    },
  },
  {
    rule: 'Checks on the merge commit count for its push, even if the head is behind the base and has no checks',
    source: 'https://github.com/bors-ng/bors-ng/blob/master/lib/worker/batcher.ex',
    rules: [createRequiredChecksRule(false)],
    expected: 'accepted',
    attempt: pushMergeCommitAfterChecks,
  },
  {
    rule: 'Checks on the merge commit also count if branches must be up to date, because the merge contains the base',
    source: `${availableRulesDocsUrl}#require-status-checks-to-pass-before-merging`,
    rules: [createRequiredChecksRule(true)],
    expected: 'accepted',
    attempt: pushMergeCommitAfterChecks,
  },
  {
    rule: 'The pushed merge of an up-to-date pull request needs no checks on the merge commit',
    source: statusCheckTroubleshootingUrl,
    rules: [createRequiredChecksRule(true)],
    upToDate: true,
    expected: 'accepted',
    attempt: async (it) => {
      await it.stage.green(it.H, canaryStatusContext)
      return await it.stage.accepted(() => pushMergeCommitToBase(it))
    },
  },
  {
    rule: 'The merge API accepts a head that is behind the base but has the checks',
    source: mergeApiDocsUrl,
    rules: [createRequiredChecksRule(false)],
    expected: 'accepted',
    attempt: mergePullRequestAfterChecks,
  },
  {
    rule: 'The merge API rejects a head that is behind the base if branches must be up to date',
    source: `${githubDocsUrl}/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-status-checks-before-merging`,
    rules: [createRequiredChecksRule(true)],
    expected: 'expected',
    attempt: mergePullRequestAfterChecks,
  },
  {
    rule: 'The pushed merge of an open pull request counts as a change through a pull request',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule()],
    expected: 'accepted',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'The pushed merge of a closed pull request does not count as a change through a pull request',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule()],
    expected: 'Changes must be made through a pull request',
    attempt: async (it) => {
      await it.stage.closePull(it.number)
      return await pushMergeCommitToBase(it)
    },
  },
  {
    rule: 'A missing approval blocks the push',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule({ required_approving_review_count: 1 })],
    expected: 'At least 1 approving review is required',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'A missing approval blocks the merge API',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule({ required_approving_review_count: 1 })],
    expected: 'At least 1 approving review is required',
    attempt: ({ stage, number, H }) => stage.merge(number, H, 'merge'),
  },
  {
    rule: 'A pushed merge is rejected if only squash merges are allowed',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule({ allowed_merge_methods: ['squash'] })],
    expected: 'not allowed',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'A pushed merge is rejected if a linear history is required',
    source: `${availableRulesDocsUrl}#require-linear-history`,
    rules: [{ type: 'required_linear_history' }],
    expected: 'must not contain merge commits',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'A squash through the merge API is accepted if a linear history is required',
    source: `${availableRulesDocsUrl}#require-linear-history`,
    rules: [{ type: 'required_linear_history' }],
    expected: 'accepted',
    attempt: ({ stage, number, H }) => stage.merge(number, H, 'squash'),
  },
  {
    rule: 'Unsigned commits are rejected if signatures are required',
    source: `${availableRulesDocsUrl}#require-signed-commits`,
    rules: [{ type: 'required_signatures' }],
    expected: 'signatures',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'A user who cannot bypass "Restrict updates" cannot push',
    source: `${availableRulesDocsUrl}#restrict-updates`,
    rules: [{ type: 'update' }],
    expected: 'Cannot update this protected ref',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'A user who cannot bypass "Restrict updates" cannot merge through the API',
    source: `${availableRulesDocsUrl}#restrict-updates`,
    rules: [{ type: 'update' }],
    expected: 'Cannot update this protected ref',
    attempt: ({ stage, number, H }) => stage.merge(number, H, 'merge'),
  },
  {
    rule: 'A force push is rejected, but a push with compare-and-swap is not a force push',
    source: `${availableRulesDocsUrl}#block-force-pushes`,
    rules: [{ type: 'non_fast_forward' }],
    expected: 'Cannot force-push to this branch, then accepted',
    attempt: async (it) => {
      const forced = await it.stage.push([{ name: it.base, to: it.H, force: true }])
      return `${forced}, then ${await pushMergeCommitToBase(it)}`
    },
  },
]
