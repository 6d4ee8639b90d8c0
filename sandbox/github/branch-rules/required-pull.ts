// "Require a pull request": one exists, it has the approvals that the rule requires, and a manual merge of it equals
// GitHub's own merge if approvals could otherwise apply to other content.
import { minimatch } from 'minimatch'
import {
  mergeTrees,
  readCommitParents,
  readCommitTree,
  GitCommandError,
  runGitForText,
} from '../git/git-store.ts'
import {
  canPushToRepository,
  type MergeMethod,
  type MockPull,
  type MockReview,
  findAccountByLogin,
  type MockAccount,
} from '../github-data.ts'
import { findPullMergedByRefUpdate } from './find-merged-pull.ts'
import type { NonDeletingRefUpdate, RuleViolation } from './ref-update.ts'
import type { PullRequestRuleParameters } from './rule-types.ts'
import { readLooseCommitObject } from '../git/loose-history.ts'
import { readLooseObjectsOrRunGit, readLooseObject } from '../git/loose-objects.ts'
import { findLooseTreeObjectEntry } from '../git/loose-trees.ts'

const codeownersPaths = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']

interface CodeownersLine {
  readonly pattern: string
  readonly owners: readonly string[]
}

const mergeMethodLabels: Readonly<Record<MergeMethod, string>> = {
  merge: 'Merge commits',
  squash: 'Squash merges',
  rebase: 'Rebase merges',
}

/** GitHub's message about a disabled merge method. */
export const formatDisabledMergeMethodMessage = (method: MergeMethod): string =>
  `${mergeMethodLabels[method]} are not allowed on this repository.`

const formatApprovalsNeededMessage = (count: number): string =>
  count === 1
    ? 'At least 1 approving review is required by reviewers with write access.'
    : `At least ${count} approving reviews are required by reviewers with write access.`

/** The last review of each user with write access. Comments do not replace a review. */
function findLatestReviewPerUser(pull: MockPull): MockReview[] {
  const last = new Map<number, MockReview>()
  for (const review of pull.reviews)
    if (
      review.state !== 'COMMENTED' &&
      review.state !== 'PENDING' &&
      canPushToRepository(pull.repo, review.author)
    )
      last.set(review.author.id, review)
  return [...last.values()]
}

export async function checkPullRequestRule(
  move: NonDeletingRefUpdate,
  parameters: PullRequestRuleParameters,
): Promise<RuleViolation[]> {
  const pull = await findPullMergedByRefUpdate(move)
  if (pull === undefined) return [{ message: 'Changes must be made through a pull request.' }]
  return [
    ...(await checkRequiredReviews(move, pull, parameters)),
    ...(parameters.required_review_thread_resolution ? findOpenConversationViolations(pull) : []),
    ...(await checkMergeMethod(move, parameters)),
  ]
}

async function checkRequiredReviews(
  move: NonDeletingRefUpdate,
  pull: MockPull,
  parameters: PullRequestRuleParameters,
): Promise<RuleViolation[]> {
  const count = parameters.required_approving_review_count
  const stale = parameters.dismiss_stale_reviews_on_push
  const last = parameters.require_last_push_approval
  const latestReviews = findLatestReviewPerUser(pull)
  const approvals = latestReviews.filter((it) => it.state === 'APPROVED')
  const violations: RuleViolation[] = []
  const owners = parameters.require_code_owner_review
    ? await findRequiredCodeOwners(pull, move.old ?? pull.baseSha)
    : []
  const waiting = owners.filter((group) => !approvals.some(({ author }) => isCodeOwner(author, group)))
  if (waiting.length > 0)
    violations.push({
      message: `Waiting on code owner review from ${waiting
        .flat()
        .map((it) => it.replace(/^@/, ''))
        .join(' and/or ')}.`,
    })
  // It blocks regardless of other approvals, and so does the same commit's review in another pull request:
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-pull-request-reviews-before-merging
  if (latestReviews.some((it) => it.state === 'CHANGES_REQUESTED') || isBlockedByPullWithSameHead(pull))
    violations.push({ message: 'Changes have been requested.' })
  violations.push(...(await checkRequiredReviewers(move, pull, approvals, parameters)))
  const isAltered = (stale || last) && (await hasDifferentTreeThanGitHubMerge(move, pull))
  if (approvals.length < count || (stale && isAltered))
    violations.push({ message: formatApprovalsNeededMessage(Math.max(1, count)) })
  const isFresh = approvals.some(({ author, sha }) => author !== pull.lastPusher && sha === pull.headSha)
  if (last && (!isFresh || isAltered))
    violations.push({ message: 'New changes require approval from someone other than the last pusher.' })
  return violations
}

/**
 * Whether another open pull request has the same head commit, and a review that rejects it or is not submitted yet.
 */
function isBlockedByPullWithSameHead(pull: MockPull): boolean {
  const twins = [...pull.repo.pulls.values()].filter(
    (it) => it !== pull && it.state === 'open' && it.headSha === pull.headSha,
  )
  return twins.some(
    (it) =>
      it.reviews.some(({ state, author }) => state === 'PENDING' && canPushToRepository(it.repo, author)) ||
      findLatestReviewPerUser(it).some(({ state }) => state === 'CHANGES_REQUESTED'),
  )
}

/**
 * Teams that must approve what changes certain files. The words are not documented.
 * https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#required-reviewers
 */
