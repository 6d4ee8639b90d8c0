// GitHub's own merge of a pull request: `PUT /pulls/{number}/merge` and the mutation of the same name. `sha` pins the
// head and nothing pins the base: it is merged into whatever the base is by then.
import type { Caller } from '../http/caller.ts'
import { setRef } from '../git/git-store.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { computeMergeability, followRefs, markMerged } from '../git/pushes.ts'
import { Refusal } from '../http/route.ts'
import type { MergeMethod, Pull } from '../world.ts'
import { judgeUpdate } from './judge-update.ts'
import { mergeCommit } from './merge-commits.ts'
import type { NoMerge } from './merge-commits.ts'
import { methodRefused } from './required-pull.ts'
import { enforce } from './verdict-texts.ts'
import { workflowRefusal } from './workflow-files.ts'

export interface MergeRequest {
  readonly sha?: string
  readonly commit_title?: string
  readonly commit_message?: string
  readonly merge_method?: MergeMethod
}

const cannot: Readonly<Record<NoMerge, string>> = {
  conflict: 'Pull Request has merge conflicts',
  'not rebaseable': "This branch can't be rebased",
}

/** Pull requests that are being merged right now. */
const merging = new WeakSet<Pull>()

/** Merges and returns the commit that landed. Throws GitHub's 405 or 409. */
export async function mergePull(
  state: GitHubState,
  pull: Pull,
  by: Caller,
  request: MergeRequest,
): Promise<string> {
  const { repo } = pull
  const { world } = state
  const { sha: expected, commit_title: title, commit_message: body, merge_method: method = 'merge' } = request
  const ref = `refs/heads/${pull.baseRef}`
  const asked = repo.known.get(ref)
  // https://github.com/stategraph/stategraph/pull/86
  if (merging.has(pull)) throw new Refusal(405, 'Merge already in progress')
  merging.add(pull)
  const work = state.inLine(repo, async () => {
    if (expected !== undefined && expected !== pull.headSha)
      throw new Refusal(409, 'Head branch was modified. Review and try the merge again.')
    if (pull.state !== 'open') throw new Refusal(405, 'Pull Request is not mergeable')
    if (pull.draft) throw new Refusal(405, 'Pull Request is still a draft')
    if (pull.mergeable === undefined) {
      // The merge box says "Checking for the ability to merge automatically" meanwhile:
      // https://docs.github.com/rest/pulls/pulls#get-a-pull-request (mergeable is null)
      state.later(computeMergeability(state, pull))
      if (world.testMergeDelay > 0) throw new Refusal(405, 'Pull Request is not mergeable')
    }
    if (!repo.mergeMethods[method]) throw new Refusal(405, methodRefused(method))
    const base = repo.known.get(ref)
    // Another merge was on its way when this one was asked for: GitHub's own race.
    if (base === undefined || base !== asked)
      throw new Refusal(405, 'Base branch was modified. Review and try the merge again.')
    const made = await mergeCommit({ world, path: repo.path, by: actorOf(by) }, pull, base, method, {
      title,
      body,
    })
    if (typeof made === 'string') throw new Refusal(405, cannot[made])
    const { sha } = made
    const refusal = await workflowRefusal(repo, repo.path, base, sha, by)
    if (refusal !== undefined) throw new Refusal(403, refusal)
    const update = { world, repo, path: repo.path, ref, old: base, now: sha, by, merge: { pull, method } }
    enforce(await judgeUpdate(update), 405)
    await setRef(repo.path, ref, sha, base)
    await followRefs(state, repo, actorOf(by))
    // Squashed and rebased commits are not found by following the refs.
    if (pull.merged === null) await markMerged(state, pull, sha, actorOf(by))
    return sha
  })
  return await work.finally(() => merging.delete(pull))
}
