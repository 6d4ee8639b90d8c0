// Parses and compares the names in owner files, in the same way for all sources. Login comparison ignores only case.
import type { GitHubAccount } from '../../pull-request/snapshot.ts'
import { toUserId } from '../../pull-request/ids.ts'
import type { UserId } from '../../pull-request/ids.ts'

export type Principal =
  /** `login` in lowercase, with `[bot]` for an App's account. `id`: the account that it is pinned to. */
  | { readonly kind: 'user'; readonly login: string; readonly id?: UserId }
  | { readonly kind: 'team'; readonly organization: string; readonly team: string }
  /** Only in CODEOWNERS. Does not grant authority, because the owner of an address cannot be verified. */
  | { readonly kind: 'email'; readonly address: string }

// Current logins are alphanumerics and single hyphens, at most 39; older ones may end in a hyphen, managed ones contain
// an underscore. ASCII only, to exclude look-alikes.
const loginPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?$/
const teamSlugPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
const loginWithUserIdPattern = /^(?<login>[^:]+):(?<id>[1-9][0-9]{0,15})$/

/** Undefined for anything but a login, including a login with surrounding whitespace. */
export function parseUserPrincipal(text: string): Principal | undefined {
  return loginPattern.test(text) ? { kind: 'user', login: text.toLowerCase() } : undefined
}

export function parseTeamPrincipal(text: string): Principal | undefined {
  const [organization = '', team = '', ...rest] = text.split('/')
  if (rest.length > 0 || !loginPattern.test(organization) || !teamSlugPattern.test(team)) return undefined
  return { kind: 'team', organization: organization.toLowerCase(), team: team.toLowerCase() }
}

/** Accepts `login`, `login:id` or `organization/team`. */
export function parsePrincipal(text: string): Principal | undefined {
  const pin = loginWithUserIdPattern.exec(text)?.groups
  if (pin?.login !== undefined && pin.id !== undefined) {
    const user = parseUserPrincipal(pin.login)
    const id = Number(pin.id)
    return user?.kind === 'user' && Number.isSafeInteger(id) ? { ...user, id: toUserId(id) } : undefined
  }
  return text.includes('/') ? parseTeamPrincipal(text) : parseUserPrincipal(text)
}

/** REST names an App's account `name[bot]`, GraphQL `name`. A user who registers `name` must not pass as the App. */
export function normalizeLogin(person: GitHubAccount): string {
  const lower = person.login.toLowerCase()
  return person.kind === 'bot' && !lower.endsWith('[bot]') ? `${lower}[bot]` : lower
}

/** A unique, readable name. */
export function formatPrincipal(principal: Principal): string {
  switch (principal.kind) {
    case 'user':
      return principal.login
    case 'team':
      return `${principal.organization}/${principal.team}`
    case 'email':
      return principal.address
  }
}

/** Equal only for principals that name the same account, team or address in the same way. */
export function toPrincipalKey(principal: Principal): string {
  return principal.kind === 'user'
    ? `user ${principal.login} ${principal.id ?? ''}`
    : `${principal.kind} ${formatPrincipal(principal)}`
}

/** In order of first appearance. */
export function removeDuplicatePrincipals(principals: readonly Principal[]): readonly Principal[] {
  return [...new Map(principals.map((principal) => [toPrincipalKey(principal), principal])).values()]
}
