// What a push includes besides its tree: commits, reachable forever, and pull requests that it closes.
import type { IncomingCommit, PullClosedByPush } from '../../pull-request/snapshot.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { CheckInput } from '../check.ts'
import {
  closesOtherPullRule,
  mergesOtherPullRule,
  oversizedFileInHistoryRule,
  tooManyCommitsRule,
  unreadableCommitRule,
  unsignedCommitRule,
  workflowEditInHistoryRule,
} from './rules.ts'

/** Findings about a pull request's commits. None if `incomingCommits` is absent. */
export function validateIncomingCommits({
  incomingCommits,
  change,
  requiresSignedCommits = false,
}: CheckInput): Finding[] {
  if (incomingCommits === undefined) return []
  const { isWhole, commits, largeFiles, pulls } = incomingCommits
  if (!isWhole) return [createFinding(tooManyCommitsRule, undefined, {})]
  const edits = commits.filter(({ editsWorkflows }) => editsWorkflows)
  // A maintainer reviews workflow edits that the pull request shows. A later edit can hide an earlier one.
  const isVisible =
    edits.length === 1 && change.paths.some(({ path }) => path.startsWith('.github/workflows/'))
  const unreadable = commits.filter(({ closes }) => closes === undefined)
  const unsigned = requiresSignedCommits ? commits.filter(({ isSigned }) => !isSigned) : []
  return [
    ...summarizeCommits(edits).map((data) =>
      createFinding(workflowEditInHistoryRule, undefined, { ...data, isVisible }),
    ),
    ...summarizeCommits(unreadable).map((data) => createFinding(unreadableCommitRule, undefined, data)),
    ...summarizeCommits(unsigned).map((data) => createFinding(unsignedCommitRule, undefined, data)),
    ...largeFiles.map((blob) => createFinding(oversizedFileInHistoryRule, undefined, { blob })),
    ...pulls.map(createClosedPullRequestFinding),
  ]
}

/**
 * A pull request can build on another one if it contains all of it and that one is not on hold. Authors can always
 * combine their own pull requests.
 */
function createClosedPullRequestFinding({ pull, by, isOwn, isKept, heldBack }: PullClosedByPush): Finding {
  if (isOwn || (isKept && heldBack === undefined))
    return createFinding(mergesOtherPullRule, undefined, { pull, isKept, by })
  return createFinding(closesOtherPullRule, undefined, {
    pull,
    by,
    ...(isKept && heldBack !== undefined && { heldBack }),
  })
}

/** The oldest commit, because the author starts there, and how many more there are. Empty without commits. */
function summarizeCommits(commits: readonly IncomingCommit[]) {
  return commits.slice(-1).map(({ id: commit }) => ({ commit, more: commits.length - 1 }))
}
