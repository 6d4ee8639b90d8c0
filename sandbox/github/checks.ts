// Check runs and commit statuses: creates and changes them as GitHub allows, and notifies the apps.
import { findOrCreateCheckSuite } from './git/ref-changes.ts'
import { GitHubApiError, createValidationError } from './http/route.ts'
import {
  toCheckRunView,
  toCommitStatusView,
  computeCheckSuiteState,
  toCheckSuiteView,
} from './views/check-view.ts'
import { readCommit, toCommitView } from './views/commit-view.ts'
import type {
  MockAccount,
  CheckRunAnnotation,
  MockApp,
  MockCheckRun,
  CheckSuite,
  GitHubPayload,
  MockRepository,
  MockCommitStatus,
} from './github-data.ts'

// GitHub's limits: per request, per text, per run.
const maxAnnotationsPerRequest = 50
const maxCheckOutputBytes = 65_535
const maxCheckRunActions = 3
const maxCheckRunActionFieldChars = { label: 20, description: 40, identifier: 20 } as const

interface CheckRunOutput {
  readonly title?: string
  readonly summary?: string
  readonly text?: string
  readonly annotations?: readonly CheckRunAnnotation[]
}

function validateCheckRunRequest(body: GitHubPayload): void {
  const output = (body['output'] ?? {}) as CheckRunOutput
  if ((output.annotations?.length ?? 0) > maxAnnotationsPerRequest)
    throw new GitHubApiError(
      422,
      `Invalid request.\n\nNo more than ${maxAnnotationsPerRequest} items are allowed; ${output.annotations?.length ?? 0} were supplied.`,
    )
  for (const field of ['summary', 'text'] as const)
    if (Buffer.byteLength(output[field] ?? '') > maxCheckOutputBytes)
      throw createValidationError(
        'CheckRun',
        field,
        'custom',
        `${field} exceeds a maximum bytesize of ${maxCheckOutputBytes}`,
      )
  const actions = (body['actions'] ?? []) as MockCheckRun['actions']
  if (actions.length > maxCheckRunActions)
    throw new GitHubApiError(
      422,
      `Invalid request.\n\nNo more than ${maxCheckRunActions} items are allowed; ${actions.length} were supplied.`,
    )
  for (const action of actions)
    for (const [field, limit] of Object.entries(maxCheckRunActionFieldChars))
      if ((action[field as keyof typeof maxCheckRunActionFieldChars] ?? '').length > limit)
        throw createValidationError(
          'CheckRun',
          `actions.${field}`,
          'custom',
          `${field} is too long (maximum is ${limit} characters)`,
        )
  if (body['status'] === 'completed' && body['conclusion'] === undefined)
    throw createValidationError('CheckRun', 'conclusion', 'missing_field')
}

function applyCheckRunRequest(run: MockCheckRun, body: GitHubPayload): void {
  const { github } = run.suite.repo
  const { name, status, conclusion, started_at, completed_at, details_url, external_id } = body as Record<
    string,
    string | undefined
  >
  const output = (body['output'] ?? {}) as CheckRunOutput
  run.changedAt = github.now()
  if (name !== undefined) run.name = name
  if (status !== undefined) run.status = status
  if (started_at !== undefined) run.startedAt = started_at
  if (details_url !== undefined) run.detailsUrl = details_url
  if (external_id !== undefined) run.externalId = external_id
  if (run.status !== 'completed' && conclusion === undefined) {
    run.conclusion = null
    run.completedAt = null
  }
  // A conclusion completes the run, regardless of the given status.
  if (conclusion !== undefined) {
    run.status = 'completed'
    run.conclusion = conclusion
    run.completedAt = completed_at ?? github.timestamp()
  }
  run.title = output.title ?? run.title
  run.summary = output.summary ?? run.summary
  run.text = output.text ?? run.text
  // Annotations of later requests are added to the earlier ones.
  run.annotations.push(...(output.annotations ?? []))
  if (body['actions'] !== undefined) run.actions = body['actions'] as MockCheckRun['actions']
}

