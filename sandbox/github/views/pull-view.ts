// Pull requests, reviews, comments and labels as GitHub's REST answers and webhooks show them.
import { computeMergeState } from '../branch-rules/merge-state.ts'
import { isCommitSmallEnoughToDiff } from '../git/diffable-commits.ts'
import { countChangedLines } from '../git/count-lines.ts'
import { listCommitsNotReachableFrom, findMergeBase } from '../git/git-store.ts'
import type {
  MockAccount,
  IssueComment,
  MockLabel,
  GitHubPayload,
  MockPull,
  MockRepository,
  MockReview,
  MockReviewComment,
  PullOrIssue,
} from '../github-data.ts'
import { findCollaboratorRole } from '../github-data.ts'
import { toAccountView, toAppView, toNodeId, toTeamView } from './account-view.ts'
import { getRepositoryApiUrl, toRepositoryView, getRepositoryWebUrl } from './repository-view.ts'

export function toLabelView(repo: MockRepository, label: MockLabel): GitHubPayload {
  const { id, name, color, description } = label
  const url = `${getRepositoryApiUrl(repo)}/labels/${encodeURIComponent(name)}`
  return { id, node_id: toNodeId('Label', id), url, name, color, default: false, description }
}

/** GitHub's informational value for a user's association with a repository. */
function computeAuthorAssociation(repo: MockRepository, account: MockAccount): string {
  const { github } = repo
  if (repo.owner === account) return 'OWNER'
  if (github.organizationOwners.get(repo.owner.id)?.has(account.id) === true) return 'MEMBER'
  if (github.teams.some((it) => it.organization === repo.owner && it.members.has(account.id))) return 'MEMBER'
  const role = findCollaboratorRole(repo, account)
  return role !== undefined && role !== 'read' ? 'COLLABORATOR' : 'NONE'
}

/** The short form in lists, without counts and mergeability. */
export function toPullSummaryView(pull: MockPull): GitHubPayload {
  const { repo, number } = pull
  const url = `${getRepositoryApiUrl(repo)}/pulls/${number}`
  const issue = `${getRepositoryApiUrl(repo)}/issues/${number}`
  const html = `${getRepositoryWebUrl(repo)}/pull/${number}`
  const statuses = `${getRepositoryApiUrl(repo)}/statuses/${pull.headSha}`
  const href = (it: string): GitHubPayload => ({ href: it })
  return {
    url,
    id: pull.id,
    node_id: toNodeId('PullRequest', pull.id),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    number,
    state: pull.state,
    locked: pull.locked,
    title: pull.title,
    user: toAccountView(pull.author),
    body: pull.body,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    merged_at: pull.merged?.at ?? null,
    merge_commit_sha: pull.merged?.sha ?? pull.testMerge,
    assignee: null,
    assignees: [],
    requested_reviewers: pull.requestedUsers.map((it) => toAccountView(it)).filter((it) => it !== null),
    requested_teams: pull.requestedTeams.map((it) => toTeamView(it)),
    labels: pull.labels.map((it) => toLabelView(repo, it)),
    milestone: null,
    draft: pull.draft,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${getRepositoryApiUrl(repo)}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    head: {
      label: `${pull.headOwner.login}:${pull.headRef}`,
      ref: pull.headRef,
      sha: pull.headSha,
      user: toAccountView(pull.headOwner),
      repo: pull.headRepo === null ? null : toRepositoryView(pull.headRepo),
    },
    base: {
      label: `${repo.owner.login}:${pull.baseRef}`,
      ref: pull.baseRef,
      sha: pull.baseSha,
      user: toAccountView(repo.owner),
      repo: toRepositoryView(repo),
    },
    _links: {
      self: href(url),
      html: href(html),
      issue: href(issue),
      comments: href(`${issue}/comments`),
      review_comments: href(`${url}/comments`),
      review_comment: href(`${getRepositoryApiUrl(repo)}/pulls/comments{/number}`),
      commits: href(`${url}/commits`),
      statuses: href(statuses),
    },
    author_association: computeAuthorAssociation(repo, pull.author),
    auto_merge: null,
    active_lock_reason: null,
  }
}

interface PullChangeCounts {
  readonly of: string
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  readonly changed_files: number
}
const pullChangeCountsCache = new WeakMap<MockPull, PullChangeCounts>()

async function readPullChangeCounts(pull: MockPull): Promise<PullChangeCounts> {
  const of = `${pull.baseSha} ${pull.headSha}`
  const known = pullChangeCountsCache.get(pull)
  if (known?.of === of) return known
  const { path } = pull.repo
  const { baseSha, headSha } = pull
  const [base, commits] = await Promise.all([
    findMergeBase(path, baseSha, headSha),
    listCommitsNotReachableFrom(path, [baseSha], headSha),
  ])
  const lines = (await isCommitSmallEnoughToDiff(path, headSha))
    ? await countChangedLines(path, base ?? baseSha, headSha)
    : { files: 0, additions: 0, deletions: 0 }
  const { files: changed_files, additions, deletions } = lines
  const counts = { of, commits: commits.length, additions, deletions, changed_files }
  pullChangeCountsCache.set(pull, counts)
  return counts
}

