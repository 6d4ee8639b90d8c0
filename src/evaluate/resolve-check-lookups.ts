// The fourth stage: requests the reviews, commands, and other facts that the checks need.
import { createHash } from 'node:crypto'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import {
  createApprovalsFromReviews,
  computeFileApprovalCoverage,
  doApprovalsCoverSameFiles,
  type ApprovalCoverage,
} from '../checks/ownership/approvals.ts'
import { getApprovalCoverageOfChange } from '../checks/ownership/ownership-context.ts'
import type { Check, CheckInput, CheckOutcome } from '../checks/check.ts'
import { isRegistryLookup, toLookupKey, type LookupRequest } from '../checks/lookups.ts'
import type { UserId, CommitSha } from '../pull-request/ids.ts'
import {
  collectCommandLookups,
  decideCommands,
  type CommandDecision,
  type ReportedPullHead,
} from '../policy/commands.ts'
import { findApprovalsFromCommands, type CommandRecord } from '../policy/command-records.ts'
import type { PullChangeFingerprint, PullHistoryStore } from '../ports/pull-history.ts'
import {
  gatherLookupResults,
  memoizeLookups,
  type LookupResolver,
} from '../catalogs/gather-lookup-results.ts'
import {
  createChangeTooLargeError,
  defaultEvaluationLimits,
  type EvaluationLimits,
} from '../catalogs/reader-pool.ts'
import { imagesCheck } from '../checks/images/images.ts'
import type { TreeComparison } from './compare-trees.ts'
import type { BaseBranchState, EvaluatePullOptions } from './load-base-branch.ts'
import type { PullReview, PullSnapshot } from '../pull-request/snapshot.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import type { GitRepository } from '../ports/repository.ts'

interface ApprovalCoverageOptions {
  readonly snapshot: PullSnapshot
  readonly epoch: number
  /** The epoch in which each review was first seen. */
  readonly seen: ReadonlyMap<number, number>
  readonly now: PullChangeFingerprint
  readonly shown: readonly ReportedPullHead[]
  readonly memory: PullHistoryStore
  readonly repository: Pick<GitRepository, 'mergeBases' | 'wasTip' | 'treeOf' | 'diff'>
}

export interface ResolvedCheckLookups {
  readonly input: CheckInput
  readonly answers: Awaited<ReturnType<typeof gatherLookupResults>>
  readonly decisions: readonly CommandDecision[]
  readonly open: CheckOutcome['unanswered']
  readonly records: readonly CommandRecord[]
  readonly described: PullChangeFingerprint
}

/**
 * Asks about images now, so that registries answer while the rest of the checks' input is read. Returns what asks each
 * question of the evaluation once.
 */
export function startImageLookups(
  { config }: BaseBranchState,
  { change, published }: TreeComparison,
  { ask: answerQuestion, budget = defaultEvaluationLimits }: EvaluatePullOptions,
) {
  const ask = memoizeLookups(answerQuestion)
  const allow = createLookupCountLimiter(budget)
  // The checks get the same errors later.
  gatherLookupResults([imagesCheck], { config, change, published }, ask, allow).catch(() => undefined)
  return { ask, allow }
}

/** Rejects with a StoreError, and with ChangeTooLargeError where the questions exceed the budget. */
export async function resolveCheckLookups(
  checks: readonly Check[],
  { snapshot, epoch, recordedCommands }: BaseBranchState,
  unapproved: CheckInput,
  { ask: answerExternal, allow }: ReturnType<typeof startImageLookups>,
  { memory, repository }: EvaluatePullOptions,
): Promise<ResolvedCheckLookups> {
  const { repository: name, pull, author, reviews, comments } = snapshot
  const reviewIds = reviews.map(({ id }) => id)
  // Only reviews and comments by users are compared with these records.
  const hasNoOpinions = reviews.length === 0 && !comments.some(({ author: by }) => by?.kind === 'user')
  const [seen, shown, recent] = hasNoOpinions
    ? [new Map<number, number>(), []]
    : await Promise.all([
        memory.firstSeenReviews(name, pull, epoch, reviewIds),
        memory.shownHeads(name, pull),
        memory.recentCommands?.(name),
      ])
  const seenNow = new Map<string, UserId>()
  const ask: LookupResolver = async (question) => {
    // GitHub's description of the pull request contains the same account, and is newer than a cached answer.
    const isAuthor =
      author !== null &&
      question.kind === 'user' &&
      question.login.toLowerCase() === author.login.toLowerCase()
    const answer = isAuthor ? ({ kind: 'person', person: author } as const) : await answerExternal(question)
    const isNew = question.kind === 'user' && unapproved.accounts?.has(question.login.toLowerCase()) !== true
    if (isNew && answer.kind === 'person') seenNow.set(question.login, answer.person.id)
    return answer
  }
  const described = toPullChangeFingerprint(getApprovalCoverageOfChange(unapproved))
  const commandInput = {
    check: unapproved,
    shown,
    change: described.id,
    records: recordedCommands,
    ...(recent && { recent }),
  }
  const gathered = await gatherLookupResults(
    [{ ask: (_input, answers) => collectCommandLookups(commandInput, answers) }, ...checks],
    unapproved,
    ask,
    allow,
  )
  const { decisions, open, records } = decideCommands(commandInput, gathered)
  const approving = { snapshot, epoch, seen, now: described, shown, memory, repository }
  const agreed = await resolveApprovalCoverageByReview(approving)
  const approvals = [
    ...createApprovalsFromReviews(snapshot, epoch, seen, agreed),
    ...findApprovalsFromCommands(records, snapshot.comments),
  ]
  // Checks cache their judgment by input identity, so an unchanged input stays the same object.
  const input: CheckInput = approvals.length === 0 ? unapproved : { ...unapproved, approvals }
  const answers = approvals.length === 0 ? gathered : await gatherLookupResults(checks, input, ask, allow)
  if (seenNow.size > 0) await memory.firstSeenAccounts(snapshot.repository, seenNow)
  return { input, answers, decisions, open, records, described }
}

