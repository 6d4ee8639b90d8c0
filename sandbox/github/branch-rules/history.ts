// Rules about the commits that an update brings: no merges among them, all of them signed.
import { commitsBeyond, parentsOf } from '../git/git-store.ts'
import type { Move, Violation } from './ref-update.ts'

/** The commits that an update adds: for a new ref, those that no branch has. */
async function added({ repo, path, old, now }: Move): Promise<readonly string[]> {
  return await commitsBeyond(path, old === undefined ? [...repo.known.values()] : [old], now)
}

export async function linearHistory(move: Move): Promise<Violation[]> {
  const commits: string[] = []
  for (const commit of await added(move))
    if ((await parentsOf(move.path, commit)).length > 1) commits.push(commit)
  return commits.length === 0 ? [] : [{ says: 'This branch must not contain merge commits.', commits }]
}

export async function signatures(move: Move): Promise<Violation[]> {
  const commits = (await added(move)).filter((it) => !move.world.signatures.has(it))
  return commits.length === 0 ? [] : [{ says: 'Commits must have verified signatures.', commits }]
}