/** The long form in `GET /pulls/{number}` and webhooks. */
export async function toPullView(pull: MockPull): Promise<GitHubPayload> {
  const { commits, additions, deletions, changed_files } = await readPullChangeCounts(pull)
  const open = pull.state === 'open'
  const mergeable = open ? (pull.mergeable ?? null) : null
  return {
    ...toPullSummaryView(pull),
    merged: pull.merged !== null,
    mergeable,
    rebaseable: mergeable,
    mergeable_state: await computeMergeState(pull),
    merged_by: pull.merged === null ? null : toAccountView(pull.merged.by),
    comments: pull.comments.length,
    review_comments: 0,
    maintainer_can_modify: pull.maintainerCanModify,
    commits,
    additions,
    deletions,
    changed_files,
  }
}

/** An issue, or a pull request as the issue that it also is. */
export function toIssueView(thread: PullOrIssue): GitHubPayload {
  const { repo, number } = thread
  const url = `${getRepositoryApiUrl(repo)}/issues/${number}`
  const isPull = 'headSha' in thread
  const html = `${getRepositoryWebUrl(repo)}/${isPull ? 'pull' : 'issues'}/${number}`
  return {
    url,
    repository_url: getRepositoryApiUrl(repo),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: html,
    id: isPull ? thread.id + 500_000_000 : thread.id,
    node_id: toNodeId(isPull ? 'PullRequest' : 'Issue', thread.id),
    number,
    title: thread.title,
    user: toAccountView(thread.author),
    labels: thread.labels.map((it) => toLabelView(repo, it)),
    state: thread.state,
    locked: thread.locked,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: thread.comments.length,
    created_at: thread.createdAt,
    updated_at: thread.updatedAt,
    closed_at: thread.closedAt,
    author_association: computeAuthorAssociation(repo, thread.author),
    active_lock_reason: null,
    ...(isPull ? toIssuePullRequestView(thread) : {}),
    body: thread.body,
    reactions: toReactionSummaryView(`${url}/reactions`, []),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: isPull || thread.app === null ? null : toAppView(thread.app),
    state_reason: isPull ? null : thread.stateReason,
  }
}

/** Additional issue fields for a pull request. */
function toIssuePullRequestView({ repo, number, draft, merged }: MockPull): GitHubPayload {
  const html = `${getRepositoryWebUrl(repo)}/pull/${number}`
  return {
    draft,
    pull_request: {
      url: `${getRepositoryApiUrl(repo)}/pulls/${number}`,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: merged?.at ?? null,
    },
  }
}

const reactionContentValues = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes']

function toReactionSummaryView(
  url: string,
  reactions: readonly { readonly content: string }[],
): GitHubPayload {
  const countReactions = (content: string): number => reactions.filter((it) => it.content === content).length
  return {
    url,
    total_count: reactions.length,
    ...Object.fromEntries(reactionContentValues.map((it) => [it, countReactions(it)])),
  }
}

export function toCommentView(comment: IssueComment): GitHubPayload {
  const { repo, id, issue } = comment
  const url = `${getRepositoryApiUrl(repo)}/issues/comments/${id}`
  return {
    url,
    html_url: `${getRepositoryWebUrl(repo)}/${repo.pulls.has(issue) ? 'pull' : 'issues'}/${issue}#issuecomment-${id}`,
    issue_url: `${getRepositoryApiUrl(repo)}/issues/${issue}`,
    id,
    node_id: toNodeId('IssueComment', id),
    user: toAccountView(comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: computeAuthorAssociation(repo, comment.author),
    body: comment.body,
    reactions: toReactionSummaryView(`${url}/reactions`, comment.reactions),
    performed_via_github_app: comment.app === null ? null : toAppView(comment.app),
  }
}

export function toReviewCommentView(
  pull: MockPull,
  comment: MockReviewComment,
  line: number | null,
): GitHubPayload {
  const { id, startLine } = comment
  const html = `${getRepositoryWebUrl(pull.repo)}/pull/${pull.number}#discussion_r${id}`
  const pullUrl = `${getRepositoryApiUrl(pull.repo)}/pulls/${pull.number}`
  const url = `${getRepositoryApiUrl(pull.repo)}/pulls/comments/${id}`
  return {
    url,
    pull_request_review_id: comment.review,
    id,
    node_id: toNodeId('PullRequestReviewComment', id),
    diff_hunk: comment.hunk,
    path: comment.path,
    commit_id: line === null ? comment.sha : pull.headSha,
    original_commit_id: comment.sha,
    user: toAccountView(comment.author),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    html_url: html,
    pull_request_url: pullUrl,
    author_association: computeAuthorAssociation(pull.repo, comment.author),
    _links: { self: { href: url }, html: { href: html }, pull_request: { href: pullUrl } },
    line,
    original_line: comment.line,
    start_line: line === null ? null : startLine,
    original_start_line: startLine,
    start_side: startLine === null ? null : 'RIGHT',
    side: 'RIGHT',
    subject_type: 'line',
    ...(comment.replyTo !== null && { in_reply_to_id: comment.replyTo }),
  }
}

export function toReviewView(pull: MockPull, review: MockReview): GitHubPayload {
  const html = `${getRepositoryWebUrl(pull.repo)}/pull/${pull.number}#pullrequestreview-${review.id}`
  const url = `${getRepositoryApiUrl(pull.repo)}/pulls/${pull.number}`
  return {
    id: review.id,
    node_id: toNodeId('PullRequestReview', review.id),
    user: toAccountView(review.author),
    body: review.body,
    state: review.state,
    html_url: html,
    pull_request_url: url,
    author_association: computeAuthorAssociation(pull.repo, review.author),
    _links: { html: { href: html }, pull_request: { href: url } },
    ...(review.state === 'PENDING' ? {} : { submitted_at: review.submittedAt }),
    commit_id: review.sha,
  }
}
