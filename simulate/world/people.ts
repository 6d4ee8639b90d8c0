// Who lives in the world of a run, and what they may do there. Ids are what counts; logins can be given up and taken by others.
import { userId, type UserId } from '../../src/change/ids.ts'
import type { Person } from '../../src/change/snapshot.ts'

export type Role = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'

interface Account {
  person: Person
  /** By time, oldest first: rights that were had a moment ago may still count. */
  roles: { readonly at: number; readonly role: Role }[]
  isGone: boolean
}

export class People {
  readonly #accounts = new Map<string, Account>()
  #ids = 100

  add(name: string, role: Role = 'read'): Person {
    const person: Person = {
      id: userId((this.#ids += 1)),
      login: name,
      kind: name.endsWith('[bot]') ? 'bot' : 'user',
    }
    this.#accounts.set(name, { person, roles: [{ at: 0, role }], isGone: false })
    return person
  }

  /** Who had this login at the beginning of the run. */
  of(name: string): Person {
    return this.#account(name).person
  }

  withLogin(login: string): Person | undefined {
    const found = [...this.#accounts.values()].find(
      ({ person, isGone }) => !isGone && person.login.toLowerCase() === login.toLowerCase(),
    )
    return found?.person
  }

  withId(id: UserId): Person | undefined {
    return [...this.#accounts.values()].find(({ person, isGone }) => !isGone && person.id === id)?.person
  }

  roleOf(id: UserId): Role {
    return this.#byId(id)?.roles.at(-1)?.role ?? 'none'
  }

  /** What everybody may do now. */
  roles(): readonly Role[] {
    return [...this.#accounts.values()].map(({ roles }) => roles.at(-1)?.role ?? 'none')
  }

  /** Every role that an account had between these times. */
  rolesBetween(id: UserId, since: number, until = Infinity): readonly Role[] {
    const roles = this.#byId(id)?.roles ?? []
    const before = roles.findLast(({ at }) => at <= since)
    const later = roles.filter(({ at }) => at > since && at <= until)
    return [...(before ? [before] : []), ...later].map(({ role }) => role)
  }

  setRole(name: string, role: Role, at: number): void {
    this.#account(name).roles.push({ at, role })
  }

  /** Gives up the login and takes another one. */
  rename(name: string, login: string): void {
    const account = this.#account(name)
    account.person = { ...account.person, login }
  }

  #byId(id: UserId): Account | undefined {
    return [...this.#accounts.values()].find(({ person }) => person.id === id)
  }

  #account(name: string): Account {
    const account = this.#accounts.get(name)
    if (account === undefined) throw new Error(`nobody is called ${name}`)
    return account
  }
}
