// Deployments and their statuses as GitHub's REST answers show them.
import type { MockDeployment, DeploymentStatus, GitHubPayload, MockRepository } from '../github-data.ts'
import { toAccountView, toAppView, toNodeId } from './account-view.ts'
import { getRepositoryApiUrl, getRepositoryWebUrl } from './repository-view.ts'

export function toDeploymentView(repo: MockRepository, deployment: MockDeployment): GitHubPayload {
  const { id, sha, ref, environment, description, isTransient, isProduction, creator, app, createdAt } =
    deployment
  const url = `${getRepositoryApiUrl(repo)}/deployments/${id}`
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
    repository_url: getRepositoryApiUrl(repo),
    creator: toAccountView(creator),
    sha,
    ref,
    payload: {},
    transient_environment: isTransient,
    production_environment: isProduction,
    performed_via_github_app: app === null ? null : toAppView(app),
  }
}

export function toDeploymentStatusView(
  repo: MockRepository,
  deployment: MockDeployment,
  status: DeploymentStatus,
): GitHubPayload {
  const { id, state, description, creator, app, createdAt } = status
  const url = `${getRepositoryApiUrl(repo)}/deployments/${deployment.id}`
  return {
    url: `${url}/statuses/${id}`,
    id,
    node_id: toNodeId('DeploymentStatus', id),
    state,
    description,
    environment: deployment.environment,
    target_url: getRepositoryWebUrl(repo),
    created_at: createdAt,
    updated_at: createdAt,
    deployment_url: url,
    repository_url: getRepositoryApiUrl(repo),
    creator: toAccountView(creator),
    performed_via_github_app: app === null ? null : toAppView(app),
  }
}
