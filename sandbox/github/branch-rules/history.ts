// Rules about the commits that an update brings: no merges among them, all of them signed.
import { commitsBeyond, parentsOf } from '../git/git-store.ts'
import { actorOf } from '../github-state.ts'
import type { Move, Violation } from './ref-update.ts'

/** The commits that an update adds: for a new ref, those that no branch has. */
export async function added({ repo, path, old, now }: Move): Promise<readonly string[]> {
  return await commitsBeyond(path, old === undefined ? [...repo.known.values()] : [old], now)
}

export async function linearHistory(move: Move): Promise<Violation[]> {
  const commits: string[] = []
  for (const commit of await added(move))
    if ((await parentsOf(move.path, commit)).length > 1) commits.push(commit)
  return commits.length === 0 ? [] : [{ says: 'This branch must not contain merge commits.', commits }]
}

export async function signatures(move: Move): Promise<Violation[]> {
  const { merge, by, world } = move
  const commits = (await added(move)).filter((it) => !world.signatures.has(it))
  // "You cannot squash and merge a pull request into the branch on GitHub unless you are the author of the pull request":
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-signed-commits
  // The words of that refusal are not documented; the rule has no others.
  const isOthers = merge?.method === 'squash' && actorOf(by) !== merge.pull.author
  return commits.length === 0 && !isOthers
    ? []
    : [{ says: 'Commits must have verified signatures.', commits: isOthers ? [] : commits }]
}
