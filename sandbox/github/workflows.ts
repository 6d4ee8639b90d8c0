// A simulation of Actions: dispatched workflows run for a while and end with the configured outcome.
import type { MockGitHubState } from './github-state.ts'
import { toWorkflowRunView, toWorkflowView } from './views/check-view.ts'
import type { MockAccount, GitHubPayload, MockRepository, Workflow, MockWorkflowRun } from './github-data.ts'

/**
 * Starts a run. It changes automatically from queued to in progress to completed, and sends a webhook for each
 * step.
 */
export async function startWorkflowRun(
  state: MockGitHubState,
  repo: MockRepository,
  workflow: Workflow,
  event: string,
  branch: string,
  sha: string,
  actor: MockAccount,
  inputs: GitHubPayload,
): Promise<MockWorkflowRun> {
  const at = state.world.timestamp()
  const number = repo.runs.filter((it) => it.workflow === workflow).length + 1
  const id = state.world.nextId()
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
  await emitWorkflowRunEvent(state, repo, run, 'requested')
  if (workflow.outcome !== 'never') state.runInBackground(simulateWorkflowRun(state, repo, run))
  return run
}

async function simulateWorkflowRun(
  state: MockGitHubState,
  repo: MockRepository,
  run: MockWorkflowRun,
): Promise<void> {
  const { milliseconds } = run.workflow
  const step = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds / 2))
  await step()
  run.status = 'in_progress'
  await emitWorkflowRunEvent(state, repo, run, 'in_progress')
  await step()
  run.status = 'completed'
  run.conclusion = run.workflow.outcome
  await emitWorkflowRunEvent(state, repo, run, 'completed')
}

async function emitWorkflowRunEvent(
  state: MockGitHubState,
  repo: MockRepository,
  run: MockWorkflowRun,
  action: string,
): Promise<void> {
  run.updatedAt = state.world.timestamp()
  state.webhooks.emit('workflow_run', action, repo, run.actor, {
    workflow_run: await toWorkflowRunView(state.world, repo, run),
    workflow: toWorkflowView(state.world, repo, run.workflow),
  })
}