async function checkRequiredReviewers(
  { repo, old }: NonDeletingRefUpdate,
  pull: MockPull,
  approvals: readonly MockReview[],
  { required_reviewers = [] }: PullRequestRuleParameters,
): Promise<RuleViolation[]> {
  if (required_reviewers.length === 0) return []
  const files = await listChangedFiles(pull, old ?? pull.baseSha)
  return required_reviewers.flatMap(({ minimum_approvals, file_patterns, reviewer }) => {
    const team = repo.github.teams.find(({ id }) => id === reviewer.id)
    const isTouched = files.some((file) => {
      const last = file_patterns.findLast((it) => matchesCodeownersPattern(it.replace(/^!/, ''), file))
      return last !== undefined && !last.startsWith('!')
    })
    // Team members' approvals count when the team may write.
    const role = team === undefined ? undefined : pull.repo.teamRoles.get(team.id)
    const counts = role === 'write' || role === 'maintain' || role === 'admin'
    const given = approvals.filter((it) => counts && team?.members.get(it.author.id)?.state === 'active')
    return !isTouched || given.length >= minimum_approvals
      ? []
      : [{ message: `Required reviewer ${team?.organization.login ?? ''}/${team?.slug ?? ''} must approve.` }]
  })
}

/** Whether a pushed merge has different contents from GitHub's own merge of the same commits. */
async function hasDifferentTreeThanGitHubMerge(
  { path, old, now, merge }: NonDeletingRefUpdate,
  pull: MockPull,
): Promise<boolean> {
  if (merge !== undefined || now === pull.headSha || old === undefined) return false
  const tree = await readCommitTree(path, now)
  return tree !== (await mergeTrees(path, old, pull.headSha))
}

function findOpenConversationViolations(pull: MockPull): RuleViolation[] {
  return pull.openConversations === 0
    ? []
    : [{ message: 'A conversation must be resolved before this pull request can be merged.' }]
}

/** Classic protection can require resolved conversations without requiring a pull request. */
export async function checkConversationResolution(move: NonDeletingRefUpdate): Promise<RuleViolation[]> {
  const pull = await findPullMergedByRefUpdate(move)
  return pull === undefined ? [] : findOpenConversationViolations(pull)
}

/** A pushed merge commit counts as the method "merge". A fast-forward does not count as a method. */
async function checkMergeMethod(
  { path, now, merge }: NonDeletingRefUpdate,
  parameters: PullRequestRuleParameters,
): Promise<RuleViolation[]> {
  const allowed = parameters.allowed_merge_methods
  const method = merge?.method ?? ((await readCommitParents(path, now)).length > 1 ? 'merge' : undefined)
  if (allowed === undefined || method === undefined || allowed.includes(method)) return []
  return [{ message: formatDisabledMergeMethodMessage(method) }]
}

async function readCodeownersLines(path: string, commit: string): Promise<CodeownersLine[]> {
  for (const codeownersPath of codeownersPaths)
    try {
      const text = await readLooseObjectsOrRunGit(
        () => readFileAtCommit(path, commit, codeownersPath),
        () => runGitForText(path, 'show', `${commit}:${codeownersPath}`),
      )
      if (text === undefined) continue
      return text
        .split('\n')
        .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
        .filter(Boolean)
        .map((line) => {
          const [pattern = '', ...owners] = line.split(/\s+/)
          return { pattern, owners }
        })
    } catch (error) {
      if (!(error instanceof GitCommandError)) throw error
    }
  return []
}

function readFileAtCommit(path: string, commit: string, filePath: string): string | undefined {
  const entry = findLooseTreeObjectEntry(path, readLooseCommitObject(path, commit).tree, filePath)
  return entry === undefined ? undefined : readLooseObject(path, entry.id).bytes.toString()
}

/**
 * Patterns like in gitignore: a slash inside anchors the pattern to the root, and a folder matches everything below
 * it.
 */
function matchesCodeownersPattern(pattern: string, file: string): boolean {
  const rooted = pattern.replace(/\/$/, '').includes('/')
  const glob = rooted ? pattern.replace(/^\//, '') : `**/${pattern}`
  const folder = glob.replace(/\/$/, '')
  const options = { dot: true, nonegate: true, nocomment: true }
  // `docs/*` does not match files in subfolders of docs, according to GitHub's documentation.
  const below = folder.endsWith('/*') ? false : minimatch(file, `${folder}/**`, options)
  return below || (!glob.endsWith('/') && minimatch(file, glob, options))
}

/** The files that a pull request changes. */
async function listChangedFiles({ repo, headSha }: MockPull, base: string): Promise<string[]> {
  const range = `${base}...${headSha}`
  const names = await runGitForText(repo.path, 'diff', '--name-only', '-z', '--no-renames', range, '--')
  return names.split('\0').filter(Boolean)
}

/** The groups of owners for the files that a pull request changes. One owner from each group must approve. */
async function findRequiredCodeOwners(pull: MockPull, base: string): Promise<(readonly string[])[]> {
  const lines = await readCodeownersLines(pull.repo.path, base)
  if (lines.length === 0) return []
  const groups = new Map<string, readonly string[]>()
  for (const file of await listChangedFiles(pull, base)) {
    const owners = lines.findLast(({ pattern }) => matchesCodeownersPattern(pattern, file))?.owners ?? []
    if (owners.length > 0) groups.set(owners.join(' '), owners)
  }
  return [...groups.values()]
}

/** Whether a user is one of these owners, by login or as a member of a team. */
function isCodeOwner(account: MockAccount, owners: readonly string[]): boolean {
  const { github } = account
  return owners.some((owner) => {
    const [name = '', team] = owner.replace(/^@/, '').split('/')
    if (team === undefined) return findAccountByLogin(github, name) === account
    return github.teams.some(
      ({ organization, slug, members }) =>
        organization.login.toLowerCase() === name.toLowerCase() &&
        slug === team &&
        members.get(account.id)?.state === 'active',
    )
  })
}
