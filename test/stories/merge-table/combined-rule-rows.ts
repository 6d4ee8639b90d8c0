// Settings as real repositories combine them.
import {
  createStatusChecksRule,
  createPullRequestRule,
  createMergeQueueRule,
} from '../../sandbox/github/branch-rules/merge-rules-fixture.ts'
import type { BranchProtectionRequest } from '../../../sandbox/github/branch-rules/rule-types.ts'
import {
  approvePullAsBob,
  createCiStatusSetter,
  createExpectedMergeResult,
  createResultAfterFix,
  rejectPushAndMerge,
  botCheckNames,
  forcePushPullHead,
  type MergeTableRow,
  type MergeTableRowRepository,
} from './table-row.ts'

const approvalRequiredMessage = 'At least 1 approving review is required by reviewers with write access.'

/** The two recommended rulesets: only the App can update the branch, and the checks bind even the App. */
const addRecommendedRulesets = (it: MergeTableRowRepository, pullRequest?: Record<string, unknown>): void => {
  const { github, full, app } = it
  const more = pullRequest === undefined ? [] : [createPullRequestRule(pullRequest)]
  github.addRules(full, [{ type: 'update' }], {
    name: 'catalog-bot alone',
    bypass_actors: [{ actor_type: 'Integration', actor_id: app.id, bypass_mode: 'always' }],
  })
  github.addRules(
    full,
    [
      createStatusChecksRule(botCheckNames.map((context) => ({ context, integration_id: app.id }))),
      { type: 'non_fast_forward' },
      { type: 'deletion' },
      ...more,
    ],
    { name: 'checked by catalog-bot' },
  )
}

const createRequiredChecksRule = (contexts: readonly string[], strict = false) =>
  createStatusChecksRule(
    contexts.map((context) => ({ context })),
    { strict_required_status_checks_policy: strict },
  )

const createBranchProtectionSetter = (protection: BranchProtectionRequest) => (it: MergeTableRowRepository) =>
  it.github.protect(it.full, 'main', { enforce_admins: true, ...protection })

