// Who an owner file names: a person by login, a person pinned to an account id, a team, or an e-mail address
// that no account can be derived from. One parser and one comparison for all sources (T26): logins are compared
// whole and without regard to case, never as part of another text. Never decides what anybody may do.
import type { Person } from '../../change/snapshot.ts'
import { userId } from '../../change/ids.ts'
import type { UserId } from '../../change/ids.ts'

export type Principal =
  /** `login` in lower case, with `[bot]` for the account of an App. `id`: the account it was pinned to. */
  | { readonly kind: 'user'; readonly login: string; readonly id?: UserId }
  /** Both in lower case. */
  | { readonly kind: 'team'; readonly organization: string; readonly team: string }
  /** Known to CODEOWNERS only. Nobody here can prove to own an address, so it gives no authority. */
  | { readonly kind: 'email'; readonly address: string }

// Current logins are alphanumerics and single hyphens, at most 39; older ones end in a hyphen, managed ones hold
// an underscore. ASCII only: look-alikes of other scripts are no logins.
const login = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?$/
const slug = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
const pinned = /^(?<login>[^:]+):(?<id>[1-9][0-9]{0,15})$/

/** A login, exactly; undefined for anything else, white space around it included. */
export function parseLogin(text: string): Principal | undefined {
  return login.test(text) ? { kind: 'user', login: text.toLowerCase() } : undefined
}

/** `organization/team`, exactly. */
export function parseTeam(text: string): Principal | undefined {
  const [organization = '', team = '', ...rest] = text.split('/')
  if (rest.length > 0 || !login.test(organization) || !slug.test(team)) return undefined
  return { kind: 'team', organization: organization.toLowerCase(), team: team.toLowerCase() }
}

/** What the configuration may name: `login`, `login:id` or `organization/team`. */
export function parsePrincipal(text: string): Principal | undefined {
  const pin = pinned.exec(text)?.groups
  if (pin?.login !== undefined && pin.id !== undefined) {
    const user = parseLogin(pin.login)
    const id = Number(pin.id)
    return user?.kind === 'user' && Number.isSafeInteger(id) ? { ...user, id: userId(id) } : undefined
  }
  return text.includes('/') ? parseTeam(text) : parseLogin(text)
}

/**
 * A person's login as owner files write it. REST says `name[bot]` for an App's account and GraphQL `name`;
 * a human who registers `name` must not be taken for the App (T26).
 */
export function loginOf(person: Person): string {
  const lower = person.login.toLowerCase()
  return person.kind === 'bot' && !lower.endsWith('[bot]') ? `${lower}[bot]` : lower
}

/** A principal for people to read, and for sets to tell apart. */
export function principalName(principal: Principal): string {
  switch (principal.kind) {
    case 'user':
      return principal.login
    case 'team':
      return `${principal.organization}/${principal.team}`
    case 'email':
      return principal.address
  }
}

/** A key that is equal exactly for principals that name the same account, team or address in the same way. */
export function principalKey(principal: Principal): string {
  return principal.kind === 'user'
    ? `user ${principal.login} ${principal.id ?? ''}`
    : `${principal.kind} ${principalName(principal)}`
}

/** Each principal once, in the order of first appearance. */
export function distinct(principals: readonly Principal[]): readonly Principal[] {
  return [...new Map(principals.map((principal) => [principalKey(principal), principal])).values()]
}
