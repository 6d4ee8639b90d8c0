// Rules about the commits in an update: no merge commits, and signatures on all commits.
import { listCommitsNotReachableFrom, readCommitParents } from '../git/git-store.ts'
import { getActingAccount } from '../github-state.ts'
import type { NonDeletingRefUpdate, RuleViolation } from './ref-update.ts'

/** The commits that an update adds. For a new ref, the commits that are on no branch. */
export async function listAddedCommits({
  repo,
  path,
  old,
  now,
}: NonDeletingRefUpdate): Promise<readonly string[]> {
  return await listCommitsNotReachableFrom(
    path,
    old === undefined ? [...repo.knownRefs.values()] : [old],
    now,
  )
}

export async function checkLinearHistory(move: NonDeletingRefUpdate): Promise<RuleViolation[]> {
  const commits: string[] = []
  for (const commit of await listAddedCommits(move))
    if ((await readCommitParents(move.path, commit)).length > 1) commits.push(commit)
  return commits.length === 0 ? [] : [{ message: 'This branch must not contain merge commits.', commits }]
}

export async function checkCommitSignatures(move: NonDeletingRefUpdate): Promise<RuleViolation[]> {
  const { merge, by, world } = move
  const commits = (await listAddedCommits(move)).filter((it) => !world.signatures.has(it))
  // "You cannot squash and merge a pull request into the branch on GitHub unless you are the author of the pull request":
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-signed-commits
  // The message of that rejection is not documented. The rule has no other message.
  const isOthers = merge?.method === 'squash' && getActingAccount(by) !== merge.pull.author
  return commits.length === 0 && !isOthers
    ? []
    : [{ message: 'Commits must have verified signatures.', commits: isOthers ? [] : commits }]
}
