// Each setting of a branch on its own: the rows of the settings table in the reference.
import {
  createStatusChecksRule,
  createPullRequestRule,
  createMergeQueueRule,
} from '../../sandbox/github/branch-rules/merge-rules-fixture.ts'
import {
  approvePullAsBob,
  createCiStatusSetter,
  createExpectedMergeResult,
  createResultAfterFix,
  rejectPushAndMerge,
  botCheckNames,
  forcePushPullHead,
  type MergeTableRowPull,
  type MergeTableRow,
  type MergeTableRowRepository,
} from './table-row.ts'

const approvePullAsCarol = ({ github, pull }: MergeTableRowPull): unknown =>
  github.review(pull, 'carol', 'approve')
const missingRequiredCheckMessage = 'is expected'
const approvalRequiredMessage = 'At least 1 approving review is required by reviewers with write access.'
const createBranchRuleSetter =
  (...rules: Parameters<MergeTableRowRepository['github']['addRules']>[1]) =>
  ({ github, full }: MergeTableRowRepository) =>
    github.addRules(full, rules)
const requireBotChecks = (strict = false) =>
  createBranchRuleSetter(
    createStatusChecksRule(
      botCheckNames.map((context) => ({ context })),
      { strict_required_status_checks_policy: strict },
    ),
  )
const requireCheckFromApp = (to: 'app' | 'otherApp') => (it: MergeTableRowRepository) => {
  const [, validation = ''] = botCheckNames
  return it.github.addRules(it.full, [
    createStatusChecksRule([{ context: validation, integration_id: it[to].id }]),
  ])
}
const requireCiCheck = (strict = false) =>
  createBranchRuleSetter(
    createStatusChecksRule([{ context: 'ci' }], { strict_required_status_checks_policy: strict }),
  )
const createAppBypassOptions = (
  it: MergeTableRowRepository,
  bypass_mode: 'always' | 'exempt' | 'pull_request',
) => ({ bypass_actors: [{ actor_type: 'Integration', actor_id: it.app.id, bypass_mode }] as const })
const restrictBranchUpdates = (mode: 'always' | 'exempt' | 'pull_request') => (it: MergeTableRowRepository) =>
  it.github.addRules(it.full, [{ type: 'update' }], createAppBypassOptions(it, mode))
const removeAllRulesets = (it: MergeTableRowRepository): void => {
  for (const ruleset of [...it.github.repository(it.full).rulesets.values()])
    it.github.removeRuleset(it.full, ruleset)
}

const requireWorkflow = createBranchRuleSetter({
  type: 'workflows',
  parameters: { workflows: [{ path: '.github/workflows/ci.yml', repository_id: 1 }] },
})
const runRequiredWorkflow = ({ github, full, pull }: MergeTableRowPull): unknown =>
  github.runWorkflow(full, 'ci.yml', pull.headSha)
const requireScanAndDeployment = createBranchRuleSetter(
  {
    type: 'code_scanning',
    parameters: {
      code_scanning_tools: [{ tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'all' }],
    },
  },
  { type: 'required_deployments', parameters: { required_deployment_environments: ['staging'] } },
)
const addScanAndDeploymentResults = ({ github, full, pull }: MergeTableRowPull): void => {
  github.analyze(full, pull.headSha, 'CodeQL')
  github.deploy(full, pull.headSha, 'staging')
}

/** The rows of one setting, by its name in the reference. */
const createRows = (
  setting: string,
  rows: readonly Omit<MergeTableRow, 'setting'>[],
): readonly MergeTableRow[] => rows.map((row) => ({ setting, ...row }))

