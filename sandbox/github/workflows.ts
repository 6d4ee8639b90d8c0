// A simulation of Actions: dispatched workflows run for a while and end with the configured outcome.
import { toWorkflowRunView, toWorkflowView } from './views/check-view.ts'
import type { MockAccount, GitHubPayload, MockRepository, Workflow, MockWorkflowRun } from './github-data.ts'

/**
 * Starts a run. It changes automatically from queued to in progress to completed, and sends a webhook for each
 * step.
 */
export async function startWorkflowRun(
  repo: MockRepository,
  workflow: Workflow,
  event: string,
  branch: string,
  sha: string,
  actor: MockAccount,
  inputs: GitHubPayload,
): Promise<MockWorkflowRun> {
  const { github } = repo
  const at = github.timestamp()
  const number = repo.runs.filter((it) => it.workflow === workflow).length + 1
  const id = github.nextId()
  const times = { createdAt: at, updatedAt: at }
  const run: MockWorkflowRun = {
    id,
    workflow,
    number,
    event,
    branch,
    sha,
    actor,
    inputs,
    status: 'queued',
    conclusion: null,
    ...times,
  }
  repo.runs.push(run)
  await emitWorkflowRunEvent(repo, run, 'requested')
  if (workflow.outcome !== 'never') github.runInBackground(simulateWorkflowRun(repo, run))
  return run
}

async function simulateWorkflowRun(repo: MockRepository, run: MockWorkflowRun): Promise<void> {
  const { milliseconds } = run.workflow
  const step = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds / 2))
  await step()
  run.status = 'in_progress'
  await emitWorkflowRunEvent(repo, run, 'in_progress')
  await step()
  run.status = 'completed'
  run.conclusion = run.workflow.outcome
  await emitWorkflowRunEvent(repo, run, 'completed')
}

async function emitWorkflowRunEvent(
  repo: MockRepository,
  run: MockWorkflowRun,
  action: string,
): Promise<void> {
  const { github } = repo
  run.updatedAt = github.timestamp()
  github.webhooks.emit('workflow_run', action, repo, run.actor, {
    workflow_run: await toWorkflowRunView(repo, run),
    workflow: toWorkflowView(repo, run.workflow),
  })
}
