// Deployments and their statuses as GitHub's REST answers show them.
import type {
  MockDeployment,
  DeploymentStatus,
  GitHubPayload,
  MockRepository,
  MockGitHubData,
} from '../github-data.ts'
import { toAccountView, toAppView, toNodeId } from './account-view.ts'
import { getRepositoryApiUrl, getRepositoryWebUrl } from './repository-view.ts'

export function toDeploymentView(
  world: MockGitHubData,
  repo: MockRepository,
  deployment: MockDeployment,
): GitHubPayload {
  const { id, sha, ref, environment, description, isTransient, isProduction, creator, app, createdAt } =
    deployment
  const url = `${getRepositoryApiUrl(world, repo)}/deployments/${id}`
  return {
    url,
    id,
    node_id: toNodeId('Deployment', id),
    task: 'deploy',
    original_environment: environment,
    environment,
    description,
    created_at: createdAt,
    updated_at: deployment.statuses.at(-1)?.createdAt ?? createdAt,
    statuses_url: `${url}/statuses`,
    repository_url: getRepositoryApiUrl(world, repo),
    creator: toAccountView(world, creator),
    sha,
    ref,
    payload: {},
    transient_environment: isTransient,
    production_environment: isProduction,
    performed_via_github_app: app === null ? null : toAppView(world, app),
  }
}

export function toDeploymentStatusView(
  world: MockGitHubData,
  repo: MockRepository,
  deployment: MockDeployment,
  status: DeploymentStatus,
): GitHubPayload {
  const { id, state, description, creator, app, createdAt } = status
  const url = `${getRepositoryApiUrl(world, repo)}/deployments/${deployment.id}`
  return {
    url: `${url}/statuses/${id}`,
    id,
    node_id: toNodeId('DeploymentStatus', id),
    state,
    description,
    environment: deployment.environment,
    target_url: getRepositoryWebUrl(world, repo),
    created_at: createdAt,
    updated_at: createdAt,
    deployment_url: url,
    repository_url: getRepositoryApiUrl(world, repo),
    creator: toAccountView(world, creator),
    performed_via_github_app: app === null ? null : toAppView(world, app),
  }
}
