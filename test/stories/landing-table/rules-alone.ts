// Each setting of a branch alone: the rows of the reference's table of settings.
import { checksRule, pullRequestRule, queueRule } from '../../sandbox/github/branch-rules/landing-ground.ts'
import { approved, ci, merged, ownChecks, update, type Opened, type Row, type Stage } from './row.ts'

const expected = 'is expected'
const approval = 'At least 1 approving review is required by reviewers with write access.'
const rule =
  (...rules: Parameters<Stage['github']['addRules']>[1]) =>
  ({ github, full }: Stage) =>
    github.addRules(full, rules)
const own = (strict = false) =>
  rule(
    checksRule(
      ownChecks.map((context) => ({ context })),
      { strict_required_status_checks_policy: strict },
    ),
  )
const pinned = (to: 'app' | 'otherApp') => (it: Stage) => {
  const [, validation = ''] = ownChecks
  return it.github.addRules(it.full, [checksRule([{ context: validation, integration_id: it[to].id }])])
}
const foreign = (strict = false) =>
  rule(checksRule([{ context: 'ci' }], { strict_required_status_checks_policy: strict }))
const bypass = (it: Stage, bypass_mode: 'always' | 'exempt' | 'pull_request') => ({
  bypass_actors: [{ actor_type: 'Integration', actor_id: it.app.id, bypass_mode }] as const,
})
const updateOnly = (mode: 'always' | 'exempt' | 'pull_request') => (it: Stage) =>
  it.github.addRules(it.full, [{ type: 'update' }], bypass(it, mode))
const anew = (it: Stage): void => {
  for (const ruleset of [...it.github.repository(it.full).rulesets.values()])
    it.github.removeRuleset(it.full, ruleset)
}

const requiredWorkflow = rule({
  type: 'workflows',
  parameters: { workflows: [{ path: '.github/workflows/ci.yml', repository_id: 1 }] },
})
const passedWorkflow = ({ github, full, pull }: Opened): unknown =>
  github.runWorkflow(full, 'ci.yml', pull.headSha)
const scannedAndDeployed = rule(
  {
    type: 'code_scanning',
    parameters: {
      code_scanning_tools: [{ tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'all' }],
    },
  },
  { type: 'required_deployments', parameters: { required_deployment_environments: ['staging'] } },
)
const scanAndDeploy = ({ github, full, pull }: Opened): void => {
  github.analyze(full, pull.headSha, 'CodeQL')
  github.deploy(full, pull.headSha, 'staging')
}

const free: readonly Row[] = [
  {
    name: 'nothing is demanded',
    setting: 'none, deletion, non_fast_forward',
    source: 'a push by compare-and-swap is a fast-forward',
    set: () => undefined,
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'nobody may delete or force-push',
    setting: 'none, deletion, non_fast_forward',
    source: 'a push by compare-and-swap is a fast-forward',
    set: rule({ type: 'deletion' }, { type: 'non_fast_forward' }),
    push: 'accepted',
    bot: merged('push'),
  },
]

