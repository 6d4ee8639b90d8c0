// An account as GitHub's REST answers show it, in our own words.
import { userId } from '../change/ids.ts'
import type { Person } from '../change/snapshot.ts'

export interface Account {
  readonly id: number
  readonly login: string
  readonly type?: string
}

/** Null accounts ("ghost") stay null: nobody has their rights. */
export function toPerson(account: Account | null | undefined): Person | null {
  if (account === null || account === undefined) return null
  return { id: userId(account.id), login: account.login, kind: account.type === 'Bot' ? 'bot' : 'user' }
}
