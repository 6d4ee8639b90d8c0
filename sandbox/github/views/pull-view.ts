// Pull requests, reviews, comments and labels as GitHub's REST answers and webhooks show them.
import { computeMergeState } from '../branch-rules/merge-state.ts'
import { isDiffCountable } from '../git/diff-countable.ts'
import { countLines } from '../git/count-lines.ts'
import { listCommitsBeyond, findMergeBase } from '../git/git-store.ts'
import type {
  MockAccount,
  CommitComment,
  IssueComment,
  MockLabel,
  GitHubPayload,
  MockPull,
  MockRepository,
  MockReview,
  MockReviewComment,
  CommentThread,
  MockGitHubData,
} from '../github-data.ts'
import { findRole } from '../github-data.ts'
import { accountView, appView, toNodeId, teamView } from './account-view.ts'
import { apiUrl, repositoryView, webUrl } from './repository-view.ts'

export function labelView(world: MockGitHubData, repo: MockRepository, label: MockLabel): GitHubPayload {
  const { id, name, color, description } = label
  const url = `${apiUrl(world, repo)}/labels/${encodeURIComponent(name)}`
  return { id, node_id: toNodeId('Label', id), url, name, color, default: false, description }
}

/** GitHub's advisory word for how a person stands to a repository. */
function computeAuthorAssociation(world: MockGitHubData, repo: MockRepository, account: MockAccount): string {
  if (repo.owner === account) return 'OWNER'
  if (world.organizationOwners.get(repo.owner.id)?.has(account.id) === true) return 'MEMBER'
  if (world.teams.some((it) => it.organization === repo.owner && it.members.has(account.id))) return 'MEMBER'
  const role = findRole(world, repo, account)
  return role !== undefined && role !== 'read' ? 'COLLABORATOR' : 'NONE'
}

/** The short form that lists give: no counts, no mergeability. */
export function pullSummary(world: MockGitHubData, pull: MockPull): GitHubPayload {
  const { repo, number } = pull
  const url = `${apiUrl(world, repo)}/pulls/${number}`
  const issue = `${apiUrl(world, repo)}/issues/${number}`
  const html = `${webUrl(world, repo)}/pull/${number}`
  const statuses = `${apiUrl(world, repo)}/statuses/${pull.headSha}`
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
    user: accountView(world, pull.author),
    body: pull.body,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    merged_at: pull.merged?.at ?? null,
    merge_commit_sha: pull.merged?.sha ?? pull.testMerge,
    assignee: null,
    assignees: [],
    requested_reviewers: pull.requestedUsers.map((it) => accountView(world, it)).filter((it) => it !== null),
    requested_teams: pull.requestedTeams.map((it) => teamView(world, it)),
    labels: pull.labels.map((it) => labelView(world, repo, it)),
    milestone: null,
    draft: pull.draft,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${apiUrl(world, repo)}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    head: {
      label: `${pull.headOwner.login}:${pull.headRef}`,
      ref: pull.headRef,
      sha: pull.headSha,
      user: accountView(world, pull.headOwner),
      repo: pull.headRepo === null ? null : repositoryView(world, pull.headRepo),
    },
    base: {
      label: `${repo.owner.login}:${pull.baseRef}`,
      ref: pull.baseRef,
      sha: pull.baseSha,
      user: accountView(world, repo.owner),
      repo: repositoryView(world, repo),
    },
    _links: {
      self: href(url),
      html: href(html),
      issue: href(issue),
      comments: href(`${issue}/comments`),
      review_comments: href(`${url}/comments`),
      review_comment: href(`${apiUrl(world, repo)}/pulls/comments{/number}`),
      commits: href(`${url}/commits`),
      statuses: href(statuses),
    },
    author_association: computeAuthorAssociation(world, repo, pull.author),
    auto_merge:
      pull.autoMerge === null
        ? null
        : {
            enabled_by: accountView(world, pull.autoMerge.by),
            merge_method: pull.autoMerge.method,
            commit_title: '',
            commit_message: '',
          },
    active_lock_reason: null,
  }
}

interface PullCounts {
  readonly of: string
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  readonly changed_files: number
}
const pullCountsCache = new WeakMap<MockPull, PullCounts>()

async function readPullCounts(pull: MockPull): Promise<PullCounts> {
  const of = `${pull.baseSha} ${pull.headSha}`
  const known = pullCountsCache.get(pull)
  if (known?.of === of) return known
  const { path } = pull.repo
  const { baseSha, headSha } = pull
  const [base, commits] = await Promise.all([
    findMergeBase(path, baseSha, headSha),
    listCommitsBeyond(path, [baseSha], headSha),
  ])
  const lines = (await isDiffCountable(path, headSha))
    ? await countLines(path, base ?? baseSha, headSha)
    : { files: 0, additions: 0, deletions: 0 }
  const { files: changed_files, additions, deletions } = lines
  const counts = { of, commits: commits.length, additions, deletions, changed_files }
  pullCountsCache.set(pull, counts)
  return counts
}

