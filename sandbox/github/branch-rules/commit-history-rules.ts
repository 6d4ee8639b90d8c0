// Rules about the commits that an update brings: no merges among them, all of them signed.
import { listCommitsBeyond, readCommitParents } from '../git/git-store.ts'
import { getActingAccount } from '../github-state.ts'
import type { NonDeletingRefUpdate, RuleViolation } from './ref-update.ts'

/** The commits that an update adds: for a new ref, those that no branch has. */
export async function listAddedCommits({
  repo,
  path,
  old,
  now,
}: NonDeletingRefUpdate): Promise<readonly string[]> {
  return await listCommitsBeyond(path, old === undefined ? [...repo.knownRefs.values()] : [old], now)
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
  // The words of that refusal are not documented; the rule has no others.
  const isOthers = merge?.method === 'squash' && getActingAccount(by) !== merge.pull.author
  return commits.length === 0 && !isOthers
    ? []
    : [{ message: 'Commits must have verified signatures.', commits: isOthers ? [] : commits }]
}
