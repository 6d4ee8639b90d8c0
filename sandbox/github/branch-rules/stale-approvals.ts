// Approvals that are dismissed automatically if a rule requires it: when the approved change differs from the change
// that would merge.
import { runGitForText, findMergeBase } from '../git/git-store.ts'
import { toPullSummaryView, toReviewView } from '../views/pull-view.ts'
import type { MockAccount, MockPull } from '../github-data.ts'
import { findRuleParameters } from './rule-layers.ts'

const shouldDismissStaleApprovals = ({ repo, baseRef }: MockPull): boolean =>
  findRuleParameters(repo, baseRef, 'pull_request').some((it) => it.dismiss_stale_reviews_on_push)

/** The change as reviewers see it: from its merge base to its head. */
async function readPullRequestDiff({ repo, baseSha }: MockPull, head: string): Promise<string> {
  const from = (await findMergeBase(repo.path, baseSha, head)) ?? baseSha
  return await runGitForText(repo.path, 'diff', '--no-ext-diff', '--full-index', '--binary', from, head, '--')
}

/**
 * After a push to the head. A push that does not alter the change, such as a merge of the base, dismisses no
 * approval.
 */
export async function dismissApprovalsAfterHeadPush(
  pull: MockPull,
  by: MockAccount,
  before: string,
): Promise<void> {
  if (!hasApprovals(pull) || !shouldDismissStaleApprovals(pull)) return
  if ((await readPullRequestDiff(pull, before)) !== (await readPullRequestDiff(pull, pull.headSha)))
    dismissAllApprovals(pull, by)
}

/** After the base moved. If the merge base moved, too, the change differs from the approved one. */
export async function dismissApprovalsAfterBaseMove(
  pull: MockPull,
  by: MockAccount,
  old: string | undefined,
): Promise<void> {
  if (old === undefined || !hasApprovals(pull) || !shouldDismissStaleApprovals(pull)) return
  const { repo, baseRef, headSha } = pull
  const now = repo.knownRefs.get(`refs/heads/${baseRef}`) ?? old
  const [before, after] = [
    await findMergeBase(repo.path, old, headSha),
    await findMergeBase(repo.path, now, headSha),
  ]
  // The head itself: this push merged the pull request.
  if (before !== after && after !== headSha) dismissAllApprovals(pull, by)
}

const hasApprovals = ({ reviews }: MockPull): boolean => reviews.some(({ state }) => state === 'APPROVED')

function dismissAllApprovals(pull: MockPull, by: MockAccount): void {
  for (const review of pull.reviews.filter(({ state }) => state === 'APPROVED')) {
    review.state = 'DISMISSED'
    pull.repo.github.webhooks.emit('pull_request_review', 'dismissed', pull.repo, by, {
      review: { ...toReviewView(pull, review), state: 'dismissed' },
      pull_request: toPullSummaryView(pull),
    })
  }
}
