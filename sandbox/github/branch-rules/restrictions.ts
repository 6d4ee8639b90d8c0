// Rules about who may do what with a ref at all, whatever the commits are.
import { isAncestor } from '../git/git-store.ts'
import type { Named } from './rule-shapes.ts'
import { isNamed } from './bypass.ts'
import type { RefUpdate, Violation } from './ref-update.ts'

const one = (says: string): Violation[] => [{ says }]
const kindOf = ({ ref }: RefUpdate): string => (ref.startsWith('refs/tags/') ? 'tag' : 'branch')

/** Making a ref that a ruleset's patterns cover. */
export const creation = (update: RefUpdate): Violation[] =>
  update.old === undefined ? one('Cannot create ref due to creations being restricted.') : []

/** Moving it, whoever moves it and however: a merge button is a push, too. */
export const update = ({ old, now }: RefUpdate): Violation[] =>
  old !== undefined && now !== undefined ? one('Cannot update this protected ref.') : []

export const deletion = (update: RefUpdate): Violation[] =>
  update.now === undefined ? one(`Cannot delete this ${kindOf(update)}`) : []

/** A force push: what was there is not in what comes. */
export async function nonFastForward(update: RefUpdate): Promise<Violation[]> {
  const { path, old, now } = update
  if (old === undefined || now === undefined || (await isAncestor(path, old, now))) return []
  return one(`Cannot force-push to this ${kindOf(update)}`)
}

/** Classic protection's list of who may push: necessary, never sufficient. */
export function restrictedPushers(update: RefUpdate, named: Named): Violation[] {
  const { world, repo, by } = update
  if (isNamed(world, repo, by, named)) return []
  return one(
    "You're not authorized to push to this branch. Visit https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches for more information.",
  )
}

export const locked = (): Violation[] => one('Cannot change this locked branch')