const checks: readonly Row[] = [
  {
    name: 'our checks are required, and the head is behind',
    withBot: true,
    setting: 'required own checks',
    source: 'bors-ng, Anubis, push-protected: success is put on the merge before the push',
    set: own(),
    push: 'accepted',
    api: { merge: 'accepted' },
    bot: merged('push'),
  },
  {
    name: 'our checks are required, and the head contains the base',
    setting: 'required own checks',
    source: 'troubleshooting required status checks: up to date and green can be merged locally and pushed',
    set: own(),
    behind: false,
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'our check is required of our App',
    setting: 'required own checks',
    source: 'available rules for rulesets: expected source',
    set: pinned('app'),
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'our check is required of another App',
    setting: 'required own checks',
    source: 'prow 915: "was not set by the expected GitHub app"',
    set: pinned('otherApp'),
    push: 'was not set by the expected GitHub app',
    api: { merge: 'was not set by the expected GitHub app' },
    bot: {
      ends: 'waits',
      says: [/catalog-bot \/ validation/, /App/i],
      mend: (it) => {
        anew(it)
        return pinned('app')(it)
      },
      then: merged('push'),
    },
  },
  {
    name: 'our checks are required on an up-to-date branch, and the head is behind',
    setting: 'required own checks',
    source:
      'the merge contains the base, so the condition holds for it; merging by API is refused (aimee 2460)',
    set: own(true),
    push: 'accepted',
    api: { merge: '3 of 3 required status checks are expected.' },
    bot: merged('push'),
  },
  {
    name: 'CI is required and green, and the head contains the base',
    setting: 'required foreign checks (CI)',
    source: 'troubleshooting required status checks: up to date and green can be merged locally and pushed',
    set: foreign(),
    behind: false,
    before: ci('success'),
    push: 'accepted',
    bot: merged('push', 'merge'),
  },
  {
    name: 'CI is required and green, and the head is behind',
    withBot: true,
    setting: 'required foreign checks (CI)',
    source:
      'loot 687, data-client 1016: a local merge of a head that is behind needs its own; the button does not',
    set: foreign(),
    before: ci('success'),
    push: expected,
    api: { merge: 'accepted' },
    bot: merged('merge'),
  },
  {
    name: 'CI is required and green on an up-to-date branch, and the head is behind',
    setting: 'required foreign checks (CI)',
    source: 'aimee 2460: behind and strict is refused though all is green',
    set: foreign(true),
    before: ci('success'),
    push: expected,
    api: { merge: expected },
    bot: {
      ends: 'waits',
      says: [/\bci\b/, /up to date|behind|update|contain/i],
      mend: async (it) => {
        await update(it)
        await ci('success')(it)
      },
      then: merged('push', 'merge'),
    },
  },
  {
    name: 'CI is required and has not run yet',
    withBot: true,
    setting: 'required foreign checks (CI)',
    source: 'troubleshooting required status checks: a missing check is not a success',
    set: foreign(),
    behind: false,
    push: expected,
    api: { merge: expected },
    bot: { ends: 'waits', says: [/\bci\b/], mend: ci('success'), then: merged('push', 'merge') },
  },
  {
    name: 'CI is required and failed',
    setting: 'required foreign checks (CI)',
    source: 'troubleshooting required status checks',
    set: foreign(),
    before: ci('failure'),
    push: expected,
    api: { merge: 'is failing' },
    bot: { ends: 'waits', says: [/\bci\b/], mend: ci('success'), then: merged('merge') },
  },
  {
    name: 'CI is required and runs on our temporary branches, too',
    withBot: true,
    setting: 'required foreign checks (CI)',
    source: 'bors-ng, obsidian-reminder 350: checks of a push to another branch count',
    set: foreign(),
    before: ci('success'),
    runsOnTemporary: 'ci',
    push: expected,
    bot: merged('push', 'merge'),
  },
]

const pulls: readonly Row[] = [
  {
    name: 'a pull request is required, and no approval',
    setting: 'pull_request, 0 approvals',
    source: 'available rules for rulesets: it must be opened, not necessarily approved',
    set: rule(pullRequestRule()),
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'an approval is required and there',
    setting: 'pull_request, ≥1',
    source: 'rust-bitcoin 766, rocq 8183: the pushed merge of an approved pull request is taken',
    set: rule(pullRequestRule({ required_approving_review_count: 1 })),
    before: approved,
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'an approval is required and missing',
    withBot: true,
    setting: 'pull_request, ≥1',
    source: 'rocq 8183: could not push without first approving',
    set: rule(pullRequestRule({ required_approving_review_count: 1 })),
    push: approval,
    api: { merge: approval },
    bot: { ends: 'waits', says: [/approv/i], mend: approved, then: merged('push') },
  },
  {
    name: 'an approval ends with the next push, and the merge is the one that GitHub makes',
    setting: '+ dismiss stale / last push',
    source: 'security changes to mergeability: the contents must exactly match',
    set: rule(pullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true })),
    before: approved,
    push: 'accepted',
    bot: merged('push', 'merge'),
  },
  {
    name: 'somebody else than the last pusher approved',
    setting: '+ dismiss stale / last push',
    source: 'security changes to mergeability: the contents must exactly match',
    set: rule(pullRequestRule({ required_approving_review_count: 1, require_last_push_approval: true })),
    before: approved,
    push: 'accepted',
    bot: merged('push', 'merge'),
  },
  {
    name: 'a code owner has to approve and did not',
    setting: 'code owners, conversations',
    source: 'about protected branches: review from code owners',
    set: rule(pullRequestRule({ require_code_owner_review: true })),
    files: { '.github/CODEOWNERS': '* @carol\n' },
    before: approved,
    push: 'Waiting on code owner review from carol.',
    api: { merge: 'Waiting on code owner review from carol.' },
    bot: {
      ends: 'waits',
      says: [/code owner|carol/i],
      mend: ({ github, pull }) => github.review(pull, 'carol', 'approve'),
      then: merged('push'),
    },
  },
  {
    name: 'one reviewer requests changes although another approves',
    setting: 'pull_request, ≥1',
    source: 'about protected branches: who requests changes must approve, or the review must be dismissed',
    set: rule(pullRequestRule({ required_approving_review_count: 1 })),
    before: (it) => {
      approved(it)
      it.github.review(it.pull, 'carol', 'changes', 'Not yet.')
    },
    push: 'Changes have been requested.',
    api: { merge: 'Changes have been requested.' },
    bot: {
      ends: 'waits',
      says: [/approv|review/i],
      mend: ({ github, pull }) => github.review(pull, 'carol', 'approve'),
      then: merged('push'),
    },
  },
  {
    name: 'a conversation is open',
    setting: 'code owners, conversations',
    source: 'about protected branches: conversation resolution',
    set: rule(pullRequestRule({ required_review_thread_resolution: true })),
    before: ({ github, pull }) => github.openConversation(pull),
    push: 'A conversation must be resolved',
    api: { merge: 'A conversation must be resolved' },
    bot: {
      ends: 'waits',
      says: [/conversation/i],
      mend: ({ github, pull }) => github.resolveConversation(pull),
      then: merged('push'),
    },
  },
]

