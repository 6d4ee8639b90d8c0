// The users of a run and their permissions. IDs identify users.
import { toUserId, type UserId } from '../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../src/pull-request/snapshot.ts'

export type RepositoryRole = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'

interface SimulatedAccount {
  readonly person: GitHubAccount
  /** Ordered by time, oldest first: permissions that were recently revoked may still count. */
  roles: { readonly at: number; readonly role: RepositoryRole }[]
}

export class SimulatedPeople {
  readonly #accounts = new Map<string, SimulatedAccount>()
  #ids = 100

  add(name: string, role: RepositoryRole = 'read'): GitHubAccount {
    const person: GitHubAccount = {
      id: toUserId((this.#ids += 1)),
      login: name,
      kind: name.endsWith('[bot]') ? 'bot' : 'user',
    }
    this.#accounts.set(name, { person, roles: [{ at: 0, role }] })
    return person
  }

  /** The user with this login. */
  of(name: string): GitHubAccount {
    return this.#account(name).person
  }

  withLogin(login: string): GitHubAccount | undefined {
    return [...this.#accounts.values()].find(
      ({ person }) => person.login.toLowerCase() === login.toLowerCase(),
    )?.person
  }

  roleOf(id: UserId): RepositoryRole {
    return this.#byId(id)?.roles.at(-1)?.role ?? 'none'
  }

  /** The current role of every account. */
  roles(): readonly RepositoryRole[] {
    return [...this.#accounts.values()].map(({ roles }) => roles.at(-1)?.role ?? 'none')
  }

  /** Every role that an account had between these times. */
  rolesBetween(id: UserId, since: number, until = Infinity): readonly RepositoryRole[] {
    const roles = this.#byId(id)?.roles ?? []
    const before = roles.findLast(({ at }) => at <= since)
    const later = roles.filter(({ at }) => at > since && at <= until)
    return [...(before ? [before] : []), ...later].map(({ role }) => role)
  }

  setRole(name: string, role: RepositoryRole, at: number): void {
    this.#account(name).roles.push({ at, role })
  }

  #byId(id: UserId): SimulatedAccount | undefined {
    return [...this.#accounts.values()].find(({ person }) => person.id === id)
  }

  #account(name: string): SimulatedAccount {
    const account = this.#accounts.get(name)
    if (account === undefined) throw new Error(`no user is named ${name}`)
    return account
  }
}
