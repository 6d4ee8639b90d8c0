// Rules about the commits that an update brings: no merges among them, all of them signed.
import { git } from '../git/git-store.ts'
import type { Move, Violation } from './ref-update.ts'

/** The commits that an update adds: for a new ref, those that no branch has. */
async function added({ repo, path, old, now }: Move, ...more: string[]): Promise<string[]> {
  const known = old === undefined ? [...repo.known.values()] : [old]
  const text = await git(path, 'rev-list', ...more, now, ...known.map((it) => `^${it}`))
  return text.split('\n').filter(Boolean)
}

export async function linearHistory(move: Move): Promise<Violation[]> {
  const commits = await added(move, '--min-parents=2')
  return commits.length === 0 ? [] : [{ says: 'This branch must not contain merge commits.', commits }]
}

export async function signatures(move: Move): Promise<Violation[]> {
  const commits = (await added(move)).filter((it) => !move.world.signatures.has(it))
  return commits.length === 0 ? [] : [{ says: 'Commits must have verified signatures.', commits }]
}
