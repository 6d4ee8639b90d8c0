// Auto-merge: GitHub merges automatically as soon as every requirement is met.
// https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
import { updatePullMergeability, emitPullRequestEvent } from '../git/ref-changes.ts'
import type { MockGitHubState } from '../github-state.ts'
import { GitHubApiError } from '../http/route.ts'
import type { MockAccount, MergeMethod, MockPull, MockRepository } from '../github-data.ts'
import { mergePull } from './merge-pull.ts'
import { computeMergeState } from './merge-state.ts'
import { formatDisabledMergeMethodMessage } from './required-pull.ts'

/** Enables auto-merge. Throws GitHub's error if that is impossible. "Pull request" is GitHub's own prefix. */
export async function enableAutoMerge(
  state: MockGitHubState,
  pull: MockPull,
  by: MockAccount,
  method: MergeMethod,
): Promise<void> {
  const reject = (message: string): GitHubApiError => new GitHubApiError(422, message)
  const { repo } = pull
  if (!repo.allowAutoMerge) throw reject('Pull request Auto merge is not allowed for this repository')
  if (!repo.mergeMethods[method]) throw reject(`Pull request ${formatDisabledMergeMethodMessage(method)}`)
  if (pull.state !== 'open') throw reject('Pull request is not open')
  await updatePullMergeability(state, pull)
  const now = await computeMergeState(state.world, pull)
  // https://github.com/orgs/community/discussions/53088
  if (now === 'clean' || now === 'unstable' || now === 'draft' || now === 'dirty')
    throw reject(`Pull request Pull request is in ${now} status`)
  pull.autoMerge = { by, method }
  await emitPullRequestEvent(state, pull, 'auto_merge_enabled', by)
}

/**
 * Merges pull requests that wait for auto-merge and meet all requirements. After a rejection, a pull request keeps
 * waiting.
 */
export async function mergePullsReadyForAutoMerge(
  state: MockGitHubState,
  repo: MockRepository,
): Promise<void> {
  for (const pull of repo.pulls.values()) {
    const { autoMerge } = pull
    if (autoMerge === null || pull.state !== 'open') continue
    const { by: account, method } = autoMerge
    await mergePull(state, pull, { kind: 'user', account }, { merge_method: method }).catch(
      (error: unknown) => {
        if (!(error instanceof GitHubApiError)) throw error
      },
    )
  }
}
