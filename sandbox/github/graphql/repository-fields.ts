// The fields of a repository: refs and their rules, pull requests, and merge queues. Names and types come from
// GitHub's schema.
import { canWriteContents } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { isCallerInBranchProtectionList } from '../branch-rules/bypass.ts'
import {
  collectBranchRuleLayers,
  findRequiredChecks,
  selectRuleParameters,
} from '../branch-rules/rule-layers.ts'
import { findMergeQueueEntry, findMergeQueueParameters } from '../branch-rules/merge-queue.ts'
import type { MockMergeQueueEntry } from '../github-data.ts'
import { findUnmetRequiredChecks } from '../branch-rules/required-checks.ts'
import { resolveCommit } from '../git/git-store.ts'
import { toNodeId } from '../views/account-view.ts'
import { toCommitCheckFields } from './check-fields.ts'
import { createConnectionFields } from './connection-fields.ts'
import { getRepositoryFullName } from '../views/repository-view.ts'
import { formatGitHubTimestamp } from '../github-data.ts'
import type { MockAccount, MockPull, MockRepository } from '../github-data.ts'
import type { GraphqlFieldValues } from './execute-query.ts'

const toCommitFields = (oid: string): GraphqlFieldValues => ({
  __typename: 'Commit',
  id: toNodeId('Commit', oid),
  oid,
})

export function toRepositoryFields(caller: ApiCaller, repo: MockRepository): GraphqlFieldValues {
  return {
    __typename: 'Repository',
    id: toNodeId('Repository', repo.id),
    databaseId: repo.id,
    name: repo.name,
    nameWithOwner: getRepositoryFullName(repo),
    mergeCommitAllowed: repo.mergeMethods.merge,
    squashMergeAllowed: repo.mergeMethods.squash,
    rebaseMergeAllowed: repo.mergeMethods.rebase,
    defaultBranchRef: () => toRefFields(caller, repo, repo.defaultBranch),
    object: async ({ oid }: GraphqlFieldValues) => {
      const sha = await resolveCommit(repo.path, String(oid))
      return sha === undefined ? null : { ...toCommitFields(sha), ...toCommitCheckFields(caller, repo, sha) }
    },
    ref: ({ qualifiedName }: GraphqlFieldValues) => toRefFields(caller, repo, String(qualifiedName)),
    pullRequest: ({ number }: GraphqlFieldValues) => {
      const pull = repo.pulls.get(Number(number))
      return pull === undefined ? null : toPullRequestFields(pull)
    },
    mergeQueue: ({ branch = repo.defaultBranch }: GraphqlFieldValues) =>
      toMergeQueueFields(repo, String(branch)),
  }
}