export async function addCheckRun(
  repo: MockRepository,
  app: MockApp,
  sha: string,
  body: GitHubPayload,
): Promise<MockCheckRun> {
  validateCheckRunRequest(body)
  const { github } = repo
  const branch = [...repo.knownRefs].find(([, tip]) => tip === sha)?.[0].replace('refs/heads/', '') ?? null
  const suite = findOrCreateCheckSuite(repo, app, sha, branch, null)
  const run: MockCheckRun = {
    id: github.nextId(),
    suite,
    name: '',
    status: 'queued',
    conclusion: null,
    changedAt: github.now(),
    startedAt: github.timestamp(),
    completedAt: null,
    detailsUrl: null,
    externalId: null,
    title: null,
    summary: null,
    text: null,
    annotations: [],
    actions: [],
  }
  applyCheckRunRequest(run, body)
  suite.runs.push(run)
  await emitCheckRunEvent(run, 'created', app.bot)
  if (run.status === 'completed') await emitCheckRunEvent(run, 'completed', app.bot)
  return run
}

export async function updateCheckRun(run: MockCheckRun, body: GitHubPayload): Promise<void> {
  validateCheckRunRequest(body)
  const before = run.status
  applyCheckRunRequest(run, body)
  if (run.status === 'completed' && before !== 'completed')
    await emitCheckRunEvent(run, 'completed', run.suite.app.bot)
}

async function emitCheckRunEvent(
  run: MockCheckRun,
  action: string,
  by: MockAccount,
  more: GitHubPayload = {},
  only?: MockApp,
): Promise<void> {
  const { github } = run.suite.repo
  const { suite } = run
  github.queueDue(suite.repo)
  suite.updatedAt = github.timestamp()
  const check_run = { ...toCheckRunView(run), check_suite: await toCheckSuiteView(suite) }
  github.webhooks.emit('check_run', action, suite.repo, by, { check_run, ...more }, only)
  if (action === 'completed' && computeCheckSuiteState(suite).status === 'completed')
    github.webhooks.emit('check_suite', 'completed', suite.repo, by, {
      check_suite: await toCheckSuiteView(suite),
    })
}

/** A user reruns a check run, or clicks one of its buttons. Only the app that owns it is notified. */
export async function rerequestCheckRun(run: MockCheckRun, by: MockAccount, button?: string): Promise<void> {
  const more = button === undefined ? {} : { requested_action: { identifier: button } }
  await emitCheckRunEvent(
    run,
    button === undefined ? 'rerequested' : 'requested_action',
    by,
    more,
    run.suite.app,
  )
}

export async function rerequestCheckSuite(suite: CheckSuite, by: MockAccount): Promise<void> {
  const check_suite = await toCheckSuiteView(suite)
  suite.repo.github.webhooks.emit('check_suite', 'rerequested', suite.repo, by, { check_suite }, suite.app)
}

export interface CommitStatusInput {
  readonly context?: string
  readonly state: MockCommitStatus['state']
  readonly description?: string | null
  readonly target_url?: string | null
}

export async function addCommitStatus(
  repo: MockRepository,
  sha: string,
  creator: MockAccount,
  given: CommitStatusInput,
): Promise<MockCommitStatus> {
  const { github } = repo
  const { context = 'default', description = null, target_url = null } = given
  // GitHub's limit on statuses of one commit and context.
  if (repo.statuses.filter((it) => it.sha === sha && it.context === context).length >= 1000)
    throw new GitHubApiError(422, 'Validation Failed', [
      'This SHA and context has reached the maximum number of statuses.',
    ])
  const status: MockCommitStatus = {
    id: github.nextId(),
    sha,
    context,
    state: given.state,
    description,
    targetUrl: target_url,
    creator,
    createdAt: github.timestamp(),
    changedAt: github.now(),
  }
  repo.statuses.push(status)
  github.queueDue(repo)
  const commit = toCommitView(repo, await readCommit(repo.path, sha))
  github.webhooks.emit('status', null, repo, creator, {
    ...toCommitStatusView(repo, status),
    sha,
    name: `${repo.owner.login}/${repo.name}`,
    commit,
    branches: [],
  })
  return status
}
