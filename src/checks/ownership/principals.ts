// Whether an owner file lists an account: yes, no, or unknown. Unknown never counts as yes. Permissions belong to
// account ids, so a login counts only if GitHub resolves it to this account now and did so when it was first seen.
import type { UserId } from '../../pull-request/ids.ts'
import type { Config } from '../../config/config.ts'
import type { CheckOutcome } from '../check.ts'
import type { CheckAnswers, InconclusiveAnswer } from '../questions.ts'
import type { Principal } from './principal.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

export type UnansweredCheckQuestion = CheckOutcome['unanswered'][number]

/** An account, and its current login as normalizeLogin() returns it. */
export interface GitHubAccount {
  readonly id: UserId
  readonly login: string
}

export type PermissionCheckResult =
  | { readonly kind: 'yes' }
  /** `reused`: the listed login now belongs to another account. */
  | { readonly kind: 'no'; readonly reused?: { readonly login: string; readonly was: number } }
  | { readonly kind: 'unknown'; readonly open: readonly UnansweredCheckQuestion[] }

export interface PrincipalMatcher {
  /** An empty list contains no one. */
  isAmong(account: GitHubAccount, principals: readonly Principal[]): PermissionCheckResult
  /** By list or by role in the repository. Accounts of Apps are never maintainers. */
  isMaintainer(account: GitHubAccount): PermissionCheckResult
}

const permissionGrantedResult: PermissionCheckResult = { kind: 'yes' }
const permissionDeniedResult: PermissionCheckResult = { kind: 'no' }

export const isBotAccount = (account: GitHubAccount): boolean => account.login.endsWith('[bot]')

/** `accounts`: see CheckInput.accounts. */
export function createPrincipalMatcher(
  answers: CheckAnswers,
  accounts: ReadonlyMap<string, UserId>,
  maintainers: readonly Principal[],
  config: Config,
): PrincipalMatcher {
  function isUser(
    account: GitHubAccount,
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
    const first = accounts.get(principal.login)
    if (first !== undefined && first !== account.id)
      return { kind: 'no', reused: { login: principal.login, was: first } }
    const answer = answers.get({ kind: 'user', login: principal.login })
    if (answer.kind === 'unknown')
      return createUnknownPermissionResult(`which account the login ${principal.login} belongs to`, answer)
    if (answer.kind === 'nobody' || answer.person.id !== account.id) return permissionDeniedResult
    return (answer.person.kind === 'bot') === isBotAccount(account)
      ? permissionGrantedResult
      : permissionDeniedResult
  }

  function isPrincipal(account: GitHubAccount, principal: Principal): PermissionCheckResult {
    switch (principal.kind) {
      case 'user':
        return isUser(account, principal)
      case 'team': {
        if (isBotAccount(account)) return permissionDeniedResult
        const { organization, team } = principal
        const answer = answers.get({
          kind: 'team-member',
          organization,
          team,
          user: account.id,
          login: account.login,
        })
        if (answer.kind === 'unknown')
          return createUnknownPermissionResult(
            `whether ${account.login} is a member of ${organization}/${team}`,
            answer,
          )
        return answer.kind === 'yes' ? permissionGrantedResult : permissionDeniedResult
      }
      case 'email':
        return permissionDeniedResult
    }
  }

  // Cached, because the same owners own most of the paths that a change touches.
  const known = new Map<string, (principals: readonly Principal[]) => PermissionCheckResult>()

  function isAmong(account: GitHubAccount, principals: readonly Principal[]): PermissionCheckResult {
    const key = `${account.id} ${account.login}`
    const among = known.get(key) ?? memoizePerObject((list: readonly Principal[]) => findAmong(account, list))
    known.set(key, among)
    return among(principals)
  }

  function findAmong(account: GitHubAccount, principals: readonly Principal[]): PermissionCheckResult {
    if (principals.length === 0) return permissionDeniedResult
    const open: UnansweredCheckQuestion[] = []
    let reused: PermissionCheckResult | undefined
    // Checks logins first, because they are cheap to look up and most owners are listed by login.
    const ordered = [
      ...principals.filter(({ kind }) => kind === 'user'),
      ...principals.filter(({ kind }) => kind !== 'user'),
    ]
    for (const principal of ordered) {
      const holds = isPrincipal(account, principal)
      if (holds.kind === 'yes') return permissionGrantedResult
      if (holds.kind === 'unknown') open.push(...holds.open)
      else if (holds.reused) reused = holds
    }
    if (reused) return reused
    return open.length > 0 ? { kind: 'unknown', open } : permissionDeniedResult
  }

  function isMaintainer(account: GitHubAccount): PermissionCheckResult {
    if (isBotAccount(account)) return permissionDeniedResult
    const listed = isAmong(account, maintainers)
    if (listed.kind !== 'no') return listed
    const { maintainerRoles } = config.owners
    if (maintainerRoles.length === 0) return listed
    const answer = answers.get({ kind: 'role', user: account.id, login: account.login })
    if (answer.kind === 'unknown')
      return createUnknownPermissionResult(`the role of ${account.login} in this repository`, answer)
    return (maintainerRoles as readonly string[]).includes(answer.role)
      ? permissionGrantedResult
      : permissionDeniedResult
  }

  return { isAmong, isMaintainer }
}

function createUnknownPermissionResult(question: string, answer: InconclusiveAnswer): PermissionCheckResult {
  return { kind: 'unknown', open: [{ question, reason: answer.reason, retryAfter: answer.retryAfter }] }
}