/** Counts questions before asking any of them, so exceeding the budget for images or people costs no such request. */
function createLookupCountLimiter(budget: EvaluationLimits): (questions: readonly LookupRequest[]) => void {
  const counted = { people: new Set<string>(), images: new Set<string>() }
  return (questions) => {
    for (const question of questions)
      counted[isRegistryLookup(question) ? 'images' : 'people'].add(toLookupKey(question))
    if (counted.people.size > budget.people)
      throw createChangeTooLargeError(counted.people.size, 'GitHub users to look up', budget.people)
    if (counted.images.size > budget.images)
      throw createChangeTooLargeError(counted.images.size, 'images to look up', budget.images)
  }
}

/** The change that each approving review agreed to. GitHub gives only a review's commit and time, and the same commit can mean another change when the merge base moves, so the first evaluation records it permanently. */
export function toPullChangeFingerprint(covers: ApprovalCoverage): PullChangeFingerprint {
  const id = createHash('sha256')
    .update(JSON.stringify([...covers]))
    .digest('hex')
    .slice(0, 40)
  return { id, covers }
}

/**
 * The change that each approving review of this state approved, by review ID. Rejects with a StoreError or GitError.
 */
async function resolveApprovalCoverageByReview(
  options: ApprovalCoverageOptions,
): Promise<ReadonlyMap<number, ApprovalCoverage>> {
  const { snapshot, epoch, seen, now, memory } = options
  const { repository, pull, head } = snapshot
  const reviews = snapshot.reviews.filter(
    ({ id, state, commit }) => state === 'approved' && commit === head && (seen.get(id) ?? epoch) === epoch,
  )
  if (reviews.length === 0) return new Map()
  if (!memory.firstSeenApprovals || !memory.recordChange || !memory.readChanges)
    return new Map(reviews.map(({ id }) => [id, now.covers]))
  let known = await memory.firstSeenApprovals(repository, pull, new Map())
  const fresh = reviews.filter(({ id }) => !known.has(id))
  if (fresh.length > 0) {
    const bound = new Map<number, string>()
    const page = memoizeOnce(() => resolveApprovalCoverageFromDiff(options))
    for (const review of fresh)
      bound.set(review.id, await resolveChangeIdApprovedByReview(review, page, options))
    known = await memory.firstSeenApprovals(repository, pull, bound)
  }
  const ids = new Map(reviews.flatMap(({ id }) => [[id, known.get(id) ?? ''] as const]))
  const stored = await memory.readChanges(repository, pull, [...new Set(ids.values())])
  return new Map(
    [...ids].flatMap(([review, id]) => {
      const covers = stored.get(id)
      return covers ? [[review, covers] as const] : []
    }),
  )
}

/** Prefers the ID in catalog-bot's own comment to the diff that GitHub showed. */
async function resolveChangeIdApprovedByReview(
  review: PullReview,
  page: () => Promise<ApprovalCoverage | undefined>,
  options: ApprovalCoverageOptions,
): Promise<string> {
  const { snapshot, epoch, now, shown, memory } = options
  const { repository, pull, head } = snapshot
  // GitHub's times have whole seconds, so something shown in the same second may be newer than the review.
  const last = shown
    .filter(({ at }) => at < review.submittedAt)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .at(-1)
  if (last?.change !== undefined && last.head === head && last.epoch === epoch) return last.change
  const files = await page()
  const saw =
    files !== undefined && doApprovalsCoverSameFiles(now.covers, files)
      ? now
      : toPullChangeFingerprint(files ?? new Map())
  await memory.recordChange?.(repository, pull, saw)
  return saw.id
}

/**
 * The files that GitHub's page of a pull request shows; undefined where that is unknown. GitHub compares the head with
 * its merge base at the time of the push
 * (https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/proposing-changes-to-your-work-with-pull-requests/about-comparing-branches-in-pull-requests).
 * Only a single merge base, unchanged since then, proves what every reviewer saw.
 */
async function resolveApprovalCoverageFromDiff({
  snapshot,
  repository,
}: ApprovalCoverageOptions): Promise<ApprovalCoverage | undefined> {
  const { base, head, shownBase } = snapshot
  if (shownBase === undefined) return undefined
  const [mergeBase, ...others] = await repository.mergeBases(base, head)
  if (mergeBase === undefined || others.length > 0 || !(await repository.wasTip(base, mergeBase)))
    return undefined
  const before = await findMergeBasesOrEmpty(repository, shownBase, head)
  if (before.length !== 1 || before[0] !== mergeBase) return undefined
  const [old, now] = await Promise.all([repository.treeOf(mergeBase), repository.treeOf(head)])
  return computeFileApprovalCoverage(await repository.diff(old, now))
}

/** A rewritten base branch may no longer have the commit. */
async function findMergeBasesOrEmpty(
  repository: ApprovalCoverageOptions['repository'],
  shownBase: CommitSha,
  head: CommitSha,
): Promise<readonly CommitSha[]> {
  try {
    return await repository.mergeBases(shownBase, head)
  } catch (error) {
    if (isGitError(error)) return []
    throw error
  }
}