/** The long form: what `GET /pulls/{number}` and webhooks give. */
export async function pullView(world: MockGitHubData, pull: MockPull): Promise<GitHubPayload> {
  const { commits, additions, deletions, changed_files } = await readPullCounts(pull)
  const open = pull.state === 'open'
  const mergeable = open ? (pull.mergeable ?? null) : null
  return {
    ...pullSummary(world, pull),
    merged: pull.merged !== null,
    mergeable,
    rebaseable: mergeable,
    mergeable_state: await computeMergeState(world, pull),
    merged_by: pull.merged === null ? null : accountView(world, pull.merged.by),
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
export function issueView(world: MockGitHubData, thread: CommentThread): GitHubPayload {
  const { repo, number } = thread
  const url = `${apiUrl(world, repo)}/issues/${number}`
  const isPull = 'headSha' in thread
  const html = `${webUrl(world, repo)}/${isPull ? 'pull' : 'issues'}/${number}`
  return {
    url,
    repository_url: apiUrl(world, repo),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: html,
    id: isPull ? thread.id + 500_000_000 : thread.id,
    node_id: toNodeId(isPull ? 'PullRequest' : 'Issue', thread.id),
    number,
    title: thread.title,
    user: accountView(world, thread.author),
    labels: thread.labels.map((it) => labelView(world, repo, it)),
    state: thread.state,
    locked: thread.locked,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: thread.comments.length,
    created_at: thread.createdAt,
    updated_at: thread.updatedAt,
    closed_at: thread.closedAt,
    author_association: computeAuthorAssociation(world, repo, thread.author),
    active_lock_reason: null,
    ...(isPull ? issuePullRequestView(world, thread) : {}),
    body: thread.body,
    reactions: reactionSummaryView(`${url}/reactions`, []),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: isPull || thread.app === null ? null : appView(world, thread.app),
    state_reason: isPull ? null : thread.stateReason,
  }
}

/** What only a pull request's issue has. */
function issuePullRequestView(
  world: MockGitHubData,
  { repo, number, draft, merged }: MockPull,
): GitHubPayload {
  const html = `${webUrl(world, repo)}/pull/${number}`
  return {
    draft,
    pull_request: {
      url: `${apiUrl(world, repo)}/pulls/${number}`,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: merged?.at ?? null,
    },
  }
}

const reactionContents = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes']

function reactionSummaryView(url: string, reactions: readonly { readonly content: string }[]): GitHubPayload {
  const countReactions = (content: string): number => reactions.filter((it) => it.content === content).length
  return {
    url,
    total_count: reactions.length,
    ...Object.fromEntries(reactionContents.map((it) => [it, countReactions(it)])),
  }
}

export function commentView(world: MockGitHubData, comment: IssueComment): GitHubPayload {
  const { repo, id, issue } = comment
  const url = `${apiUrl(world, repo)}/issues/comments/${id}`
  return {
    url,
    html_url: `${webUrl(world, repo)}/${repo.pulls.has(issue) ? 'pull' : 'issues'}/${issue}#issuecomment-${id}`,
    issue_url: `${apiUrl(world, repo)}/issues/${issue}`,
    id,
    node_id: toNodeId('IssueComment', id),
    user: accountView(world, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: computeAuthorAssociation(world, repo, comment.author),
    body: comment.body,
    reactions: reactionSummaryView(`${url}/reactions`, comment.reactions),
    performed_via_github_app: comment.app === null ? null : appView(world, comment.app),
  }
}

export function commitCommentView(world: MockGitHubData, comment: CommitComment): GitHubPayload {
  const { repo, id, sha, path, position } = comment
  const url = `${apiUrl(world, repo)}/comments/${id}`
  return {
    url,
    html_url: `${webUrl(world, repo)}/commit/${sha}#commitcomment-${id}`,
    id,
    node_id: toNodeId('CommitComment', id),
    user: accountView(world, comment.author),
    position,
    line: null,
    path,
    commit_id: sha,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: computeAuthorAssociation(world, repo, comment.author),
    body: comment.body,
    reactions: reactionSummaryView(`${url}/reactions`, comment.reactions),
  }
}

export function reviewCommentView(
  world: MockGitHubData,
  pull: MockPull,
  comment: MockReviewComment,
  line: number | null,
): GitHubPayload {
  const { id, startLine } = comment
  const html = `${webUrl(world, pull.repo)}/pull/${pull.number}#discussion_r${id}`
  const pullUrl = `${apiUrl(world, pull.repo)}/pulls/${pull.number}`
  const url = `${apiUrl(world, pull.repo)}/pulls/comments/${id}`
  return {
    url,
    pull_request_review_id: comment.review,
    id,
    node_id: toNodeId('PullRequestReviewComment', id),
    diff_hunk: comment.hunk,
    path: comment.path,
    commit_id: line === null ? comment.sha : pull.headSha,
    original_commit_id: comment.sha,
    user: accountView(world, comment.author),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    html_url: html,
    pull_request_url: pullUrl,
    author_association: computeAuthorAssociation(world, pull.repo, comment.author),
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

export function reviewView(world: MockGitHubData, pull: MockPull, review: MockReview): GitHubPayload {
  const html = `${webUrl(world, pull.repo)}/pull/${pull.number}#pullrequestreview-${review.id}`
  const url = `${apiUrl(world, pull.repo)}/pulls/${pull.number}`
  return {
    id: review.id,
    node_id: toNodeId('PullRequestReview', review.id),
    user: accountView(world, review.author),
    body: review.body,
    state: review.state,
    html_url: html,
    pull_request_url: url,
    author_association: computeAuthorAssociation(world, pull.repo, review.author),
    _links: { html: { href: html }, pull_request: { href: url } },
    ...(review.state === 'PENDING' ? {} : { submitted_at: review.submittedAt }),
    commit_id: review.sha,
  }
}
