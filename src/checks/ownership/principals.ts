// Determines whether an owner file lists an account: yes, no, or unknown. Unknown never counts as yes. Permissions
// belong to account IDs, so a login counts only if GitHub resolves it to this account now, and did so when catalog-bot
// first saw the login.
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import { type UserId, toUserId } from '../../pull-request/ids.ts'
import type { Config } from '../../config/config.ts'
import type { LookupResults, InconclusiveLookupResult } from '../lookups.ts'
import type { GitHubAccount } from '../../pull-request/snapshot.ts'
import type { PendingLookup } from '../check.ts'
import { toPendingLookup } from '../lookups.ts'

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

/** An account, and its current login as normalizeLogin() returns it. */
export interface AccountIdAndLogin {
  readonly id: UserId
  readonly login: string
}

export type PermissionCheckResult =
  | { readonly kind: 'yes' }
  /** `reused`: the listed login now belongs to another account. */
  | { readonly kind: 'no'; readonly reused?: { readonly login: string; readonly was: number } }
  | { readonly kind: 'unknown'; readonly open: readonly PendingLookup[] }

const permissionGrantedResult: PermissionCheckResult = { kind: 'yes' }
const permissionDeniedResult: PermissionCheckResult = { kind: 'no' }

export const isBotAccount = (account: AccountIdAndLogin): boolean => account.login.endsWith('[bot]')

export class PrincipalMatcher {
  readonly #answers: LookupResults
  readonly #accounts: ReadonlyMap<string, UserId>
  readonly #maintainers: readonly Principal[]
  readonly #config: Config
  /** Cached, because the same owners own most of the paths that a change touches. */
  readonly #known = new Map<string, (principals: readonly Principal[]) => PermissionCheckResult>()

  /** `accounts`: see CheckInput.accounts. */
  constructor(
    answers: LookupResults,
    accounts: ReadonlyMap<string, UserId>,
    maintainers: readonly Principal[],
    config: Config,
  ) {
    this.#answers = answers
    this.#accounts = accounts
    this.#maintainers = maintainers
    this.#config = config
  }

  /** An empty list contains no one. */
  isAmong(account: AccountIdAndLogin, principals: readonly Principal[]): PermissionCheckResult {
    const findAmong = getOrCreate(this.#known, `${account.id} ${account.login}`, () =>
      memoizePerObject((list: readonly Principal[]) => this.#findAmong(account, list)),
    )
    return findAmong(principals)
  }

  /** By list or by role in the repository. Accounts of Apps are never maintainers. */
  isMaintainer(account: AccountIdAndLogin): PermissionCheckResult {
    if (isBotAccount(account)) return permissionDeniedResult
    const listed = this.isAmong(account, this.#maintainers)
    if (listed.kind !== 'no') return listed
    const { maintainerRoles } = this.#config.owners
    if (maintainerRoles.length === 0) return listed
    const answer = this.#answers.get({ kind: 'role', user: account.id, login: account.login })
    if (answer.kind === 'unknown')
      return createUnknownPermissionResult(`the role of ${account.login} in this repository`, answer)
    return (maintainerRoles as readonly string[]).includes(answer.role)
      ? permissionGrantedResult
      : permissionDeniedResult
  }

  #findAmong(account: AccountIdAndLogin, principals: readonly Principal[]): PermissionCheckResult {
    if (principals.length === 0) return permissionDeniedResult
    const open: PendingLookup[] = []
    let reused: PermissionCheckResult | undefined
    // Checks logins first, because they are cheap to look up and most owners are listed by login.
    const ordered = [
      ...principals.filter(({ kind }) => kind === 'user'),
      ...principals.filter(({ kind }) => kind !== 'user'),
    ]
    for (const principal of ordered) {
      const holds = this.#isPrincipal(account, principal)
      if (holds.kind === 'yes') return permissionGrantedResult
      if (holds.kind === 'unknown') open.push(...holds.open)
      else if (holds.reused) reused = holds
    }
    if (reused) return reused
    return open.length > 0 ? { kind: 'unknown', open } : permissionDeniedResult
  }

  #isPrincipal(account: AccountIdAndLogin, principal: Principal): PermissionCheckResult {
    switch (principal.kind) {
      case 'user':
        return this.#isUser(account, principal)
      case 'team': {
        if (isBotAccount(account)) return permissionDeniedResult
        const { organization, team } = principal
        const { id: user, login } = account
        const answer = this.#answers.get({ kind: 'team-member', organization, team, user, login })
        if (answer.kind === 'unknown')
          return createUnknownPermissionResult(
            `whether ${login} is a member of ${organization}/${team}`,
            answer,
          )
        return answer.kind === 'yes' ? permissionGrantedResult : permissionDeniedResult
      }
      case 'email':
        return permissionDeniedResult
    }
  }

  #isUser(
    account: AccountIdAndLogin,
    principal: Extract<Principal, { kind: 'user' }>,
  ): PermissionCheckResult {
    // A pinned account matches under any login, and its listed login matches no other account.
    if (principal.id !== undefined) {
      if (principal.id === account.id) return permissionGrantedResult
      return principal.login === account.login
        ? { kind: 'no', reused: { login: principal.login, was: principal.id } }
        : permissionDeniedResult
    }
    if (principal.login !== account.login) return permissionDeniedResult
    const first = this.#accounts.get(principal.login)
    if (first !== undefined && first !== account.id)
      return { kind: 'no', reused: { login: principal.login, was: first } }
    const answer = this.#answers.get({ kind: 'user', login: principal.login })
    if (answer.kind === 'unknown')
      return createUnknownPermissionResult(`which account the login ${principal.login} belongs to`, answer)
    if (answer.kind === 'nobody' || answer.person.id !== account.id) return permissionDeniedResult
    return (answer.person.kind === 'bot') === isBotAccount(account)
      ? permissionGrantedResult
      : permissionDeniedResult
  }
}

function createUnknownPermissionResult(
  question: string,
  answer: InconclusiveLookupResult,
): PermissionCheckResult {
  return { kind: 'unknown', open: [toPendingLookup(question, answer)] }
}

/**
 * Parses and compares the names in owner files, in the same way for all sources. Login comparison ignores only case.
 * Undefined for anything but a login, including a login with surrounding whitespace.
 */
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

/** Apps and e-mail addresses cannot approve. */
export function canPrincipalApprove(principal: Principal): boolean {
  return principal.kind === 'team' || (principal.kind === 'user' && !principal.login.endsWith('[bot]'))
}

/** In order of first appearance. */
export function removeDuplicatePrincipals(principals: readonly Principal[]): readonly Principal[] {
  return [...new Map(principals.map((principal) => [toPrincipalKey(principal), principal])).values()]
}
