// Check runs and commit statuses: making and changing them as GitHub allows, and telling the apps.
import type { GitHubState } from './github-state.ts'
import { suiteFor } from './git/pushes.ts'
import { Refusal, invalid } from './http/route.ts'
import { runView, statusView, suiteState, suiteView } from './views/check-view.ts'
import { readCommit, commitView } from './views/commit-view.ts'
import type { Account, Annotation, App, CheckRun, CheckSuite, Payload, Repo, Status } from './world.ts'

// GitHub's caps: per request, per text, per run.
const annotationsPerRequest = 50
const outputLimit = 65_535
const actionLimit = 3
const actionLengths = { label: 20, description: 40, identifier: 20 } as const

interface Output {
  readonly title?: string
  readonly summary?: string
  readonly text?: string
  readonly annotations?: readonly Annotation[]
}

function checkRequest(body: Payload): void {
  const output = (body['output'] ?? {}) as Output
  if ((output.annotations?.length ?? 0) > annotationsPerRequest)
    throw new Refusal(
      422,
      `Invalid request.\n\nNo more than ${annotationsPerRequest} items are allowed; ${output.annotations?.length ?? 0} were supplied.`,
    )
  for (const field of ['summary', 'text'] as const)
    if ((output[field]?.length ?? 0) > outputLimit)
      throw invalid('CheckRun', field, 'custom', `${field} exceeds a maximum bytesize of ${outputLimit}`)
  const actions = (body['actions'] ?? []) as CheckRun['actions']
  if (actions.length > actionLimit)
    throw new Refusal(
      422,
      `Invalid request.\n\nNo more than ${actionLimit} items are allowed; ${actions.length} were supplied.`,
    )
  for (const action of actions)
    for (const [field, limit] of Object.entries(actionLengths))
      if ((action[field as keyof typeof actionLengths] ?? '').length > limit)
        throw invalid(
          'CheckRun',
          `actions.${field}`,
          'custom',
          `${field} is too long (maximum is ${limit} characters)`,
        )
  if (body['status'] === 'completed' && body['conclusion'] === undefined)
    throw invalid('CheckRun', 'conclusion', 'missing_field')
}

function apply(state: GitHubState, run: CheckRun, body: Payload): void {
  const { name, status, conclusion, started_at, completed_at, details_url, external_id } = body as Record<
    string,
    string | undefined
  >
  const output = (body['output'] ?? {}) as Output
  run.changedAt = state.world.now()
  if (name !== undefined) run.name = name
  if (status !== undefined) run.status = status
  if (started_at !== undefined) run.startedAt = started_at
  if (details_url !== undefined) run.detailsUrl = details_url
  if (external_id !== undefined) run.externalId = external_id
  if (run.status !== 'completed' && conclusion === undefined) {
    run.conclusion = null
    run.completedAt = null
  }
  // A conclusion completes the run, whatever status was said.
  if (conclusion !== undefined) {
    run.status = 'completed'
    run.conclusion = conclusion
    run.completedAt = completed_at ?? state.world.timestamp()
  }
  run.title = output.title ?? run.title
  run.summary = output.summary ?? run.summary
  run.text = output.text ?? run.text
  // Annotations of later requests are added to the earlier ones.
  run.annotations.push(...(output.annotations ?? []))
  if (body['actions'] !== undefined) run.actions = body['actions'] as CheckRun['actions']
}

export async function createRun(
  state: GitHubState,
  repo: Repo,
  app: App,
  sha: string,
  body: Payload,
): Promise<CheckRun> {
  checkRequest(body)
  const { world } = state
  const branch = [...repo.known].find(([, tip]) => tip === sha)?.[0].replace('refs/heads/', '') ?? null
  const suite = suiteFor(state, repo, app, sha, branch, null)
  const run: CheckRun = {
    id: world.nextId(),
    suite,
    name: '',
    status: 'queued',
    conclusion: null,
    changedAt: world.now(),
    startedAt: world.timestamp(),
    completedAt: null,
    detailsUrl: null,
    externalId: null,
    title: null,
    summary: null,
    text: null,
    annotations: [],
    actions: [],
  }
  apply(state, run, body)
  suite.runs.push(run)
  await emitRun(state, run, 'created', app.bot)
  if (run.status === 'completed') await emitRun(state, run, 'completed', app.bot)
  return run
}

export async function updateRun(state: GitHubState, run: CheckRun, body: Payload): Promise<void> {
  checkRequest(body)
  const before = run.status
  apply(state, run, body)
  if (run.status === 'completed' && before !== 'completed')
    await emitRun(state, run, 'completed', run.suite.app.bot)
}

async function emitRun(
  state: GitHubState,
  run: CheckRun,
  action: string,
  by: Account,
  more: Payload = {},
  only?: App,
): Promise<void> {
  const { suite } = run
  state.queueDue(suite.repo)
  suite.updatedAt = state.world.timestamp()
  const check_run = { ...runView(state.world, run), check_suite: await suiteView(state.world, suite) }
  state.webhooks.emit('check_run', action, suite.repo, by, { check_run, ...more }, only)
  if (action === 'completed' && suiteState(suite).status === 'completed')
    state.webhooks.emit('check_suite', 'completed', suite.repo, by, {
      check_suite: await suiteView(state.world, suite),
    })
}

/** Someone asks for a run again, or presses one of its buttons: only the app that owns it hears of it. */
export async function askRun(state: GitHubState, run: CheckRun, by: Account, button?: string): Promise<void> {
  const more = button === undefined ? {} : { requested_action: { identifier: button } }
  await emitRun(
    state,
    run,
    button === undefined ? 'rerequested' : 'requested_action',
    by,
    more,
    run.suite.app,
  )
}

export async function askSuite(state: GitHubState, suite: CheckSuite, by: Account): Promise<void> {
  const check_suite = await suiteView(state.world, suite)
  state.webhooks.emit('check_suite', 'rerequested', suite.repo, by, { check_suite }, suite.app)
}

export interface NewStatus {
  readonly context?: string
  readonly state: Status['state']
  readonly description?: string | null
  readonly target_url?: string | null
}

export async function addStatus(
  state: GitHubState,
  repo: Repo,
  sha: string,
  creator: Account,
  given: NewStatus,
): Promise<Status> {
  const { world } = state
  const { context = 'default', description = null, target_url = null } = given
  // GitHub's cap on statuses of one commit and context.
  if (repo.statuses.filter((it) => it.sha === sha && it.context === context).length >= 1000)
    throw new Refusal(422, 'Validation Failed', [
      'This SHA and context has reached the maximum number of statuses.',
    ])
  const status: Status = {
    id: world.nextId(),
    sha,
    context,
    state: given.state,
    description,
    targetUrl: target_url,
    creator,
    createdAt: world.timestamp(),
    changedAt: world.now(),
  }
  repo.statuses.push(status)
  state.queueDue(repo)
  const commit = commitView(world, repo, await readCommit(repo.path, sha))
  state.webhooks.emit('status', null, repo, creator, {
    ...statusView(world, repo, status),
    sha,
    name: `${repo.owner.login}/${repo.name}`,
    commit,
    branches: [],
  })
  return status
}
