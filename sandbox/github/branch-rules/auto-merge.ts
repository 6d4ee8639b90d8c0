// Auto-merge: GitHub merges automatically as soon as every requirement is met.
// https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
import { computeMergeability, emitPull } from '../git/pushes.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal } from '../http/route.ts'
import type { Account, MergeMethod, Pull, Repo } from '../world.ts'
import { mergePull } from './merge-pull.ts'
import { mergeState } from './merge-state.ts'
import { methodRefused } from './required-pull.ts'

/** Switches it on. Throws what GitHub says where that cannot be; "Pull request" is GitHub's own prefix. */
export async function enableAutoMerge(
  state: GitHubState,
  pull: Pull,
  by: Account,
  method: MergeMethod,
): Promise<void> {
  const refuse = (words: string): Refusal => new Refusal(422, words)
  const { repo } = pull
  if (!repo.allowAutoMerge) throw refuse('Pull request Auto merge is not allowed for this repository')
  if (!repo.mergeMethods[method]) throw refuse(`Pull request ${methodRefused(method)}`)
  if (pull.state !== 'open') throw refuse('Pull request is not open')
  await computeMergeability(state, pull)
  const now = await mergeState(state.world, pull)
  // https://github.com/orgs/community/discussions/53088
  if (now === 'clean' || now === 'unstable' || now === 'draft' || now === 'dirty')
    throw refuse(`Pull request Pull request is in ${now} status`)
  pull.autoMerge = { by, method }
  await emitPull(state, pull, 'auto_merge_enabled', by)
}

/** Merges what waits for it and has everything now. A refusal leaves it waiting. */
export async function advanceAutoMerges(state: GitHubState, repo: Repo): Promise<void> {
  for (const pull of repo.pulls.values()) {
    const { autoMerge } = pull
    if (autoMerge === null || pull.state !== 'open') continue
    const { by: account, method } = autoMerge
    await mergePull(state, pull, { kind: 'user', account }, { merge_method: method }).catch(
      (error: unknown) => {
        if (!(error instanceof Refusal)) throw error
      },
    )
  }
}