export const combinedRuleRows: readonly MergeTableRow[] = [
  {
    name: 'the two rulesets that are recommended',
    source: 'rust-lang/team; checks on the merge as bors-ng and Anubis do',
    set: (it) => addRecommendedRulesets(it),
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'the two recommended rulesets, with an approval that a push ends, and it is there',
    source: 'security changes to mergeability: the contents must exactly match',
    set: (it) =>
      addRecommendedRulesets(it, { required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
    before: approvePullAsBob,
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'the two recommended rulesets, with an approval that is missing',
    source: 'rocq 8183',
    set: (it) => addRecommendedRulesets(it, { required_approving_review_count: 1 }),
    ...rejectPushAndMerge(approvalRequiredMessage),
    bot: createResultAfterFix([/approv/i], approvePullAsBob, 'push'),
  },
  {
    name: 'our checks and green CI are required, and the head is behind',
    source: 'data-client 1016 for the push; the button asks for checks on the head',
    set: ({ github, full }) => github.addRules(full, [createRequiredChecksRule([...botCheckNames, 'ci'])]),
    before: createCiStatusSetter('success'),
    push: 'Required status check "ci" is expected.',
    api: { merge: 'accepted' },
    bot: createExpectedMergeResult('merge'),
  },
  {
    name: 'our checks and green CI are required on an up-to-date branch, and the head contains the base',
    source: 'troubleshooting required status checks',
    set: ({ github, full }) =>
      github.addRules(full, [createRequiredChecksRule([...botCheckNames, 'ci'], true)]),
    behind: false,
    before: createCiStatusSetter('success'),
    push: 'accepted',
    bot: createExpectedMergeResult('push', 'merge'),
  },
  {
    name: 'linear history, our checks and an approval that is there',
    source: 'available rules for rulesets',
    set: ({ github, full }) =>
      github.addRules(full, [
        { type: 'required_linear_history' },
        createRequiredChecksRule(botCheckNames),
        createPullRequestRule({ required_approving_review_count: 1 }),
      ]),
    before: approvePullAsBob,
    push: 'This branch must not contain merge commits.',
    api: { merge: 'This branch must not contain merge commits.', squash: 'accepted' },
    bot: createExpectedMergeResult('linear'),
  },
  {
    name: 'linear history and our checks on an up-to-date branch, and the head is behind',
    withBot: true,
    source: 'aimee 2460: behind and strict is refused though all is green',
    set: ({ github, full }) =>
      github.addRules(full, [
        { type: 'required_linear_history' },
        createRequiredChecksRule(botCheckNames, true),
      ]),
    push: 'This branch must not contain merge commits.',
    api: { squash: 'expected' },
    bot: createResultAfterFix([/up to date|behind|update|contain/i], forcePushPullHead, 'linear'),
  },
  {
    name: 'signatures and our checks, and the head is signed',
    source: 'signature verification for bots',
    set: ({ github, full }) =>
      github.addRules(full, [{ type: 'required_signatures' }, createRequiredChecksRule(botCheckNames)]),
    pull: { signed: true },
    push: 'Commits must have verified signatures.',
    api: { merge: 'accepted' },
    bot: createExpectedMergeResult('signed', 'merge'),
  },
  {
    name: 'signatures and a required pull request, and the head is signed',
    source: 'signature verification for bots',
    set: ({ github, full }) =>
      github.addRules(full, [{ type: 'required_signatures' }, createPullRequestRule()]),
    pull: { signed: true },
    push: 'Commits must have verified signatures.',
    api: { merge: 'accepted' },
    bot: createExpectedMergeResult('signed', 'merge'),
    withBot: true,
  },
  {
    name: 'signatures and a linear history',
    source: 'available rules for rulesets: only the author of a pull request can squash it under signatures',
    set: ({ github, full }) =>
      github.addRules(full, [{ type: 'required_signatures' }, { type: 'required_linear_history' }]),
    pull: { signed: true },
    push: 'This branch must not contain merge commits.',
    api: { squash: 'Commits must have verified signatures.' },
    bot: { ends: 'waits', textPatterns: [/only the author/] },
  },
  {
    name: 'an organization demands a linear history',
    source: 'about rulesets: those of the organization and of the repository add up',
    set: ({ github, full }) =>
      github.addOrganizationRules(full.split('/')[0] ?? '', [{ type: 'required_linear_history' }], {
        conditions: { repository_name: { include: [full.split('/')[1] ?? ''] } },
      }),
    push: 'This branch must not contain merge commits.',
    api: { squash: 'accepted' },
    bot: createExpectedMergeResult('linear'),
  },
  {
    name: 'names of branches are restricted, and our temporary ones do not fit',
    source: 'available rules for rulesets: metadata restrictions',
    set: ({ github, full }) => {
      github.addRules(full, [createRequiredChecksRule(botCheckNames)])
      github.addRules(
        full,
        [{ type: 'branch_name_pattern', parameters: { operator: 'starts_with', pattern: 'team/' } }],
        { conditions: { ref_name: { include: ['~ALL'] } } },
      )
    },
    push: 'accepted',
    api: { merge: 'accepted' },
    bot: createExpectedMergeResult('merge'),
  },
  {
    name: 'messages of commits are restricted',
    source: 'available rules for rulesets: metadata restrictions',
    set: ({ github, full }) =>
      github.addRules(full, [
        { type: 'commit_message_pattern', parameters: { operator: 'contains', pattern: '1.2.0' } },
      ]),
    push: 'Commit message must contain a matching pattern: 1.2.0',
    // GitHub's default message contains the title; the App's message doesn't.
    api: { merge: 'accepted' },
    bot: { ends: 'waits', textPatterns: [/commit_message_pattern|Commit message/] },
  },
  {
    name: 'a merge queue and our checks',
    withBot: true,
    source: 'managing a merge queue: checks on the head of the group; dco 303: the entry stalls without',
    set: ({ github, full }) =>
      github.addRules(full, [createMergeQueueRule(), createRequiredChecksRule(botCheckNames)]),
    ...rejectPushAndMerge('Changes must be made through the merge queue'),
    bot: createExpectedMergeResult('queue'),
  },
  {
    name: 'a merge queue that squashes, linear history and our checks',
    withBot: true,
    source: 'managing a merge queue: merge method',
    set: ({ github, full }) =>
      github.addRules(full, [
        createMergeQueueRule({ merge_method: 'SQUASH', max_entries_to_build: 1, max_entries_to_merge: 1 }),
        { type: 'required_linear_history' },
        createRequiredChecksRule(botCheckNames),
      ]),
    push: 'Changes must be made through the merge queue',
    bot: createExpectedMergeResult('queue', 'linear'),
  },
  {
    name: 'classic: the App is among those who may push, our checks on an up-to-date branch',
    source: 'about protected branches: listed apps still need the checks',
    set: createBranchProtectionSetter({
      required_status_checks: { strict: true, contexts: botCheckNames },
      restrictions: { users: [], teams: [], apps: ['catalog-bot'] },
    }),
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'classic: the App is not among those who may push',
    withBot: true,
    source: 'about protected branches: restrict who can push',
    set: createBranchProtectionSetter({ restrictions: { users: [], teams: [], apps: [] } }),
    ...rejectPushAndMerge("You're not authorized to push to this branch."),
    bot: createResultAfterFix(
      [/not authorized|may not push|allowed to push|can push|restrict|listed users/i],
      createBranchProtectionSetter({ restrictions: { users: [], teams: [], apps: ['catalog-bot'] } }),
      'push',
    ),
  },
  {
    name: 'classic: an approval that a push ends is there, our checks on an up-to-date branch',
    source: 'security changes to mergeability; the merge contains the base',
    set: createBranchProtectionSetter({
      required_status_checks: { strict: true, contexts: botCheckNames },
      required_pull_request_reviews: { required_approving_review_count: 1, dismiss_stale_reviews: true },
    }),
    before: approvePullAsBob,
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'classic: an approval is missing',
    source: 'about protected branches: require pull request reviews',
    set: createBranchProtectionSetter({
      required_pull_request_reviews: { required_approving_review_count: 1 },
    }),
    ...rejectPushAndMerge(approvalRequiredMessage),
    bot: createResultAfterFix([/approv/i], approvePullAsBob, 'push'),
  },
  {
    name: 'classic: linear history',
    source: 'about protected branches: linear history',
    set: createBranchProtectionSetter({ required_linear_history: true }),
    push: 'This branch must not contain merge commits.',
    api: { squash: 'accepted' },
    bot: createExpectedMergeResult('linear'),
  },
  {
    name: 'our checks are required on all branches, temporary ones too',
    source: 'agent-glovebox 3249: every write is refused; the button asks for checks on the head',
    set: ({ github, full }) =>
      github.addRules(full, [createRequiredChecksRule(botCheckNames)], {
        conditions: { ref_name: { include: ['~ALL'] } },
      }),
    push: 'accepted',
    api: { merge: 'accepted' },
    bot: createExpectedMergeResult('push', 'merge'),
  },
  {
    name: 'a ruleset that is only evaluated demands nothing',
    source: 'about rulesets: enforcement statuses',
    set: ({ github, full }) =>
      github.addRules(full, [{ type: 'required_linear_history' }], { enforcement: 'evaluate' }),
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'rules of another branch demand nothing',
    source: 'about rulesets: targets',
    set: ({ github, full }) =>
      github.addRules(full, [{ type: 'required_linear_history' }, { type: 'update' }], {
        conditions: { ref_name: { include: ['refs/heads/release'] } },
      }),
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
]