const writers: readonly Row[] = [
  {
    name: 'nobody may update the branch',
    withBot: true,
    setting: '`update` / restricted pushers',
    source: 'available rules for rulesets: restrict updates',
    set: rule({ type: 'update' }),
    push: 'Cannot update this protected ref.',
    api: { merge: 'Cannot update this protected ref.' },
    bot: {
      ends: 'waits',
      says: [/bypass|Cannot update this protected ref|may not (push|update)|update rule|restrict|on a list/i],
      mend: (it) => {
        anew(it)
        return updateOnly('always')(it)
      },
      then: merged('push'),
    },
  },
  {
    name: 'the App alone may update the branch',
    setting: '`update` / restricted pushers',
    source: 'rust-lang/team: an update rule, bypassed by bors alone',
    set: updateOnly('always'),
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'the App alone is exempt from the update rule',
    setting: '`update` / restricted pushers',
    source: "GitHub's schema: rules will not be run for that actor",
    set: updateOnly('exempt'),
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'the App may update the branch by pull requests only',
    setting: '`update` / restricted pushers',
    source: "GitHub's schema: can only bypass rules on pull requests",
    set: updateOnly('pull_request'),
    push: 'Cannot update this protected ref.',
    api: { merge: 'accepted' },
    bot: merged('merge'),
  },
]