export const singleBranchRuleRows: readonly MergeTableRow[] = [
  ...createRows('none, deletion, non_fast_forward', [
    {
      name: 'nothing is demanded',
      source: 'a push by compare-and-swap is a fast-forward',
      set: () => undefined,
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'no account may delete or force-push',
      source: 'a push by compare-and-swap is a fast-forward',
      set: createBranchRuleSetter({ type: 'deletion' }, { type: 'non_fast_forward' }),
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
  ]),
  ...createRows('required own checks', [
    {
      name: 'our checks are required, and the head is behind',
      withBot: true,
      source: 'bors-ng, Anubis, push-protected: success is put on the merge before the push',
      set: requireBotChecks(),
      push: 'accepted',
      api: { merge: 'accepted' },
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'our checks are required, and the head contains the base',
      source: 'troubleshooting required status checks: up to date and green can be merged locally and pushed',
      set: requireBotChecks(),
      behind: false,
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'our check is required of our App',
      source: 'available rules for rulesets: expected source',
      set: requireCheckFromApp('app'),
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'our check is required of another App',
      source: 'prow 915: "was not set by the expected GitHub app"',
      set: requireCheckFromApp('otherApp'),
      ...rejectPushAndMerge('was not set by the expected GitHub app'),
      bot: createResultAfterFix(
        [/catalog-bot \/ validation/, /App/i],
        (it) => {
          removeAllRulesets(it)
          return requireCheckFromApp('app')(it)
        },
        'push',
      ),
    },
    {
      name: 'our checks are required on an up-to-date branch, and the head is behind',
      source:
        'the merge contains the base, so the condition holds for it; merging by API is refused (aimee 2460)',
      set: requireBotChecks(true),
      push: 'accepted',
      api: { merge: '3 of 3 required status checks are expected.' },
      bot: createExpectedMergeResult('push'),
    },
  ]),
  ...createRows('required foreign checks (CI)', [
    {
      name: 'CI is required and green, and the head contains the base',
      source: 'troubleshooting required status checks: up to date and green can be merged locally and pushed',
      set: requireCiCheck(),
      behind: false,
      before: createCiStatusSetter('success'),
      push: 'accepted',
      bot: createExpectedMergeResult('push', 'merge'),
    },
    {
      name: 'CI is required and green, and the head is behind',
      withBot: true,
      source:
        'loot 687, data-client 1016: a local merge of a head that is behind needs its own; the button does not',
      set: requireCiCheck(),
      before: createCiStatusSetter('success'),
      push: missingRequiredCheckMessage,
      api: { merge: 'accepted' },
      bot: createExpectedMergeResult('merge'),
    },
    {
      name: 'CI is required and green on an up-to-date branch, and the head is behind',
      source: 'aimee 2460: behind and strict is refused though all is green',
      set: requireCiCheck(true),
      before: createCiStatusSetter('success'),
      ...rejectPushAndMerge(missingRequiredCheckMessage),
      bot: createResultAfterFix(
        [/\bci\b/, /up to date|behind|update|contain/i],
        async (it) => {
          await forcePushPullHead(it)
          await createCiStatusSetter('success')(it)
        },
        'push',
        'merge',
      ),
    },
    {
      name: 'CI is required and has not run yet',
      withBot: true,
      source: 'troubleshooting required status checks: a missing check is not a success',
      set: requireCiCheck(),
      behind: false,
      ...rejectPushAndMerge(missingRequiredCheckMessage),
      bot: createResultAfterFix([/\bci\b/], createCiStatusSetter('success'), 'push', 'merge'),
    },
    {
      name: 'CI is required and failed',
      source: 'troubleshooting required status checks',
      set: requireCiCheck(),
      before: createCiStatusSetter('failure'),
      push: missingRequiredCheckMessage,
      api: { merge: 'is failing' },
      bot: createResultAfterFix([/\bci\b/], createCiStatusSetter('success'), 'merge'),
    },
    {
      name: 'CI is required and runs on our temporary branches, too',
      withBot: true,
      source: 'bors-ng, obsidian-reminder 350: checks of a push to another branch count',
      set: requireCiCheck(),
      before: createCiStatusSetter('success'),
      runsOnTemporary: 'ci',
      push: missingRequiredCheckMessage,
      bot: createExpectedMergeResult('push', 'merge'),
    },
  ]),
  ...createRows('pull_request, 0 approvals', [
    {
      name: 'a pull request is required, and no approval',
      source: 'available rules for rulesets: it must be opened, not necessarily approved',
      set: createBranchRuleSetter(createPullRequestRule()),
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
  ]),
  ...createRows('pull_request, ≥1', [
    {
      name: 'an approval is required and there',
      source: 'rust-bitcoin 766, rocq 8183: the pushed merge of an approved pull request is taken',
      set: createBranchRuleSetter(createPullRequestRule({ required_approving_review_count: 1 })),
      before: approvePullAsBob,
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'an approval is required and missing',
      withBot: true,
      source: 'rocq 8183: could not push without first approving',
      set: createBranchRuleSetter(createPullRequestRule({ required_approving_review_count: 1 })),
      ...rejectPushAndMerge(approvalRequiredMessage),
      bot: createResultAfterFix([/approv/i], approvePullAsBob, 'push'),
    },
    {
      name: 'one reviewer requests changes although another approves',
      source: 'about protected branches: who requests changes must approve, or the review must be dismissed',
      set: createBranchRuleSetter(createPullRequestRule({ required_approving_review_count: 1 })),
      before: (it) => {
        approvePullAsBob(it)
        it.github.review(it.pull, 'carol', 'changes', 'Not yet.')
      },
      ...rejectPushAndMerge('Changes have been requested.'),
      bot: createResultAfterFix([/approv|review/i], approvePullAsCarol, 'push'),
    },
  ]),
  ...createRows('+ dismiss stale / last push', [
    {
      name: 'an approval ends with the next push, and the merge is the one that GitHub makes',
      source: 'security changes to mergeability: the contents must exactly match',
      set: createBranchRuleSetter(
        createPullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
      ),
      before: approvePullAsBob,
      push: 'accepted',
      bot: createExpectedMergeResult('push', 'merge'),
    },
    {
      name: 'another account than the last pusher approved',
      source: 'security changes to mergeability: the contents must exactly match',
      set: createBranchRuleSetter(
        createPullRequestRule({ required_approving_review_count: 1, require_last_push_approval: true }),
      ),
      before: approvePullAsBob,
      push: 'accepted',
      bot: createExpectedMergeResult('push', 'merge'),
    },
  ]),
  ...createRows('code owners, conversations', [
    {
      name: 'a code owner has to approve and did not',
      source: 'about protected branches: review from code owners',
      set: createBranchRuleSetter(createPullRequestRule({ require_code_owner_review: true })),
      files: { '.github/CODEOWNERS': '* @carol\n' },
      before: approvePullAsBob,
      ...rejectPushAndMerge('Waiting on code owner review from carol.'),
      bot: createResultAfterFix([/code owner|carol/i], approvePullAsCarol, 'push'),
    },
    {
      name: 'a conversation is open',
      source: 'about protected branches: conversation resolution',
      set: createBranchRuleSetter(createPullRequestRule({ required_review_thread_resolution: true })),
      before: ({ github, pull }) => github.openConversation(pull),
      ...rejectPushAndMerge('A conversation must be resolved'),
      bot: createResultAfterFix(
        [/conversation/i],
        ({ github, pull }) => github.resolveConversation(pull),
        'push',
      ),
    },
  ]),
  ...createRows('`update` / restricted pushers', [
    {
      name: 'no account may update the branch',
      withBot: true,
      source: 'available rules for rulesets: restrict updates',
      set: createBranchRuleSetter({ type: 'update' }),
      ...rejectPushAndMerge('Cannot update this protected ref.'),
      bot: createResultAfterFix(
        [/bypass|Cannot update this protected ref|may not (push|update)|update rule|restrict|listed users/i],
        (it) => {
          removeAllRulesets(it)
          return restrictBranchUpdates('always')(it)
        },
        'push',
      ),
    },
    {
      name: 'the App alone may update the branch',
      source: 'rust-lang/team: an update rule, bypassed by bors alone',
      set: restrictBranchUpdates('always'),
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'the App alone is exempt from the update rule',
      source: "GitHub's schema: rules will not be run for that actor",
      set: restrictBranchUpdates('exempt'),
      push: 'accepted',
      bot: createExpectedMergeResult('push'),
    },
    {
      name: 'the App may update the branch by pull requests only',
      source: "GitHub's schema: can only bypass rules on pull requests",
      set: restrictBranchUpdates('pull_request'),
      push: 'Cannot update this protected ref.',
      api: { merge: 'accepted' },
      bot: createExpectedMergeResult('merge'),
    },
  ]),
  ...createRows('required_linear_history', [
    {
      name: 'linear history',
      withBot: true,
      source: 'available rules for rulesets: prevents pushing merge commits',
      set: createBranchRuleSetter({ type: 'required_linear_history' }),
      push: 'This branch must not contain merge commits.',
      api: { merge: 'This branch must not contain merge commits.', squash: 'accepted' },
      bot: createExpectedMergeResult('linear'),
    },
    {
      name: 'linear history in a repository that allows merge commits alone',
      source: 'about protected branches: squash or rebase must be allowed',
      set: (it) => {
        it.github.allowMergeMethods(it.full, { squash: false, rebase: false })
        return createBranchRuleSetter({ type: 'required_linear_history' })(it)
      },
      push: 'This branch must not contain merge commits.',
      api: {
        merge: 'This branch must not contain merge commits.',
        squash: 'not allowed',
        rebase: 'not allowed',
      },
      bot: createResultAfterFix(
        [/linear|merge commit/i, /squash|rebase/i],
        ({ github, full }) => github.allowMergeMethods(full, { squash: true }),
        'linear',
      ),
    },
  ]),
  ...createRows('`allowed_merge_methods` without merge', [
    {
      name: 'squash is the only method that is allowed',
      source:
        'available rules for rulesets: allowed merge methods; that a pushed merge counts as one is inferred',
      set: createBranchRuleSetter(createPullRequestRule({ allowed_merge_methods: ['squash'] })),
      push: 'Merge commits are not allowed on this repository.',
      api: { merge: 'not allowed', squash: 'accepted' },
      bot: createExpectedMergeResult('linear'),
    },
    {
      name: 'rebase is the only method that is allowed',
      source:
        'available rules for rulesets: allowed merge methods; that a pushed merge counts as one is inferred',
      set: createBranchRuleSetter(createPullRequestRule({ allowed_merge_methods: ['rebase'] })),
      push: 'Merge commits are not allowed on this repository.',
      api: { squash: 'not allowed', rebase: 'accepted' },
      bot: createExpectedMergeResult('linear'),
    },
  ]),
  ...createRows('repo `allow_merge_commit=false` alone', [
    {
      name: 'the repository allows no merge commits, and no rule says so',
      source: 'prow: 405 by API; what a push meets is not documented',
      set: ({ github, full }) => github.allowMergeMethods(full, { merge: false }),
      push: 'accepted',
      api: { merge: 'Merge commits are not allowed on this repository.' },
      bot: createExpectedMergeResult('push', 'linear'),
    },
  ]),
  ...createRows('required_signatures', [
    {
      name: 'signatures are required, and the head is signed',
      withBot: true,
      source: 'signature verification for bots: commits made by API as the App are signed',
      set: createBranchRuleSetter({ type: 'required_signatures' }),
      pull: { signed: true },
      push: 'Commits must have verified signatures.',
      api: { merge: 'accepted' },
      bot: createExpectedMergeResult('signed', 'merge'),
    },
    {
      name: 'signatures are required, and the head is not signed',
      source:
        'available rules for rulesets: every commit in the range is checked, and only the author of a pull request can squash it',
      set: createBranchRuleSetter({ type: 'required_signatures' }),
      push: 'Commits must have verified signatures.',
      api: {
        merge: 'Commits must have verified signatures.',
        squash: 'Commits must have verified signatures.',
      },
      bot: { ends: 'waits', textPatterns: [/sign/i] },
    },
  ]),
  ...createRows('merge_queue', [
    {
      name: 'a merge queue',
      withBot: true,
      source: 'managing a merge queue; kargo 5405: PUT merge is refused',
      set: createBranchRuleSetter(createMergeQueueRule()),
      ...rejectPushAndMerge('Changes must be made through the merge queue'),
      // GitHub merges a group as soon as its requirements are met; here, immediately.
      bot: { ends: 'waits', textPatterns: [/merge queue does not wait for this App's checks; require/] },
    },
  ]),
  ...createRows('`workflows` rule', [
    {
      name: 'workflows are required and passed',
      source: 'available rules for rulesets: will block direct pushes',
      set: requireWorkflow,
      before: runRequiredWorkflow,
      push: "Required workflow 'ci' is not satisfied",
      api: { merge: 'accepted' },
      bot: createExpectedMergeResult('merge'),
    },
    {
      name: 'workflows are required and have not run',
      source: 'available rules for rulesets: must pass before merging',
      set: requireWorkflow,
      ...rejectPushAndMerge("Required workflow 'ci' is not satisfied"),
      bot: createResultAfterFix([/workflow/i], runRequiredWorkflow, 'merge'),
    },
  ]),
  ...createRows('code_scanning, deployments', [
    {
      name: 'code scanning and deployments are required and there',
      source: 'what a push meets is not documented: the API is the way that is',
      set: requireScanAndDeployment,
      before: addScanAndDeploymentResults,
      push: 'Code scanning is waiting for results from CodeQL',
      api: { merge: 'accepted' },
      bot: createExpectedMergeResult('merge'),
    },
    {
      name: 'code scanning and deployments are required and missing',
      source: 'kodiak 920: an App’s merge is blocked, too',
      set: requireScanAndDeployment,
      push: 'Code scanning is waiting for results from CodeQL',
      api: { merge: 'Missing successful active staging deployment.' },
      bot: createResultAfterFix([/scanning|deployment/i], addScanAndDeploymentResults, 'merge'),
    },
  ]),
  ...createRows('PR edits `.github/workflows/`', [
    {
      name: 'a pull request edits a workflow, and the App may not',
      withBot: true,
      source: 'mergify 5055: refused without the permission workflows',
      set: () => undefined,
      pull: { author: 'harbormaster', changes: { '.github/workflows/ci.yml': 'on: push\n' } },
      ...rejectPushAndMerge('refusing to allow a GitHub App to create or update workflow'),
      bot: { ends: 'waits', textPatterns: [/workflow/i] },
    },
  ]),
]
