// Approvals that end by themselves where a rule says so: when what was approved is no longer what would be merged.
import { git, mergeBase } from '../git/git-store.ts'
import type { GitHubState } from '../github-state.ts'
import { pullSummary, reviewView } from '../views/pull-view.ts'
import type { Account, Pull } from '../world.ts'
import { protectionOf, pullDemandsOf } from './branch-protection.ts'
import { rulesetsFor } from './layers.ts'
import type { PullRequestParameters } from './rule-shapes.ts'

function endsStale({ repo, baseRef }: Pull): boolean {
  const protection = protectionOf(repo, baseRef)
  const rules = [
    ...rulesetsFor(repo, `refs/heads/${baseRef}`).flatMap((it) => it.rules),
    ...(protection === undefined ? [] : pullDemandsOf(protection)),
  ]
  return rules.some(
    ({ type, parameters }) =>
      type === 'pull_request' &&
      (parameters as unknown as PullRequestParameters).dismiss_stale_reviews_on_push,
  )
}

/** The change as reviewers see it: from where it left the base to its head. */
async function changeOf({ repo, baseSha }: Pull, head: string): Promise<string> {
  const from = (await mergeBase(repo.path, baseSha, head)) ?? baseSha
  return await git(repo.path, 'diff', '--no-ext-diff', '--full-index', '--binary', from, head, '--')
}

/** After a push to the head: a push that leaves the change as it was (the base merged in) ends no approval. */
export async function dismissStale(
  state: GitHubState,
  pull: Pull,
  by: Account,
  before: string,
): Promise<void> {
  if (!hasApprovals(pull) || !endsStale(pull)) return
  if ((await changeOf(pull, before)) !== (await changeOf(pull, pull.headSha))) dismissAll(state, pull, by)
}

/** After the base moved: a merge base that moved with it shows another change than the one that was approved. */
export async function dismissMoved(
  state: GitHubState,
  pull: Pull,
  by: Account,
  old: string | undefined,
): Promise<void> {
  if (old === undefined || !hasApprovals(pull) || !endsStale(pull)) return
  const { repo, baseRef, headSha } = pull
  const now = repo.known.get(`refs/heads/${baseRef}`) ?? old
  const [before, after] = [await mergeBase(repo.path, old, headSha), await mergeBase(repo.path, now, headSha)]
  // The head itself: the pull request was merged by this very push.
  if (before !== after && after !== headSha) dismissAll(state, pull, by)
}

const hasApprovals = ({ reviews }: Pull): boolean => reviews.some(({ state }) => state === 'APPROVED')

function dismissAll({ world, webhooks }: GitHubState, pull: Pull, by: Account): void {
  for (const review of pull.reviews.filter(({ state }) => state === 'APPROVED')) {
    review.state = 'DISMISSED'
    webhooks.emit('pull_request_review', 'dismissed', pull.repo, by, {
      review: { ...reviewView(world, pull, review), state: 'dismissed' },
      pull_request: pullSummary(world, pull),
    })
  }
}