function toRefFields(
  caller: ApiCaller,
  repo: MockRepository,
  qualifiedName: string,
): GraphqlFieldValues | null {
  const name = qualifiedName.replace(/^refs\/heads\//, '')
  const sha = repo.knownRefs.get(`refs/heads/${name}`)
  if (sha === undefined) return null
  return {
    __typename: 'Ref',
    id: toNodeId('Ref', `${repo.id}:refs/heads/${name}`),
    name,
    prefix: 'refs/heads/',
    target: toCommitFields(sha),
    refUpdateRule: () => toRefUpdateRuleFields(caller, repo, name, sha),
  }
}

/** The rules of a branch that apply to this caller, without those that the caller bypasses. */
function toRefUpdateRuleFields(
  by: ApiCaller,
  repo: MockRepository,
  branch: string,
  sha: string,
): GraphqlFieldValues | null {
  const ref = `refs/heads/${branch}`
  const layers = collectBranchRuleLayers({ repo, path: repo.path, ref, old: sha, now: sha, by })
  if (layers.every(({ rules }) => rules.length === 0)) return null
  const rules = layers.filter(({ bypass }) => bypass === 'no').flatMap((it) => it.rules)
  const hasRule = (type: string): boolean => rules.some((it) => it.type === type)
  const isShutOut = rules.some(
    ({ type, parameters }) =>
      type === 'restricted_pushers' && !isCallerInBranchProtectionList(repo, by, parameters),
  )
  const pulls = selectRuleParameters(rules, 'pull_request')
  const checks = selectRuleParameters(rules, 'required_status_checks').flatMap(
    (it) => it.required_status_checks,
  )
  return {
    __typename: 'RefUpdateRule',
    pattern: branch,
    allowsDeletions: !hasRule('deletion'),
    allowsForcePushes: !hasRule('non_fast_forward'),
    blocksCreations: hasRule('creation'),
    requiredApprovingReviewCount:
      pulls.length === 0 ? null : Math.max(...pulls.map((it) => it.required_approving_review_count)),
    requiredStatusCheckContexts: checks.map(({ context }) => context),
    requiresCodeOwnerReviews: pulls.some((it) => it.require_code_owner_review),
    requiresConversationResolution:
      hasRule('conversation_resolution') || pulls.some((it) => it.required_review_thread_resolution),
    requiresLinearHistory: hasRule('required_linear_history'),
    requiresSignatures: hasRule('required_signatures'),
    viewerAllowedToDismissReviews: canWriteContents(by, repo),
    viewerCanPush: canWriteContents(by, repo) && !hasRule('update') && !isShutOut,
  }
}

function toPullRequestFields(pull: MockPull): GraphqlFieldValues {
  return {
    __typename: 'PullRequest',
    id: toNodeId('PullRequest', pull.id),
    databaseId: pull.id,
    number: pull.number,
    title: pull.title,
    state: pull.merged === null ? pull.state.toUpperCase() : 'MERGED',
    merged: pull.merged !== null,
    isDraft: pull.draft,
    updatedAt: pull.updatedAt,
    headRefOid: pull.headSha,
    baseRefName: pull.baseRef,
    baseRefOid: pull.baseSha,
    ...toPullRequestDetailFields(pull),
    reviewThreads: createConnectionFields(
      Array.from({ length: pull.openConversations }, (_, at) => ({
        id: toNodeId('PullRequestReviewThread', `${pull.id}:${at}`),
        isResolved: false,
      })),
    ),
    mergeCommit: pull.merged === null ? null : toCommitFields(pull.merged.sha),
    // No other timeline events are requested.
    timelineItems: createConnectionFields(
      pull.queueRemoval === undefined ? [] : [toMergeQueueRemovalFields(pull.queueRemoval)],
    ),
    isInMergeQueue: findMergeQueueEntry(pull) !== undefined,
    mergeQueueEntry: () => {
      const entry = findMergeQueueEntry(pull)
      return entry === undefined ? null : toMergeQueueEntryFields(entry)
    },
  }
}

const toMergeQueueRemovalFields = ({
  id,
  at,
  reason,
  by,
}: NonNullable<MockPull['queueRemoval']>): GraphqlFieldValues => ({
  __typename: 'RemovedFromMergeQueueEvent',
  id: toNodeId('RemovedFromMergeQueueEvent', id),
  createdAt: at,
  reason,
  actor: by === null ? { __typename: 'Bot', login: 'github-merge-queue' } : toActorFields(by),
})

/** The author and the source of a pull request, and its comments and reviews. */
function toPullRequestDetailFields(pull: MockPull): GraphqlFieldValues {
  const { headRepo } = pull
  return {
    author: toActorFields(pull.author),
    headRepository:
      headRepo === null ? null : { name: headRepo.name, owner: { login: headRepo.owner.login } },
    labels: createConnectionFields(pull.labels.map(({ name }) => ({ name }))),
    reviews: createConnectionFields(
      pull.reviews.map((review) => ({
        fullDatabaseId: String(review.id),
        state: review.state,
        submittedAt: review.submittedAt,
        commit: toCommitFields(review.sha),
        author: toActorFields(review.author),
      })),
    ),
    comments: createConnectionFields(
      pull.comments.map((comment) => ({
        id: toNodeId('IssueComment', comment.id),
        fullDatabaseId: String(comment.id),
        createdAt: comment.createdAt,
        updatedAt: comment.updatedAt,
        body: comment.body,
        author: toActorFields(comment.author),
      })),
    ),
  }
}

/** GraphQL shows an App's name without the `[bot]` suffix of REST. */
const toActorFields = (account: MockAccount): GraphqlFieldValues | null =>
  account.deleted
    ? null
    : { __typename: account.type, login: account.login.replace(/\[bot\]$/, ''), databaseId: account.id }

export function toMergeQueueEntryFields(entry: MockMergeQueueEntry): GraphqlFieldValues {
  const { pull, group } = entry
  const { repo, baseRef } = pull
  const unmet =
    group === undefined
      ? []
      : findUnmetRequiredChecks(repo, group.headSha, findRequiredChecks(repo, baseRef), 0)
  return {
    __typename: 'MergeQueueEntry',
    id: toNodeId('MergeQueueEntry', entry.id),
    position: (repo.queues.get(baseRef) ?? []).indexOf(entry) + 1,
    state: group === undefined ? 'QUEUED' : unmet.length === 0 ? 'MERGEABLE' : 'AWAITING_CHECKS',
    jump: entry.jump,
    solo: false,
    enqueuedAt: formatGitHubTimestamp(entry.enqueuedAt),
    enqueuer: { __typename: entry.by.type, login: entry.by.login.replace('[bot]', '') },
    estimatedTimeToMerge: null,
    baseCommit: group === undefined ? null : toCommitFields(group.baseSha),
    headCommit: group === undefined ? null : toCommitFields(group.headSha),
    pullRequest: () => toPullRequestFields(pull),
    mergeQueue: () => toMergeQueueFields(repo, baseRef),
  }
}

function toMergeQueueFields(repo: MockRepository, branch: string): GraphqlFieldValues | null {
  const settings = findMergeQueueParameters(repo, branch)
  if (settings === undefined) return null
  return {
    __typename: 'MergeQueue',
    id: toNodeId('MergeQueue', `${repo.id}:${branch}`),
    configuration: {
      checkResponseTimeout: settings.check_response_timeout_minutes,
      maximumEntriesToBuild: settings.max_entries_to_build,
      maximumEntriesToMerge: settings.max_entries_to_merge,
      mergeMethod: settings.merge_method,
      mergingStrategy: settings.grouping_strategy,
      minimumEntriesToMerge: settings.min_entries_to_merge,
      minimumEntriesToMergeWaitTime: settings.min_entries_to_merge_wait_minutes,
    },
    entries: () => {
      const nodes = (repo.queues.get(branch) ?? []).map((it) => toMergeQueueEntryFields(it))
      return { totalCount: nodes.length, nodes, pageInfo: { hasNextPage: false, endCursor: null } }
    },
  }
}
