// Manages the App's pull requests on dedicated branches: commits through GitHub's API, which signs them, a branch that
// only moves forward, and a pull request that is opened once. Content from anyone else is not changed.
import { toCommitSha, toPullNumber, type CommitSha, type PullNumber } from '../../pull-request/ids.ts'
import {
  botBranchPrefix,
  type ForgeAction,
  type BotPullRequest,
  type ForgeActionResult,
} from '../../ports/forge.ts'
import { catchNotFound, ForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { BotGitHubAppContext, RepositoryParams } from './bot-issues.ts'

export type BotPullRequestAction = Extract<
  ForgeAction,
  { kind: 'write-commit' | 'move-own-branch' | 'open-own-pull' | 'edit-own-pull' | 'close-own-pull' }
>

/** See Forge.findOwnPull. Rejects with what Octokit rejects with. */
export async function findBotPullRequest(
  octokit: Octokit,
  target: RepositoryParams,
  { login }: Pick<BotGitHubAppContext, 'login'>,
  branch: string,
  base: string,
): Promise<BotPullRequest | undefined> {
  const home = `${target.owner}/${target.repo}`.toLowerCase()
  const own = (await listPullsOfAccount(octokit, target, await login(), branch, base)).filter(
    ({ head }) => head.repo?.full_name.toLowerCase() === home,
  )
  const found = own.find(({ state }) => state === 'open') ?? own[0]
  if (!found) return undefined
  return {
    pull: toPullNumber(found.number),
    state: found.state === 'open' ? 'open' : found.merged_at === null ? 'closed' : 'merged',
    head: toCommitSha(found.head.sha),
  }
}

/** The account's open and closed pull requests for a branch, newest first. */
async function listPullsOfAccount(
  octokit: Octokit,
  target: RepositoryParams,
  account: string,
  branch: string,
  base: string,
) {
  const head = `${target.owner}:${branch}`
  const { data } = await octokit.rest.pulls.list({ ...target, head, base, state: 'all', per_page: 100 })
  return data.filter((pull) => pull.head.ref === branch && pull.user?.login === account)
}

/** See Forge.mergedPull. Rejects with what Octokit rejects with. */
export async function findMergedPullForCommit(
  octokit: Octokit,
  target: RepositoryParams,
  commit: CommitSha,
  branch: string,
): Promise<PullNumber | undefined> {
  const { data } = await octokit.rest.repos.listPullRequestsAssociatedWithCommit({
    ...target,
    commit_sha: commit,
    per_page: 100,
  })
  const merged = data.filter(({ merged_at: at, base }) => at !== null && base.ref === branch)
  const exact = merged.find((pull) => pull.merge_commit_sha === commit)
  const [only, ...others] = exact ? [exact] : merged
  return only !== undefined && others.length === 0 ? toPullNumber(only.number) : undefined
}

/** Rejects with a ForgeError, or with what Octokit rejects with. */
export async function performBotPullRequestAction(
  octokit: Octokit,
  target: RepositoryParams,
  acting: Pick<BotGitHubAppContext, 'login'>,
  action: BotPullRequestAction,
): Promise<ForgeActionResult> {
  switch (action.kind) {
    case 'write-commit':
      return { commit: await createCommit(octokit, target, action) }
    case 'move-own-branch':
      await fastForwardBranch(octokit, target, action)
      return {}
    case 'open-own-pull': {
      const { branch, base, title, body, draft } = action
      // A lost response must not cause a duplicate, and a pull request that a person closed is not opened again.
      const known = await findBotPullRequest(octokit, target, acting, branch, base)
      if (known) return { pull: known.pull }
      requireBotBranch(branch)
      try {
        const { data } = await octokit.rest.pulls.create({
          ...target,
          head: branch,
          base,
          title,
          body,
          draft,
        })
        return { pull: toPullNumber(data.number) }
      } catch (error) {
        // Lists lag. If GitHub rejects a second pull request for the branch, the first one exists.
        const there = await findBotPullRequest(octokit, target, acting, branch, base).catch(() => undefined)
        if (there) return { pull: there.pull }
        throw error
      }
    }
    case 'edit-own-pull': {
      const { pull, title, body } = action
      await octokit.rest.pulls.update({ ...target, pull_number: pull, title, body })
      return { pull }
    }
    case 'close-own-pull':
      await octokit.rest.pulls.update({ ...target, pull_number: action.pull, state: 'closed' })
      return {}
  }
}

async function createCommit(
  octokit: Octokit,
  target: RepositoryParams,
  { parents, onto, files, message }: Extract<ForgeAction, { kind: 'write-commit' }>,
): Promise<CommitSha> {
  const blobs = new Map<string, string>()
  const entries: { path: string; mode: '100644' | '100755'; type: 'blob'; sha: string }[] = []
  for (const { path, bytes, isExecutable } of files) {
    // Catalogs that are rendered from one template are usually the same file.
    const content = Buffer.from(bytes).toString('base64')
    let sha = blobs.get(content)
    if (sha === undefined) {
      const { data } = await octokit.rest.git.createBlob({ ...target, content, encoding: 'base64' })
      sha = data.sha
      blobs.set(content, sha)
    }
    entries.push({ path, mode: isExecutable ? '100755' : '100644', type: 'blob', sha })
  }
  const { data: tree } = await octokit.rest.git.createTree({ ...target, base_tree: onto, tree: entries })
  const { data } = await octokit.rest.git.createCommit({
    ...target,
    message,
    tree: tree.sha,
    parents: [...parents],
  })
  return toCommitSha(data.sha)
}

/** Only fast-forwards: without force, GitHub rejects an update that would lose someone's commit. */
async function fastForwardBranch(
  octokit: Octokit,
  target: RepositoryParams,
  { branch, from, to }: Extract<ForgeAction, { kind: 'move-own-branch' }>,
): Promise<void> {
  requireBotBranch(branch)
  const there = await readBranchTip(octokit, target, branch)
  if (there === to) return
  if (there !== from)
    throw new ForgeError(
      'rejected',
      there === undefined
        ? `the branch ${branch} no longer exists`
        : `the branch ${branch} contains commits that catalog-bot did not write`,
    )
  if (from === undefined)
    await octokit.rest.git.createRef({ ...target, ref: `refs/heads/${branch}`, sha: to })
  else await octokit.rest.git.updateRef({ ...target, ref: `heads/${branch}`, sha: to, force: false })
}

function requireBotBranch(branch: string): void {
  if (!branch.startsWith(botBranchPrefix)) throw new Error(`${branch} is not a catalog-bot branch`)
}

async function readBranchTip(
  octokit: Octokit,
  target: RepositoryParams,
  branch: string,
): Promise<CommitSha | undefined> {
  const found = await catchNotFound(octokit.rest.git.getRef({ ...target, ref: `heads/${branch}` }))
  return found && toCommitSha(found.data.object.sha)
}

/**
 * Opens a pull request of the App whose content is a given tree: a commit through GitHub's API, a branch, and a pull
 * request, each created once. Existing ones are reused. Returns the pull request's number. Rejects with a ForgeError,
 * or with what Octokit rejects with.
 */
export async function createPullRequestFromTree(
  octokit: Octokit,
  target: RepositoryParams,
  { login }: Pick<BotGitHubAppContext, 'login'>,
  action: Extract<ForgeAction, { kind: 'propose-tree' }>,
): Promise<PullNumber> {
  const { branch, base, parent, tree, message, title, body } = action
  // A pull request that a person closed is not opened again.
  const [own] = await listPullsOfAccount(octokit, target, await login(), branch, base)
  if (own !== undefined) return toPullNumber(own.number)
  const there = await readBranchTip(octokit, target, branch)
  if (there === undefined) {
    const { data } = await octokit.rest.git.createCommit({ ...target, message, tree, parents: [parent] })
    await octokit.rest.git.createRef({ ...target, ref: `refs/heads/${branch}`, sha: data.sha })
  } else {
    // Anyone with write access may have created it, and the App must not propose their content in its own name.
    const { data } = await octokit.rest.git.getCommit({ ...target, commit_sha: there })
    if (data.tree.sha !== tree)
      throw new ForgeError('rejected', `the branch ${branch} already exists with different content`)
  }
  const { data } = await octokit.rest.pulls.create({ ...target, head: branch, base, title, body })
  return toPullNumber(data.number)
}
