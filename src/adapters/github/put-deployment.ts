// Deployments on GitHub: one per commit and environment, with its newest status. Repeating a call changes
// nothing.
import type { ForgeAction } from '../../ports/forge.ts'
import type { Octokit } from './github-app.ts'

/** Rejects with what Octokit rejects with. */
export async function putDeployment(
  octokit: Octokit,
  target: { readonly owner: string; readonly repo: string },
  appId: number,
  { commit, environment, state, description, isTransient }: Extract<ForgeAction, { kind: 'put-deployment' }>,
): Promise<void> {
  const { data: known } = await octokit.rest.repos.listDeployments({
    ...target,
    sha: commit,
    environment,
    per_page: 100,
  })
  const own = known.find(({ performed_via_github_app }) => performed_via_github_app?.id === appId)
  const deployment = own?.id ?? (await createDeployment(octokit, target, commit, environment, isTransient))
  const statuses = own === undefined ? [] : await readNewestDeploymentStatus(octokit, target, deployment)
  const [last] = statuses
  if (last?.state === state && last.description === description) return
  await octokit.rest.repos.createDeploymentStatus({
    ...target,
    deployment_id: deployment,
    state,
    description,
    auto_inactive: true,
  })
}

async function createDeployment(
  octokit: Octokit,
  target: { readonly owner: string; readonly repo: string },
  commit: string,
  environment: string,
  isTransient: boolean,
): Promise<number> {
  const { data } = await octokit.rest.repos.createDeployment({
    ...target,
    ref: commit,
    environment,
    // The commit is already on the branch with its required checks, so nothing needs to be merged or awaited.
    auto_merge: false,
    required_contexts: [],
    transient_environment: isTransient,
    production_environment: !isTransient,
    description: 'Catalog image',
  })
  // GitHub answers 202 with a message if it merged something first, although auto-merge is disabled.
  if (!('id' in data)) throw new Error('GitHub did not create a deployment')
  return data.id
}

async function readNewestDeploymentStatus(
  octokit: Octokit,
  target: { readonly owner: string; readonly repo: string },
  deployment: number,
) {
  const { data } = await octokit.rest.repos.listDeploymentStatuses({
    ...target,
    deployment_id: deployment,
    per_page: 1,
  })
  return data
}
