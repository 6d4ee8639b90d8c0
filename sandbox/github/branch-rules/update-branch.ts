// "Update branch" merges the base into the head. Available to anyone who may push to the head.
// https://docs.github.com/rest/pulls/pulls#update-a-pull-request-branch
import { commitTree, isAncestor, mergeTrees, setRef } from '../git/git-store.ts'
import { getActingAccount } from '../github-state.ts'
import type { MockGitHubState } from '../github-state.ts'
import { processRefChanges } from '../git/ref-changes.ts'
import { canWriteContents } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { GitHubApiError } from '../http/route.ts'
import { toCommitAuthorIdentity, signCommit, createGitHubCommitterIdentity } from '../signing.ts'
import type { MockPull } from '../github-data.ts'

/** Moves the head, or throws GitHub's 422. */
export async function updateBranch(
  state: MockGitHubState,
  pull: MockPull,
  by: ApiCaller,
  expected: string | undefined,
): Promise<void> {
  const { world } = state
  const { repo, headRepo } = pull
  const reject = (text: string): GitHubApiError => new GitHubApiError(422, text)
  if (expected !== undefined && expected !== pull.headSha)
    throw reject('expected head sha didn’t match current head ref.')
  // https://github.com/GiteaBot/gitea-backporter/pull/101
  const mayModify =
    headRepo !== null &&
    (canWriteContents(world, by, headRepo) || (pull.maintainerCanModify && canWriteContents(world, by, repo)))
  if (headRepo === null || !mayModify) throw reject("user doesn't have permission to update head repository")
  await state.runSerialized(repo, async () => {
    const base = repo.knownRefs.get(`refs/heads/${pull.baseRef}`) ?? pull.baseSha
    if (await isAncestor(repo.path, base, pull.headSha))
      throw reject('There are no new commits on the base branch.')
    const tree = await mergeTrees(repo.path, pull.headSha, base)
    if (tree === undefined) throw reject('merge conflict between base and head')
    const message = `Merge branch '${pull.baseRef}' into ${pull.headRef}`
    const author = toCommitAuthorIdentity(world, getActingAccount(by))
    const made = await commitTree(
      repo.path,
      tree,
      [pull.headSha, base],
      message,
      author,
      createGitHubCommitterIdentity(world),
    )
    const sha = await signCommit(world, repo.path, made)
    await setRef(headRepo.path, `refs/heads/${pull.headRef}`, sha, pull.headSha)
    await processRefChanges(state, headRepo, getActingAccount(by))
  })
}
