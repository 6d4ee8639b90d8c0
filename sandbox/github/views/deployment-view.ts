// Deployments and their statuses as GitHub's REST answers show them.
import type { Deployment, DeploymentStatus, Payload, Repo, World } from '../world.ts'
import { accountView, appView, nodeId } from './account-view.ts'
import { apiUrl, webUrl } from './repository-view.ts'

export function deploymentView(world: World, repo: Repo, deployment: Deployment): Payload {
  const { id, sha, ref, environment, description, isTransient, isProduction, creator, app, createdAt } =
    deployment
  const url = `${apiUrl(world, repo)}/deployments/${id}`
  return {
    url,
    id,
    node_id: nodeId('Deployment', id),
    task: 'deploy',
    original_environment: environment,
    environment,
    description,
    created_at: createdAt,
    updated_at: deployment.statuses.at(-1)?.createdAt ?? createdAt,
    statuses_url: `${url}/statuses`,
    repository_url: apiUrl(world, repo),
    creator: accountView(world, creator),
    sha,
    ref,
    payload: {},
    transient_environment: isTransient,
    production_environment: isProduction,
    performed_via_github_app: app === null ? null : appView(world, app),
  }
}

export function deploymentStatusView(
  world: World,
  repo: Repo,
  deployment: Deployment,
  status: DeploymentStatus,
): Payload {
  const { id, state, description, creator, app, createdAt } = status
  const url = `${apiUrl(world, repo)}/deployments/${deployment.id}`
  return {
    url: `${url}/statuses/${id}`,
    id,
    node_id: nodeId('DeploymentStatus', id),
    state,
    description,
    environment: deployment.environment,
    target_url: webUrl(world, repo),
    created_at: createdAt,
    updated_at: createdAt,
    deployment_url: url,
    repository_url: apiUrl(world, repo),
    creator: accountView(world, creator),
    performed_via_github_app: app === null ? null : appView(world, app),
  }
}
