// "Update branch": the base is merged into the head, by anyone who may push to the head.
// https://docs.github.com/rest/pulls/pulls#update-a-pull-request-branch
import { commitTree, isAncestor, mergedTree, setRef } from '../git/git-store.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { followRefs } from '../git/pushes.ts'
import { mayWrite } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { Refusal } from '../http/route.ts'
import { authorOf, signCommit, webFlow } from '../signing.ts'
import type { Pull } from '../world.ts'

/** Moves the head, or throws GitHub's 422. */
export async function updateBranch(
  state: GitHubState,
  pull: Pull,
  by: Caller,
  expected: string | undefined,
): Promise<void> {
  const { world } = state
  const { repo, headRepo } = pull
  const refuse = (words: string): Refusal => new Refusal(422, words)
  if (expected !== undefined && expected !== pull.headSha)
    throw refuse('expected head sha didn’t match current head ref.')
  // https://github.com/GiteaBot/gitea-backporter/pull/101
  const mayModify =
    headRepo !== null &&
    (mayWrite(world, by, headRepo) || (pull.maintainerCanModify && mayWrite(world, by, repo)))
  if (headRepo === null || !mayModify) throw refuse("user doesn't have permission to update head repository")
  await state.inLine(repo, async () => {
    const base = repo.known.get(`refs/heads/${pull.baseRef}`) ?? pull.baseSha
    if (await isAncestor(repo.path, base, pull.headSha))
      throw refuse('There are no new commits on the base branch.')
    const tree = await mergedTree(repo.path, pull.headSha, base)
    if (tree === undefined) throw refuse('merge conflict between base and head')
    const message = `Merge branch '${pull.baseRef}' into ${pull.headRef}`
    const author = authorOf(world, actorOf(by))
    const made = await commitTree(repo.path, tree, [pull.headSha, base], message, author, webFlow(world))
    const sha = await signCommit(world, repo.path, made)
    await setRef(headRepo.path, `refs/heads/${pull.headRef}`, sha, pull.headSha)
    await followRefs(state, headRepo, actorOf(by))
  })
}
