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

/** Merges like the App: pushes the merge to a temporary branch, sets checks on it, and then pushes it to the base. */
const pushMergeCommitAfterChecks = async (it: CanaryProbeContext): Promise<CanaryProbeResult> => {
  await it.stage.mustPush({ name: it.temporary, to: it.M })
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
    rule: 'GitHub accepts a pushed merge even if the pull request is behind its base, unless a rule forbids the push',
    source: refsApiDocsUrl,
    rules: [],
    expected: 'accepted',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'GitHub marks a pull request as merged when its merge commit is pushed',
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
    rule: 'A push with --force-with-lease does not overwrite a base branch that has moved',
    source:
      'https://git-scm.com/docs/git-push#Documentation/git-push.txt---force-with-leaseltrefnamegtltexpectgt',
    rules: [],
    expected: 'stale info',
    attempt: ({ stage, base, H, M }) => stage.push([{ name: base, to: M, from: H }]),
  },
  {
    rule: 'The REST API can only fast-forward a branch',
    source: refsApiDocsUrl,
    rules: [],
    expected: 'Update is not a fast forward',
    attempt: async ({ stage, base, temporary, H }) => {
      await stage.mustPush({ name: temporary, to: H })
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
    rule: 'GitHub rejects a pushed merge if only the head has checks and is behind the base',
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
    rule: 'GitHub accepts a pushed merge commit that has checks, even if the head has no checks and is behind the base',
    source: 'https://github.com/bors-ng/bors-ng/blob/master/lib/worker/batcher.ex',
    rules: [createRequiredChecksRule(false)],
    expected: 'accepted',
    attempt: pushMergeCommitAfterChecks,
  },
  {
    rule: 'GitHub accepts a pushed merge commit that has checks, even if branches must be up to date',
    source: `${availableRulesDocsUrl}#require-status-checks-to-pass-before-merging`,
    rules: [createRequiredChecksRule(true)],
    expected: 'accepted',
    attempt: pushMergeCommitAfterChecks,
  },
  {
    rule: 'GitHub accepts a pushed merge commit without checks if the head has checks and is up to date',
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
    rule: 'The merge API accepts a head that has checks, even if the head is behind the base',
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
    rule: 'Pushing the merge of an open pull request satisfies a rule that requires pull requests',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule()],
    expected: 'accepted',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'Pushing the merge of a closed pull request violates a rule that requires pull requests',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule()],
    expected: 'Changes must be made through a pull request',
    attempt: async (it) => {
      await it.stage.closePull(it.number)
      return await pushMergeCommitToBase(it)
    },
  },
  {
    rule: 'GitHub rejects a pushed merge if an approval is missing',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule({ required_approving_review_count: 1 })],
    expected: 'At least 1 approving review is required',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'The merge API rejects a pull request if an approval is missing',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule({ required_approving_review_count: 1 })],
    expected: 'At least 1 approving review is required',
    attempt: ({ stage, number, H }) => stage.merge(number, H, 'merge'),
  },
  {
    rule: 'GitHub rejects a pushed merge commit if only squash merges are allowed',
    source: `${availableRulesDocsUrl}#require-a-pull-request-before-merging`,
    rules: [createPullRequestRule({ allowed_merge_methods: ['squash'] })],
    expected: 'not allowed',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'GitHub rejects a pushed merge commit if a linear history is required',
    source: `${availableRulesDocsUrl}#require-linear-history`,
    rules: [{ type: 'required_linear_history' }],
    expected: 'must not contain merge commits',
    attempt: pushMergeCommitToBase,
  },
  {
    rule: 'The merge API accepts a squash merge if a linear history is required',
    source: `${availableRulesDocsUrl}#require-linear-history`,
    rules: [{ type: 'required_linear_history' }],
    expected: 'accepted',
    attempt: ({ stage, number, H }) => stage.merge(number, H, 'squash'),
  },
  {
    rule: 'GitHub rejects unsigned commits if signatures are required',
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
    rule: 'GitHub rejects a force push, but accepts a fast-forward push with --force-with-lease',
    source: `${availableRulesDocsUrl}#block-force-pushes`,
    rules: [{ type: 'non_fast_forward' }],
    expected: 'Cannot force-push to this branch, then accepted',
    attempt: async (it) => {
      const forced = await it.stage.push([{ name: it.base, to: it.H, force: true }])
      return `${forced}, then ${await pushMergeCommitToBase(it)}`
    },
  },
]
