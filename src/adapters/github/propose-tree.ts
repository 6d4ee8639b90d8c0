// A pull request of our App whose content is a given tree: a commit through GitHub's API, a branch, and a pull request, each
// created once. Existing ones are reused.
import { toPullNumber, type PullNumber } from '../../pull-request/ids.ts'
import type { ForgeAction } from '../../ports/forge.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { BotAppContext, RepositoryParams } from './own-issues.ts'

/** Returns the pull request's number. Rejects with a ForgeError, or with what Octokit rejects with. */
export async function proposeTreeAsPullRequest(
  octokit: Octokit,
  target: RepositoryParams,
  { login }: Pick<BotAppContext, 'login'>,
  action: Extract<ForgeAction, { kind: 'propose-tree' }>,
): Promise<PullNumber> {
  const { branch, base, parent, tree, message, title, body } = action
  const { data: known } = await octokit.rest.pulls.list({
    ...target,
    head: `${target.owner}:${branch}`,
    base,
    state: 'all',
    per_page: 100,
  })
  const us = await login()
  // A pull request that a person closed is not opened again.
  const own = known.find((pull) => pull.head.ref === branch && pull.user?.login === us)
  if (own !== undefined) return toPullNumber(own.number)
  const there = await readBranchTip(octokit, target, branch)
  if (there === undefined) {
    const { data } = await octokit.rest.git.createCommit({ ...target, message, tree, parents: [parent] })
    await octokit.rest.git.createRef({ ...target, ref: `refs/heads/${branch}`, sha: data.sha })
  } else {
    // Anyone with write access may have created it, and their content must not be proposed in our name.
    const { data } = await octokit.rest.git.getCommit({ ...target, commit_sha: there })
    if (data.tree.sha !== tree)
      throw new ForgeError('rejected', `the branch ${branch} already exists with different content`)
  }
  const { data } = await octokit.rest.pulls.create({ ...target, head: branch, base, title, body })
  return toPullNumber(data.number)
}

async function readBranchTip(
  octokit: Octokit,
  target: RepositoryParams,
  branch: string,
): Promise<string | undefined> {
  try {
    return (await octokit.rest.git.getRef({ ...target, ref: `heads/${branch}` })).data.object.sha
  } catch (error) {
    if (toForgeError(error, 'find a branch').code === 'not-found') return undefined
    throw error
  }
}
