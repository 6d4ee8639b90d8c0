// Check runs, suites, statuses and workflow runs as GitHub's REST answers and webhooks show them.
import type {
  MockCheckRun,
  CheckSuite,
  GitHubPayload,
  MockRepository,
  MockCommitStatus,
  Workflow,
  MockWorkflowRun,
} from '../github-data.ts'
import { toAccountView, toAppView, toNodeId } from './account-view.ts'
import { readCommit, toSimpleCommitView } from './commit-view.ts'
import { getRepositoryApiUrl, toRepositoryView, getRepositoryWebUrl } from './repository-view.ts'

/**
 * Open pull requests from branches of the repository itself at this commit. GitHub does not list pull requests from
 * forks.
 */
function listOpenPullViewsByHeadSha(repo: MockRepository, sha: string): GitHubPayload[] {
  const shortRepository = (it: MockRepository): GitHubPayload => ({
    id: it.id,
    url: getRepositoryApiUrl(it),
    name: it.name,
  })
  return [...repo.pulls.values()]
    .filter((it) => it.state === 'open' && it.headSha === sha && it.headRepo === repo)
    .map((it) => ({
      id: it.id,
      number: it.number,
      url: `${getRepositoryApiUrl(repo)}/pulls/${it.number}`,
      head: { ref: it.headRef, sha: it.headSha, repo: shortRepository(repo) },
      base: { ref: it.baseRef, sha: it.baseSha, repo: shortRepository(repo) },
    }))
}

export function toCheckRunView(run: MockCheckRun): GitHubPayload {
  const { repo, app, sha } = run.suite
  const url = `${getRepositoryApiUrl(repo)}/check-runs/${run.id}`
  const html = `${getRepositoryWebUrl(repo)}/runs/${run.id}`
  return {
    id: run.id,
    name: run.name,
    node_id: toNodeId('CheckRun', run.id),
    head_sha: sha,
    external_id: run.externalId ?? '',
    url,
    html_url: html,
    details_url: run.detailsUrl ?? html,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: run.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: run.suite.id },
    app: toAppView(app),
    pull_requests: listOpenPullViewsByHeadSha(repo, sha),
  }
}

const checkConclusionsBySeverity = [
  'success',
  'neutral',
  'skipped',
  'stale',
  'cancelled',
  'timed_out',
  'action_required',
  'failure',
]

/** The conclusion of a suite is that of its worst run, once all runs are completed. */
export function computeCheckSuiteState(suite: CheckSuite): {
  readonly status: string
  readonly conclusion: string | null
} {
  const latest = findLatestCheckRuns(suite.runs)
  if (latest.length === 0) return { status: 'queued', conclusion: null }
  if (latest.some((it) => it.status !== 'completed')) return { status: 'in_progress', conclusion: null }
  const worst = Math.max(
    ...latest.map((it) => checkConclusionsBySeverity.indexOf(it.conclusion ?? 'success')),
  )
  return { status: 'completed', conclusion: checkConclusionsBySeverity[worst] ?? 'failure' }
}

/** The newest run of each name. */
export function findLatestCheckRuns(runs: readonly MockCheckRun[]): MockCheckRun[] {
  const byName = new Map<string, MockCheckRun>()
  for (const run of runs) byName.set(`${run.suite.app.id} ${run.name}`, run)
  return [...byName.values()]
}

export async function toCheckSuiteView(suite: CheckSuite): Promise<GitHubPayload> {
  const { id, repo, sha } = suite
  const url = `${getRepositoryApiUrl(repo)}/check-suites/${id}`
  return {
    id,
    node_id: toNodeId('CheckSuite', id),
    head_branch: suite.branch,
    head_sha: sha,
    ...computeCheckSuiteState(suite),
    url,
    before: suite.before,
    after: sha,
    pull_requests: listOpenPullViewsByHeadSha(repo, sha),
    app: toAppView(suite.app),
    repository: toRepositoryView(repo),
    created_at: suite.createdAt,
    updated_at: suite.updatedAt,
    head_commit: toSimpleCommitView(await readCommit(repo.path, sha)),
    latest_check_runs_count: findLatestCheckRuns(suite.runs).length,
    check_runs_url: `${url}/check-runs`,
    rerequestable: true,
    runs_rerequestable: true,
  }
}

export function toCommitStatusView(repo: MockRepository, status: MockCommitStatus): GitHubPayload {
  const { id, sha, state, context, description, targetUrl, creator, createdAt } = status
  return {
    url: `${getRepositoryApiUrl(repo)}/statuses/${sha}`,
    avatar_url: `${repo.github.base}/avatars/u/${creator.id}`,
    id,
    node_id: toNodeId('StatusContext', id),
    state,
    description,
    target_url: targetUrl,
    context,
    created_at: createdAt,
    updated_at: createdAt,
    creator: toAccountView(creator),
  }
}

export function toWorkflowView(repo: MockRepository, workflow: Workflow): GitHubPayload {
  const path = `.github/workflows/${workflow.file}`
  return {
    id: workflow.id,
    node_id: toNodeId('Workflow', workflow.id),
    name: workflow.name,
    path,
    state: 'active',
    created_at: repo.createdAt,
    updated_at: repo.createdAt,
    url: `${getRepositoryApiUrl(repo)}/actions/workflows/${workflow.id}`,
    html_url: `${getRepositoryWebUrl(repo)}/blob/${repo.defaultBranch}/${path}`,
    badge_url: `${getRepositoryWebUrl(repo)}/actions/workflows/${workflow.file}/badge.svg`,
  }
}

export async function toWorkflowRunView(repo: MockRepository, run: MockWorkflowRun): Promise<GitHubPayload> {
  const url = `${getRepositoryApiUrl(repo)}/actions/runs/${run.id}`
  return {
    id: run.id,
    name: run.workflow.name,
    node_id: toNodeId('WorkflowRun', run.id),
    head_branch: run.branch,
    head_sha: run.sha,
    path: `.github/workflows/${run.workflow.file}`,
    display_title: run.workflow.name,
    run_number: run.number,
    run_attempt: 1,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion,
    workflow_id: run.workflow.id,
    check_suite_id: run.id,
    check_suite_node_id: toNodeId('CheckSuite', run.id),
    url,
    html_url: `${getRepositoryWebUrl(repo)}/actions/runs/${run.id}`,
    pull_requests: [],
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    run_started_at: run.createdAt,
    actor: toAccountView(run.actor),
    triggering_actor: toAccountView(run.actor),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${getRepositoryApiUrl(repo)}/check-suites/${run.id}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: null,
    workflow_url: `${getRepositoryApiUrl(repo)}/actions/workflows/${run.workflow.id}`,
    head_commit: toSimpleCommitView(await readCommit(repo.path, run.sha)),
    repository: toRepositoryView(repo),
    head_repository: toRepositoryView(repo),
  }
}
