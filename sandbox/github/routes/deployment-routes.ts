// REST routes of deployments and their statuses, limited to those that an App uses.
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createNotFoundError,
  paginate,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
  findCallerApp,
} from '../http/route.ts'
import type { RepositoryRouteRequest, Route } from '../http/route.ts'
import { toDeploymentStatusView, toDeploymentView } from '../views/deployment-view.ts'
import type { MockDeployment, DeploymentStatus } from '../github-data.ts'
import { requireCommit } from './repository-routes.ts'

const deploymentStates = [
  'error',
  'failure',
  'inactive',
  'in_progress',
  'queued',
  'pending',
  'success',
] as const
const maxDeploymentDescriptionChars = 140

function requireDeployment(call: RepositoryRouteRequest): MockDeployment {
  const id = parseIdParam(call, 'deployment_id')
  const found = call.repo.deployments.find((it) => it.id === id)
  if (found === undefined) throw createNotFoundError()
  return found
}

const read = { deployments: 'read' } as const
const write = { deployments: 'write' } as const

export const deploymentRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /deployments', read, (call) => {
    const { repo, query } = call
    const matchesFilter = (name: string, value: string) => !query.has(name) || query.get(name) === value
    const found = repo.deployments
      .filter((it) => matchesFilter('sha', it.sha) && matchesFilter('environment', it.environment))
      .reverse()
    return paginate(call, found, (items) => items.map((it) => toDeploymentView(repo, it)))
  }),
  defineRepositoryRoute('POST /deployments', write, async (call) => {
    const { repo, body } = call
    const ref = requireStringField(call, 'ref', 'Deployment')
    const sha = await requireCommit(call, ref)
    const environment = typeof body['environment'] === 'string' ? body['environment'] : 'production'
    const { github } = repo
    const now = github.timestamp()
    const deployment: MockDeployment = {
      id: github.nextId(),
      sha,
      ref,
      environment,
      description: typeof body['description'] === 'string' ? body['description'] : null,
      isTransient: body['transient_environment'] === true,
      isProduction:
        typeof body['production_environment'] === 'boolean'
          ? body['production_environment']
          : environment === 'production',
      creator: getActingAccount(call.caller),
      app: findCallerApp(call.caller),
      createdAt: now,
      statuses: [],
    }
    repo.deployments.push(deployment)
    github.webhooks.emit('deployment', 'created', repo, deployment.creator, {
      deployment: toDeploymentView(repo, deployment),
      workflow: null,
      workflow_run: null,
    })
    return respondCreated(toDeploymentView(repo, deployment))
  }),
  defineRepositoryRoute('GET /deployments/{deployment_id}/statuses', read, (call) => {
    const deployment = requireDeployment(call)
    return paginate(call, deployment.statuses.toReversed(), (items) =>
      items.map((it) => toDeploymentStatusView(call.repo, deployment, it)),
    )
  }),
  defineRepositoryRoute('POST /deployments/{deployment_id}/statuses', write, (call) => {
    const deployment = requireDeployment(call)
    const requestedState = requireStringField(call, 'state', 'DeploymentStatus') as DeploymentStatus['state']
    if (!deploymentStates.includes(requestedState))
      throw new GitHubApiError(422, 'Validation Failed', [`${requestedState} is not a state`])
    const description = typeof call.body['description'] === 'string' ? call.body['description'] : ''
    if ([...description].length > maxDeploymentDescriptionChars)
      throw new GitHubApiError(422, 'Validation Failed', [
        `description is too long (maximum is ${maxDeploymentDescriptionChars} characters)`,
      ])
    const { state } = call
    const status: DeploymentStatus = {
      id: state.nextId(),
      state: requestedState,
      description,
      creator: getActingAccount(call.caller),
      app: findCallerApp(call.caller),
      createdAt: state.timestamp(),
    }
    // A new success makes the earlier ones of the environment inactive.
    if (requestedState === 'success' && call.body['auto_inactive'] !== false)
      for (const other of call.repo.deployments)
        if (other !== deployment && other.environment === deployment.environment && !other.isTransient)
          if (other.statuses.at(-1)?.state === 'success')
            other.statuses.push({ ...status, id: state.nextId(), state: 'inactive', description: '' })
    deployment.statuses.push(status)
    state.webhooks.emit('deployment_status', 'created', call.repo, status.creator, {
      deployment_status: toDeploymentStatusView(call.repo, deployment, status),
      deployment: toDeploymentView(call.repo, deployment),
    })
    state.queueDue(call.repo)
    return respondCreated(toDeploymentStatusView(call.repo, deployment, status))
  }),
]