const methods: readonly Row[] = [
  {
    name: 'linear history',
    withBot: true,
    setting: 'required_linear_history',
    source: 'available rules for rulesets: prevents pushing merge commits',
    set: rule({ type: 'required_linear_history' }),
    push: 'This branch must not contain merge commits.',
    api: { merge: 'This branch must not contain merge commits.', squash: 'accepted' },
    bot: merged('linear'),
  },
  {
    name: 'linear history in a repository that allows merge commits alone',
    setting: 'required_linear_history',
    source: 'about protected branches: squash or rebase must be allowed',
    set: (it) => {
      it.github.allowMergeMethods(it.full, { squash: false, rebase: false })
      return rule({ type: 'required_linear_history' })(it)
    },
    push: 'This branch must not contain merge commits.',
    api: {
      merge: 'This branch must not contain merge commits.',
      squash: 'not allowed',
      rebase: 'not allowed',
    },
    bot: {
      ends: 'waits',
      says: [/linear|merge commit/i, /squash|rebase/i],
      mend: ({ github, full }) => github.allowMergeMethods(full, { squash: true }),
      then: merged('linear'),
    },
  },
  {
    name: 'squash is the only method that is allowed',
    setting: '`allowed_merge_methods` without merge',
    source:
      'available rules for rulesets: allowed merge methods; that a pushed merge counts as one is inferred',
    set: rule(pullRequestRule({ allowed_merge_methods: ['squash'] })),
    push: 'Merge commits are not allowed on this repository.',
    api: { merge: 'not allowed', squash: 'accepted' },
    bot: merged('linear'),
  },
  {
    name: 'rebase is the only method that is allowed',
    setting: '`allowed_merge_methods` without merge',
    source:
      'available rules for rulesets: allowed merge methods; that a pushed merge counts as one is inferred',
    set: rule(pullRequestRule({ allowed_merge_methods: ['rebase'] })),
    push: 'Merge commits are not allowed on this repository.',
    api: { squash: 'not allowed', rebase: 'accepted' },
    bot: merged('linear'),
  },
  {
    name: 'the repository allows no merge commits, and no rule says so',
    setting: 'repo `allow_merge_commit=false` alone',
    source: 'prow: 405 by API; what a push meets is not documented',
    set: ({ github, full }) => github.allowMergeMethods(full, { merge: false }),
    push: 'accepted',
    api: { merge: 'Merge commits are not allowed on this repository.' },
    bot: merged('push', 'linear'),
  },
  {
    name: 'signatures are required, and the head is signed',
    withBot: true,
    setting: 'required_signatures',
    source: 'signature verification for bots: commits made by API as the App are signed',
    set: rule({ type: 'required_signatures' }),
    pull: { signed: true },
    push: 'Commits must have verified signatures.',
    api: { merge: 'accepted' },
    bot: merged('signed', 'merge'),
  },
  {
    name: 'signatures are required, and the head is not signed',
    setting: 'required_signatures',
    source:
      'available rules for rulesets: every commit in the range is checked, and only the author of a pull request can squash it',
    set: rule({ type: 'required_signatures' }),
    push: 'Commits must have verified signatures.',
    api: {
      merge: 'Commits must have verified signatures.',
      squash: 'Commits must have verified signatures.',
    },
    bot: { ends: 'waits', says: [/sign/i] },
  },
  {
    name: 'a merge queue',
    withBot: true,
    setting: 'merge_queue',
    source: 'managing a merge queue; kargo 5405: PUT merge is refused',
    set: rule(queueRule()),
    push: 'Changes must be made through the merge queue',
    api: { merge: 'Changes must be made through the merge queue' },
    // GitHub merges a group as soon as what is required of it is there: here, at once.
    bot: { ends: 'waits', says: [/merge queue does not wait for this App's checks: require/] },
  },
  {
    name: 'workflows are required and passed',
    setting: '`workflows` rule',
    source: 'available rules for rulesets: will block direct pushes',
    set: requiredWorkflow,
    before: passedWorkflow,
    push: "Required workflow 'ci' is not satisfied",
    api: { merge: 'accepted' },
    bot: merged('merge'),
  },
  {
    name: 'workflows are required and have not run',
    setting: '`workflows` rule',
    source: 'available rules for rulesets: must pass before merging',
    set: requiredWorkflow,
    push: "Required workflow 'ci' is not satisfied",
    api: { merge: "Required workflow 'ci' is not satisfied" },
    bot: { ends: 'waits', says: [/workflow/i], mend: passedWorkflow, then: merged('merge') },
  },
  {
    name: 'code scanning and deployments are required and there',
    setting: 'code_scanning, deployments',
    source: 'what a push meets is not documented: the API is the way that is',
    set: scannedAndDeployed,
    before: scanAndDeploy,
    push: 'Code scanning is waiting for results from CodeQL',
    api: { merge: 'accepted' },
    bot: merged('merge'),
  },
  {
    name: 'code scanning and deployments are required and missing',
    setting: 'code_scanning, deployments',
    source: 'kodiak 920: an App’s merge is blocked, too',
    set: scannedAndDeployed,
    push: 'Code scanning is waiting for results from CodeQL',
    api: { merge: 'Missing successful active staging deployment.' },
    bot: { ends: 'waits', says: [/scanning|deployment/i], mend: scanAndDeploy, then: merged('merge') },
  },
  {
    name: 'a pull request edits a workflow, and the App may not',
    withBot: true,
    setting: 'PR edits `.github/workflows/`',
    source: 'mergify 5055: refused without the permission workflows',
    set: () => undefined,
    pull: { author: 'harbormaster', changes: { '.github/workflows/ci.yml': 'on: push\n' } },
    push: 'refusing to allow a GitHub App to create or update workflow',
    api: { merge: 'refusing to allow a GitHub App to create or update workflow' },
    bot: { ends: 'waits', says: [/workflow/i] },
  },
]

export const rulesAlone: readonly Row[] = [...free, ...checks, ...pulls, ...writers, ...methods]
