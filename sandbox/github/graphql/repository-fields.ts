// What a query can ask of a repository: refs and their rule, pull requests, merge queues. Names and types are those of
// GitHub's schema.
import { mayWrite } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { requiredApprovalsOf, protectionOf, pullDemandsOf } from '../branch-rules/branch-protection.ts'
import { isNamed } from '../branch-rules/bypass.ts'
import { layersOf, rulesetsFor } from '../branch-rules/layers.ts'
import { entryOf, queueParameters } from '../branch-rules/merge-queue.ts'
import type { QueueEntry } from '../world.ts'
import { unmetChecks } from '../branch-rules/required-checks.ts'
import type { PullRequestParameters, Rule, StatusCheckParameters } from '../branch-rules/rule-shapes.ts'
import type { GitHubState } from '../github-state.ts'
import { resolveCommit } from '../git/git-store.ts'
import { nodeId } from '../views/account-view.ts'
import { checksFields } from './check-fields.ts'
import { listFields } from './list-fields.ts'
import { fullName } from '../views/repository-view.ts'
import { timestampOf } from '../world.ts'
import type { Account, Pull, Repo } from '../world.ts'
import type { Fields } from './answer-query.ts'

export const commitFields = (oid: string): Fields => ({
  __typename: 'Commit',
  id: nodeId('Commit', oid),
  oid,
})

export function repositoryFields(state: GitHubState, caller: Caller, repo: Repo): Fields {
  return {
    __typename: 'Repository',
    id: nodeId('Repository', repo.id),
    databaseId: repo.id,
    name: repo.name,
    nameWithOwner: fullName(repo),
    mergeCommitAllowed: repo.mergeMethods.merge,
    squashMergeAllowed: repo.mergeMethods.squash,
    rebaseMergeAllowed: repo.mergeMethods.rebase,
    defaultBranchRef: () => refFields(caller, state, repo, repo.defaultBranch),
    object: async ({ oid }: Fields) => {
      const sha = await resolveCommit(repo.path, String(oid))
      return sha === undefined
        ? null
        : { ...commitFields(sha), ...checksFields(state.world, caller, repo, sha) }
    },
    ref: ({ qualifiedName }: Fields) => refFields(caller, state, repo, String(qualifiedName)),
    pullRequest: ({ number }: Fields) => {
      const pull = repo.pulls.get(Number(number))
      return pull === undefined ? null : pullFields(state, pull)
    },
    mergeQueue: ({ branch = repo.defaultBranch }: Fields) => queueFields(state, repo, String(branch)),
  }
}

