// Whether an owner file names a person: yes, no or unknown, and unknown never counts as yes. Rights belong to account
// ids: a login counts only if GitHub resolves it to this account now and did when it was first seen.
import type { UserId } from '../../change/ids.ts'
import type { Config } from '../../config/config.ts'
import type { CheckOutcome } from '../check.ts'
import type { Answers, Unknown } from '../questions.ts'
import type { Principal } from './principal.ts'
import { oncePer } from '../../findings/once.ts'

export type Unanswered = CheckOutcome['unanswered'][number]

/** An account, and its present login in the form of loginOf(). */
export interface Account {
  readonly id: UserId
  readonly login: string
}

export type Holds =
  | { readonly kind: 'yes' }
  /** `reused`: the listed login now belongs to another account. */
  | { readonly kind: 'no'; readonly reused?: { readonly login: string; readonly was: number } }
  | { readonly kind: 'unknown'; readonly open: readonly Unanswered[] }

export interface People {
  /** An empty list contains no one. */
  isAmong(account: Account, principals: readonly Principal[]): Holds
  /** By list or by role on the repository. Accounts of Apps never are. */
  isMaintainer(account: Account): Holds
}

const yes: Holds = { kind: 'yes' }
const no: Holds = { kind: 'no' }

export const isBot = (account: Account): boolean => account.login.endsWith('[bot]')

/** `accounts`: see CheckInput.accounts. */
export function people(
  answers: Answers,
  accounts: ReadonlyMap<string, UserId>,
  maintainers: readonly Principal[],
  config: Config,
): People {
  function isUser(account: Account, principal: Extract<Principal, { kind: 'user' }>): Holds {
    // A pinned account matches under any login, and its listed login matches no other account.
    if (principal.id !== undefined) {
      if (principal.id === account.id) return yes
      return principal.login === account.login
        ? { kind: 'no', reused: { login: principal.login, was: principal.id } }
        : no
    }
    if (principal.login !== account.login) return no
    const first = accounts.get(principal.login)
    if (first !== undefined && first !== account.id)
      return { kind: 'no', reused: { login: principal.login, was: first } }
    const answer = answers.get({ kind: 'user', login: principal.login })
    if (answer.kind === 'unknown') return unknown(`which account ${principal.login} is`, answer)
    if (answer.kind === 'nobody' || answer.person.id !== account.id) return no
    return (answer.person.kind === 'bot') === isBot(account) ? yes : no
  }

  function isOne(account: Account, principal: Principal): Holds {
    switch (principal.kind) {
      case 'user':
        return isUser(account, principal)
      case 'team': {
        if (isBot(account)) return no
        const { organization, team } = principal
        const answer = answers.get({
          kind: 'team-member',
          organization,
          team,
          user: account.id,
          login: account.login,
        })
        if (answer.kind === 'unknown')
          return unknown(`whether ${account.login} is a member of ${organization}/${team}`, answer)
        return answer.kind === 'yes' ? yes : no
      }
      case 'email':
        return no
    }
  }

  // Cached, because the same people own most of what a change touches.
  const known = new Map<string, (principals: readonly Principal[]) => Holds>()

  function isAmong(account: Account, principals: readonly Principal[]): Holds {
    const key = `${account.id} ${account.login}`
    const among = known.get(key) ?? oncePer((list: readonly Principal[]) => findAmong(account, list))
    known.set(key, among)
    return among(principals)
  }

  function findAmong(account: Account, principals: readonly Principal[]): Holds {
    if (principals.length === 0) return no
    const open: Unanswered[] = []
    let reused: Holds | undefined
    // Logins first: they are cheap to look up, and most owners are listed by login.
    const ordered = [
      ...principals.filter(({ kind }) => kind === 'user'),
      ...principals.filter(({ kind }) => kind !== 'user'),
    ]
    for (const principal of ordered) {
      const holds = isOne(account, principal)
      if (holds.kind === 'yes') return yes
      if (holds.kind === 'unknown') open.push(...holds.open)
      else if (holds.reused) reused = holds
    }
    if (reused) return reused
    return open.length > 0 ? { kind: 'unknown', open } : no
  }

  function isMaintainer(account: Account): Holds {
    if (isBot(account)) return no
    const listed = isAmong(account, maintainers)
    if (listed.kind !== 'no') return listed
    const { maintainerRoles } = config.owners
    if (maintainerRoles.length === 0) return listed
    const answer = answers.get({ kind: 'role', user: account.id, login: account.login })
    if (answer.kind === 'unknown') return unknown(`the role of ${account.login} on this repository`, answer)
    return (maintainerRoles as readonly string[]).includes(answer.role) ? yes : no
  }

  return { isAmong, isMaintainer }
}

function unknown(question: string, answer: Unknown): Holds {
  return { kind: 'unknown', open: [{ question, reason: answer.reason, retryAfter: answer.retryAfter }] }
}
