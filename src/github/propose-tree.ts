// A pull request of our App whose content is one given tree: a commit by MockGitHub's API, a branch, a pull request, each made
// once. What is there already is taken up.
import { toPullNumber, type PullNumber } from '../change/ids.ts'
import type { ForgeAction } from '../ports/forge.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { ActingApp } from './own-issues.ts'
import type { RepositoryParams } from './repository-params.ts'

/** Answers with the pull request's number. Rejects with a ForgeError, or with what Octokit rejects with. */
export async function proposeTree(
  octokit: Octokit,
  target: RepositoryParams,
  { login }: Pick<ActingApp, 'login'>,
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
  // One that people closed is not opened again.
  const own = known.find((pull) => pull.head.ref === branch && pull.user?.login === us)
  if (own !== undefined) return toPullNumber(own.number)
  const there = await readBranchTip(octokit, target, branch)
  if (there === undefined) {
    const { data } = await octokit.rest.git.createCommit({ ...target, message, tree, parents: [parent] })
    await octokit.rest.git.createRef({ ...target, ref: `refs/heads/${branch}`, sha: data.sha })
  } else {
    // Whoever may write to the repository can have made it: nothing of theirs is proposed in our name.
    const { data } = await octokit.rest.git.getCommit({ ...target, commit_sha: there })
    if (data.tree.sha !== tree)
      throw new ForgeError('rejected', `the branch ${branch} exists and holds something else`)
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
