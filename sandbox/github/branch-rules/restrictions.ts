// Rules about who may perform an action on a ref, regardless of the commits.
import { isAncestor } from '../git/git-store.ts'
import type { ProtectionActorNames } from './rule-types.ts'
import { isInProtectionAllowList } from './bypass.ts'
import type { RefUpdate, RuleViolation } from './ref-update.ts'

const createSingleRuleViolation = (message: string): RuleViolation[] => [{ message }]
const getRefKind = ({ ref }: RefUpdate): string => (ref.startsWith('refs/tags/') ? 'tag' : 'branch')

/** Creating a ref that matches a ruleset's patterns. */
export const checkRefCreation = (update: RefUpdate): RuleViolation[] =>
  update.old === undefined
    ? createSingleRuleViolation('Cannot create ref due to creations being restricted.')
    : []

/** Moving it, by any user and in any way: a merge button is a push, too. */
export const checkRefUpdate = ({ old, now }: RefUpdate): RuleViolation[] =>
  old !== undefined && now !== undefined ? createSingleRuleViolation('Cannot update this protected ref.') : []

export const checkRefDeletion = (update: RefUpdate): RuleViolation[] =>
  update.now === undefined ? createSingleRuleViolation(`Cannot delete this ${getRefKind(update)}`) : []

/** A force push: the new commit does not contain the old one. */
export async function checkNonFastForward(update: RefUpdate): Promise<RuleViolation[]> {
  const { path, old, now } = update
  if (old === undefined || now === undefined || (await isAncestor(path, old, now))) return []
  return createSingleRuleViolation(`Cannot force-push to this ${getRefKind(update)}`)
}

/** Classic protection's list of who may push: necessary, but not sufficient. */
export function checkRestrictedPushers(update: RefUpdate, named: ProtectionActorNames): RuleViolation[] {
  const { world, repo, by } = update
  if (isInProtectionAllowList(world, repo, by, named)) return []
  return createSingleRuleViolation(
    "You're not authorized to push to this branch. Visit https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches for more information.",
  )
}

export const checkLockedBranch = (): RuleViolation[] =>
  createSingleRuleViolation('Cannot change this locked branch')