export function refFields(
  caller: Caller,
  state: GitHubState,
  repo: Repo,
  qualifiedName: string,
): Fields | null {
  const name = qualifiedName.replace(/^refs\/heads\//, '')
  const sha = repo.known.get(`refs/heads/${name}`)
  if (sha === undefined) return null
  return {
    __typename: 'Ref',
    id: nodeId('Ref', `${repo.id}:refs/heads/${name}`),
    name,
    prefix: 'refs/heads/',
    target: commitFields(sha),
    refUpdateRule: () => updateRuleFields(caller, state, repo, name, sha),
  }
}

/** The rules of a branch as they bind this reader: those that they bypass are not shown. */
function updateRuleFields(
  by: Caller,
  { world }: GitHubState,
  repo: Repo,
  branch: string,
  sha: string,
): Fields | null {
  const ref = `refs/heads/${branch}`
  const layers = layersOf({ world, repo, path: repo.path, ref, old: sha, now: sha, by })
  if (layers.every(({ rules }) => rules.length === 0)) return null
  const rules = layers.filter(({ bypass }) => bypass === 'no').flatMap((it) => it.rules)
  const has = (type: string): boolean => rules.some((it) => it.type === type)
  const isShutOut = rules.some(
    ({ type, parameters }) => type === 'restricted_pushers' && !isNamed(world, repo, by, parameters),
  )
  const pulls = rules
    .filter(({ type }) => type === 'pull_request')
    .map((it) => it.parameters as unknown as PullRequestParameters)
  const checks = rules
    .filter(({ type }) => type === 'required_status_checks')
    .flatMap((it) => (it.parameters as unknown as StatusCheckParameters).required_status_checks)
  return {
    __typename: 'RefUpdateRule',
    pattern: branch,
    allowsDeletions: !has('deletion'),
    allowsForcePushes: !has('non_fast_forward'),
    blocksCreations: has('creation'),
    requiredApprovingReviewCount:
      pulls.length === 0 ? null : Math.max(...pulls.map((it) => it.required_approving_review_count)),
    requiredStatusCheckContexts: checks.map(({ context }) => context),
    requiresCodeOwnerReviews: pulls.some((it) => it.require_code_owner_review),
    requiresConversationResolution:
      has('conversation_resolution') || pulls.some((it) => it.required_review_thread_resolution),
    requiresLinearHistory: has('required_linear_history'),
    requiresSignatures: has('required_signatures'),
    viewerAllowedToDismissReviews: mayWrite(world, by, repo),
    viewerCanPush: mayWrite(world, by, repo) && !has('update') && !isShutOut,
  }
}

export function pullFields(state: GitHubState, pull: Pull): Fields {
  return {
    __typename: 'PullRequest',
    id: nodeId('PullRequest', pull.id),
    databaseId: pull.id,
    number: pull.number,
    title: pull.title,
    state: pull.merged === null ? pull.state.toUpperCase() : 'MERGED',
    merged: pull.merged !== null,
    isDraft: pull.draft,
    headRefOid: pull.headSha,
    baseRefName: pull.baseRef,
    baseRefOid: pull.baseSha,
    ...threadFields(pull),
    reviewThreads: listFields(
      Array.from({ length: pull.openConversations }, (_, at) => ({
        id: nodeId('PullRequestReviewThread', `${pull.id}:${at}`),
        isResolved: false,
      })),
    ),
    mergeCommit: pull.merged === null ? null : commitFields(pull.merged.sha),
    // No other events of the timeline are asked for.
    timelineItems: listFields(pull.queueRemoval === undefined ? [] : [removalFields(pull.queueRemoval)]),
    isInMergeQueue: entryOf(pull) !== undefined,
    mergeQueueEntry: () => {
      const entry = entryOf(pull)
      return entry === undefined ? null : entryFields(state, entry)
    },
  }
}

const removalFields = ({ id, at, reason, by }: NonNullable<Pull['queueRemoval']>): Fields => ({
  __typename: 'RemovedFromMergeQueueEvent',
  id: nodeId('RemovedFromMergeQueueEvent', id),
  createdAt: at,
  reason,
  actor: by === null ? { __typename: 'Bot', login: 'github-merge-queue' } : actorFields(by),
})

/** Who opened it from where, and what people put on it. */
function threadFields(pull: Pull): Fields {
  const { headRepo } = pull
  return {
    author: actorFields(pull.author),
    headRepository:
      headRepo === null ? null : { name: headRepo.name, owner: { login: headRepo.owner.login } },
    labels: listFields(pull.labels.map(({ name }) => ({ name }))),
    reviews: listFields(
      pull.reviews.map((review) => ({
        fullDatabaseId: String(review.id),
        state: review.state,
        submittedAt: review.submittedAt,
        commit: commitFields(review.sha),
        author: actorFields(review.author),
      })),
    ),
    comments: listFields(
      pull.comments.map((comment) => ({
        id: nodeId('IssueComment', comment.id),
        fullDatabaseId: String(comment.id),
        createdAt: comment.createdAt,
        updatedAt: comment.updatedAt,
        body: comment.body,
        author: actorFields(comment.author),
      })),
    ),
  }
}

/** GraphQL says an App's name without the brackets that REST adds. */
const actorFields = (account: Account): Fields | null =>
  account.deleted
    ? null
    : {
        __typename: account.type,
        login: account.login.replace(/\[bot\]$/, ''),
        databaseId: account.id,
      }

function ruleChecks(repo: Repo, branch: string): StatusCheckParameters['required_status_checks'] {
  const protection = protectionOf(repo, branch)
  const rules: Rule[] = [
    ...rulesetsFor(repo, `refs/heads/${branch}`).flatMap((it) => it.rules),
    ...(protection === undefined ? [] : [...requiredApprovalsOf(protection), ...pullDemandsOf(protection)]),
  ]
  return rules
    .filter(({ type }) => type === 'required_status_checks')
    .flatMap((it) => (it.parameters as unknown as StatusCheckParameters).required_status_checks)
}

export function entryFields(state: GitHubState, entry: QueueEntry): Fields {
  const { pull, group } = entry
  const { repo, baseRef } = pull
  const unmet =
    group === undefined ? [] : unmetChecks(state.world, repo, group.headSha, ruleChecks(repo, baseRef), 0)
  return {
    __typename: 'MergeQueueEntry',
    id: nodeId('MergeQueueEntry', entry.id),
    position: (repo.queues.get(baseRef) ?? []).indexOf(entry) + 1,
    state: group === undefined ? 'QUEUED' : unmet.length === 0 ? 'MERGEABLE' : 'AWAITING_CHECKS',
    jump: entry.jump,
    solo: false,
    enqueuedAt: timestampOf(entry.enqueuedAt),
    enqueuer: { __typename: entry.by.type, login: entry.by.login.replace('[bot]', '') },
    estimatedTimeToMerge: null,
    baseCommit: group === undefined ? null : commitFields(group.baseSha),
    headCommit: group === undefined ? null : commitFields(group.headSha),
    pullRequest: () => pullFields(state, pull),
    mergeQueue: () => queueFields(state, repo, baseRef),
  }
}

function queueFields(state: GitHubState, repo: Repo, branch: string): Fields | null {
  const settings = queueParameters(repo, branch)
  if (settings === undefined) return null
  return {
    __typename: 'MergeQueue',
    id: nodeId('MergeQueue', `${repo.id}:${branch}`),
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
      const nodes = (repo.queues.get(branch) ?? []).map((it) => entryFields(state, it))
      return { totalCount: nodes.length, nodes, pageInfo: { hasNextPage: false, endCursor: null } }
    },
  }
}
