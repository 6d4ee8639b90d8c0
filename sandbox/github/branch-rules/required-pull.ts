// "Require a pull request": there is one, it is approved as the rule says, and a hand-made merge of it is the merge
// that GitHub would have made where approvals could otherwise be carried over to something else.
import { mergedTree, parentsOf, treeOf } from '../git/git-store.ts'
import { mayPush } from '../world.ts'
import type { MergeMethod, Pull, Review } from '../world.ts'
import { changedFiles, covers, isOwner, ownersOf } from './code-owners.ts'
import { pullOf } from './pushed-pull.ts'
import type { Move, Violation } from './ref-update.ts'
import type { PullRequestParameters } from './rule-shapes.ts'

const methodWords: Readonly<Record<MergeMethod, string>> = {
  merge: 'Merge commits',
  squash: 'Squash merges',
  rebase: 'Rebase merges',
}

/** What GitHub says of a merge method that is switched off. */
export const methodRefused = (method: MergeMethod): string =>
  `${methodWords[method]} are not allowed on this repository.`

const needsApprovals = (count: number): string =>
  count === 1
    ? 'At least 1 approving review is required by reviewers with write access.'
    : `At least ${count} approving reviews are required by reviewers with write access.`

/** The last word of everyone with write access: comments do not take a word back. */
function opinions({ world }: Move, pull: Pull): Review[] {
  const last = new Map<number, Review>()
  for (const review of pull.reviews)
    if (
      review.state !== 'COMMENTED' &&
      review.state !== 'PENDING' &&
      mayPush(world, pull.repo, review.author)
    )
      last.set(review.author.id, review)
  return [...last.values()]
}

export async function requiredPull(move: Move, parameters: PullRequestParameters): Promise<Violation[]> {
  const pull = await pullOf(move)
  if (pull === undefined) return [{ says: 'Changes must be made through a pull request.' }]
  return [
    ...(await reviewed(move, pull, parameters)),
    ...(parameters.required_review_thread_resolution ? conversations(pull) : []),
    ...(await byMethod(move, parameters)),
  ]
}

async function reviewed(move: Move, pull: Pull, parameters: PullRequestParameters): Promise<Violation[]> {
  const count = parameters.required_approving_review_count
  const stale = parameters.dismiss_stale_reviews_on_push
  const last = parameters.require_last_push_approval
  const said = opinions(move, pull)
  const approvals = said.filter((it) => it.state === 'APPROVED')
  const violations: Violation[] = []
  const owners = parameters.require_code_owner_review ? await ownersOf(pull, move.old ?? pull.baseSha) : []
  const waiting = owners.filter(
    (group) => !approvals.some(({ author }) => isOwner(move.world, author, group)),
  )
  if (waiting.length > 0)
    violations.push({
      says: `Waiting on code owner review from ${waiting
        .flat()
        .map((it) => it.replace(/^@/, ''))
        .join(' and/or ')}.`,
    })
  // It blocks regardless of other approvals, and so does the same commit's review in another pull request:
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-pull-request-reviews-before-merging
  if (said.some((it) => it.state === 'CHANGES_REQUESTED') || isHeldByAnother(move, pull))
    violations.push({ says: 'Changes have been requested.' })
  violations.push(...(await requiredReviewers(move, pull, approvals, parameters)))
  const carried = (stale || last) && (await isCarriedOver(move, pull))
  if (approvals.length < count || (stale && carried))
    violations.push({ says: needsApprovals(Math.max(1, count)) })
  const isFresh = approvals.some(({ author, sha }) => author !== pull.lastPusher && sha === pull.headSha)
  if (last && (!isFresh || carried))
    violations.push({ says: 'New changes require approval from someone other than the last pusher.' })
  return violations
}

/** Whether another open pull request has the same head commit, and a review that rejects it or is not submitted yet. */
function isHeldByAnother(move: Move, pull: Pull): boolean {
  const twins = [...pull.repo.pulls.values()].filter(
    (it) => it !== pull && it.state === 'open' && it.headSha === pull.headSha,
  )
  return twins.some(
    (it) =>
      it.reviews.some(({ state, author }) => state === 'PENDING' && mayPush(move.world, it.repo, author)) ||
      opinions(move, it).some(({ state }) => state === 'CHANGES_REQUESTED'),
  )
}

/**
 * Teams that must approve what changes certain files. The words are not documented.
 * https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#required-reviewers
 */
async function requiredReviewers(
  { world, old }: Move,
  pull: Pull,
  approvals: readonly Review[],
  { required_reviewers = [] }: PullRequestParameters,
): Promise<Violation[]> {
  if (required_reviewers.length === 0) return []
  const files = await changedFiles(pull, old ?? pull.baseSha)
  return required_reviewers.flatMap(({ minimum_approvals, file_patterns, reviewer }) => {
    const team = world.teams.find(({ id }) => id === reviewer.id)
    const isTouched = files.some((file) => {
      const last = file_patterns.findLast((it) => covers(it.replace(/^!/, ''), file))
      return last !== undefined && !last.startsWith('!')
    })
    // Team members' approvals count when the team may write.
    const role = team === undefined ? undefined : pull.repo.teamRoles.get(team.id)
    const counts = role === 'write' || role === 'maintain' || role === 'admin'
    const given = approvals.filter((it) => counts && team?.members.get(it.author.id)?.state === 'active')
    return !isTouched || given.length >= minimum_approvals
      ? []
      : [{ says: `Required reviewer ${team?.organization.login ?? ''}/${team?.slug ?? ''} must approve.` }]
  })
}

/** Whether a pushed merge holds something else than GitHub's own merge of the same commits would. */
async function isCarriedOver({ path, old, now, merge }: Move, pull: Pull): Promise<boolean> {
  if (merge !== undefined || now === pull.headSha || old === undefined) return false
  const tree = await treeOf(path, now)
  return tree !== (await mergedTree(path, old, pull.headSha))
}

function conversations(pull: Pull): Violation[] {
  return pull.openConversations === 0
    ? []
    : [{ says: 'A conversation must be resolved before this pull request can be merged.' }]
}

/** Classic protection can ask for resolved conversations without asking for a pull request. */
export async function conversationResolution(move: Move): Promise<Violation[]> {
  const pull = await pullOf(move)
  return pull === undefined ? [] : conversations(pull)
}

/** A pushed merge commit counts as the method "merge"; a fast-forward is no method at all. */
async function byMethod({ path, now, merge }: Move, parameters: PullRequestParameters): Promise<Violation[]> {
  const allowed = parameters.allowed_merge_methods
  const method = merge?.method ?? ((await parentsOf(path, now)).length > 1 ? 'merge' : undefined)
  if (allowed === undefined || method === undefined || allowed.includes(method)) return []
  return [{ says: methodRefused(method) }]
}
