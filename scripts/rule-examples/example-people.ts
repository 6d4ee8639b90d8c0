// The people of examples: whoever is named is there.
import { createHash } from 'node:crypto'
import { userId } from '../../src/change/ids.ts'
import type { Person } from '../../src/change/snapshot.ts'

/** Everybody's account has the number that their login says. */
export function person(login: string): Person {
  const id = createHash('sha256').update(login).digest().readUInt16BE() + 1
  return { id: userId(id), login, kind: 'user' }
}
