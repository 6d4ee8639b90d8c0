// Renaming a branch, as `POST /branches/{branch}/rename` and the settings page do it.
// https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
import { deleteRef, setRef } from '../git/git-store.ts'
import { emitPullRequestEvent, processRefChanges } from '../git/ref-changes.ts'
import type { MockGitHubState } from '../github-state.ts'
import { GitHubApiError } from '../http/route.ts'
import type { MockAccount, MockRepository } from '../github-data.ts'

/** Pull requests into the branch, and its protection, follow the new name. Pull requests from it are closed. */
export async function renameBranch(
  state: MockGitHubState,
  repo: MockRepository,
  from: string,
  to: string,
  by: MockAccount,
): Promise<void> {
  await state.runSerialized(repo, async () => {
    const sha = repo.knownRefs.get(`refs/heads/${from}`)
    if (sha === undefined) throw new GitHubApiError(404, 'Branch not found')
    if (repo.knownRefs.has(`refs/heads/${to}`)) throw new GitHubApiError(422, 'Branch name already exists')
    for (const pull of repo.pulls.values()) {
      if (pull.state !== 'open' || pull.baseRef !== from) continue
      pull.baseRef = to
      const changes = { base: { ref: { from }, sha: { from: pull.baseSha } } }
      await emitPullRequestEvent(state, pull, 'edited', by, { changes })
    }
    const protection = repo.protections.get(from)
    if (protection !== undefined) {
      repo.protections.delete(from)
      repo.protections.set(to, protection)
    }
    const wasDefault = repo.defaultBranch === from
    if (wasDefault) repo.defaultBranch = to
    await setRef(repo.path, `refs/heads/${to}`, sha, '')
    await deleteRef(repo.path, `refs/heads/${from}`)
    await processRefChanges(state, repo, by)
    if (wasDefault)
      state.webhooks.emit('repository', 'edited', repo, by, { changes: { default_branch: { from } } })
  })
}
