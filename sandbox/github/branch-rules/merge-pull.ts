// GitHub's own merge of a pull request: `PUT /pulls/{number}/merge` and the mutation of the same name. `sha` pins the
// head, but nothing pins the base: GitHub merges into the current base.
import type { ApiCaller } from '../http/caller.ts'
import { setRef } from '../git/git-store.ts'
import { updatePullMergeability, processRefChanges, markPullMerged } from '../git/ref-changes.ts'
import { GitHubApiError, getActingAccount } from '../http/route.ts'
import type { MergeMethod, MockPull } from '../github-data.ts'
import { evaluateRefUpdate } from './evaluate-ref-update.ts'
import { createMergeCommit } from './merge-commits.ts'
import type { MergeFailure } from './merge-commits.ts'
import { formatDisabledMergeMethodMessage } from './required-pull.ts'
import { throwIfRefUpdateRejected } from './verdict-messages.ts'
import { findWorkflowFileRejection } from './workflow-files.ts'

export interface MergePullOptions {
  readonly sha?: string
  readonly commit_title?: string
  readonly commit_message?: string
  readonly merge_method?: MergeMethod
}

const mergeFailureMessages: Readonly<Record<MergeFailure, string>> = {
  conflict: 'Pull Request has merge conflicts',
  'not rebaseable': "This branch can't be rebased",
}

/** Pull requests that are being merged right now. */
const pullsBeingMerged = new WeakSet<MockPull>()

/** Merges, and returns the merged commit. Throws GitHub's 405 or 409. */
export async function mergePull(pull: MockPull, by: ApiCaller, request: MergePullOptions): Promise<string> {
  const { repo } = pull
  const { github } = pull.repo
  const { sha: expected, commit_title: title, commit_message: body, merge_method: method = 'merge' } = request
  const ref = `refs/heads/${pull.baseRef}`
  const knownTip = repo.knownRefs.get(ref)
  // https://github.com/stategraph/stategraph/pull/86
  if (pullsBeingMerged.has(pull)) throw new GitHubApiError(405, 'Merge already in progress')
  pullsBeingMerged.add(pull)
  const work = github.runSerialized(repo, async () => {
    if (expected !== undefined && expected !== pull.headSha)
      throw new GitHubApiError(409, 'Head branch was modified. Review and try the merge again.')
    if (pull.state !== 'open') throw new GitHubApiError(405, 'Pull Request is not mergeable')
    if (pull.draft) throw new GitHubApiError(405, 'Pull Request is still a draft')
    if (pull.mergeable === undefined) {
      // During that time, the merge box shows "Checking for the ability to merge automatically":
      // https://docs.github.com/rest/pulls/pulls#get-a-pull-request (mergeable is null)
      github.runInBackground(updatePullMergeability(pull))
      if (github.testMergeDelay > 0) throw new GitHubApiError(405, 'Pull Request is not mergeable')
    }
    if (!repo.mergeMethods[method]) throw new GitHubApiError(405, formatDisabledMergeMethodMessage(method))
    const base = repo.knownRefs.get(ref)
    // Another merge was in progress when this one was requested: a race on GitHub's side.
    if (base === undefined || base !== knownTip)
      throw new GitHubApiError(405, 'Base branch was modified. Review and try the merge again.')
    const made = await createMergeCommit(getActingAccount(by), pull, base, method, { title, body })
    if (typeof made === 'string') throw new GitHubApiError(405, mergeFailureMessages[made])
    const { sha } = made
    const rejection = await findWorkflowFileRejection(repo, repo.path, base, sha, by)
    if (rejection !== undefined) throw new GitHubApiError(403, rejection)
    const update = { repo, path: repo.path, ref, old: base, now: sha, by, merge: { pull, method } }
    throwIfRefUpdateRejected(await evaluateRefUpdate(update), 405)
    await setRef(repo.path, ref, sha, base)
    await processRefChanges(repo, getActingAccount(by))
    // Squashed and rebased commits cannot be found by following the refs.
    if (pull.merged === null) await markPullMerged(pull, sha, getActingAccount(by))
    return sha
  })
  return await work.finally(() => pullsBeingMerged.delete(pull))
}
