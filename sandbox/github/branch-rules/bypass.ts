// The users and apps that are exempt from a rule. A ruleset lists bypass actors. Classic protection exempts
// administrators by default, and has separate lists.
import type { ApiCaller } from '../http/caller.ts'
import { findCollaboratorRole } from '../github-data.ts'
import type { MockRepository, CollaboratorRole } from '../github-data.ts'
import type { BranchProtectionActorNames } from './rule-types.ts'
import type { BypassActor } from './rule-types.ts'
import type { RefUpdate } from './ref-update.ts'

// GitHub's IDs of its built-in roles.
const rolesByBypassActorId: Readonly<Record<number, readonly CollaboratorRole[]>> = {
  5: ['admin'],
  4: ['write', 'maintain', 'admin'],
  2: ['maintain', 'admin'],
}

export type BypassMode = 'always' | 'pull_request' | 'exempt' | 'never'

function matchesBypassActor(repo: MockRepository, by: ApiCaller, actor: BypassActor): boolean {
  const { github } = repo
  const { actor_type, actor_id } = actor
  if (by.kind === 'installation') return actor_type === 'Integration' && actor_id === by.installation.app.id
  if (by.kind !== 'user') return false
  const { account } = by
  switch (actor_type) {
    case 'User':
      return actor_id === account.id
    case 'OrganizationAdmin':
      return github.organizationOwners.get(repo.owner.id)?.has(account.id) === true
    case 'RepositoryRole': {
      const role = findCollaboratorRole(repo, account)
      return role !== undefined && rolesByBypassActorId[actor_id ?? 0]?.includes(role) === true
    }
    case 'Team':
      return github.teams.some(
        ({ id, members }) => id === actor_id && members.get(account.id)?.state === 'active',
      )
    case 'Integration':
    case 'DeployKey':
      return false
  }
}

/** The caller's bypass mode in a list. The strongest of several entries counts. */
export function computeBypassMode(
  repo: MockRepository,
  by: ApiCaller,
  actors: readonly BypassActor[],
): BypassMode {
  const modes = actors
    .filter((it) => matchesBypassActor(repo, by, it))
    .map(({ bypass_mode }) => bypass_mode ?? 'always')
  return (['exempt', 'always', 'pull_request'] as const).find((it) => modes.includes(it)) ?? 'never'
}

/** The effect of a mode on an update. "Pull request only" does not apply to a push. */
export function computeBypassEffect(update: RefUpdate, mode: BypassMode): 'no' | 'yes' | 'exempt' {
  if (mode === 'exempt') return 'exempt'
  return mode === 'always' || (mode === 'pull_request' && update.merge !== undefined) ? 'yes' : 'no'
}

/** Whether a caller is in one of classic protection's lists. */
export function isCallerInBranchProtectionList(
  repo: MockRepository,
  by: ApiCaller,
  named: BranchProtectionActorNames | null | undefined,
): boolean {
  const { users = [], teams = [], apps = [] } = named ?? {}
  if (by.kind === 'installation') return apps.includes(by.installation.app.slug)
  if (by.kind !== 'user') return false
  const { account } = by
  const team = repo.github.teams.some(
    ({ organization, slug, members }) =>
      organization === repo.owner && teams.includes(slug) && members.get(account.id)?.state === 'active',
  )
  return team || users.some((it) => it.toLowerCase() === account.login.toLowerCase())
}

/** Whether classic protection treats a caller as an administrator. Apps are never administrators. */
export function isRepositoryAdmin(repo: MockRepository, by: ApiCaller): boolean {
  return by.kind === 'user' && findCollaboratorRole(repo, by.account) === 'admin'
}
