// A simulation of Actions: dispatched workflows run for a while and end as they were told to.
import type { GitHubState } from './github-state.ts'
import { workflowRunView, workflowView } from './views/check-view.ts'
import type { Account, Payload, Repo, Workflow, WorkflowRun } from './world.ts'

/** Starts a run; it goes from queued over in progress to completed by itself, each step told by a webhook. */
export async function startRun(
  state: GitHubState,
  repo: Repo,
  workflow: Workflow,
  event: string,
  branch: string,
  sha: string,
  actor: Account,
  inputs: Payload,
): Promise<WorkflowRun> {
  const at = state.world.timestamp()
  const number = repo.runs.filter((it) => it.workflow === workflow).length + 1
  const id = state.world.nextId()
  const times = { createdAt: at, updatedAt: at }
  const run: WorkflowRun = {
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
  await emitRun(state, repo, run, 'requested')
  if (workflow.outcome !== 'never') state.later(live(state, repo, run))
  return run
}

async function live(state: GitHubState, repo: Repo, run: WorkflowRun): Promise<void> {
  const { milliseconds } = run.workflow
  const step = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds / 2))
  await step()
  run.status = 'in_progress'
  await emitRun(state, repo, run, 'in_progress')
  await step()
  run.status = 'completed'
  run.conclusion = run.workflow.outcome
  await emitRun(state, repo, run, 'completed')
}

async function emitRun(state: GitHubState, repo: Repo, run: WorkflowRun, action: string): Promise<void> {
  run.updatedAt = state.world.timestamp()
  state.webhooks.emit('workflow_run', action, repo, run.actor, {
    workflow_run: await workflowRunView(state.world, repo, run),
    workflow: workflowView(state.world, repo, run.workflow),
  })
}
