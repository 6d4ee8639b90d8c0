// The people of examples: whoever is named is there.
import { createHash } from 'node:crypto'
import { toUserId } from '../../src/change/ids.ts'
import type { GitHubAccount } from '../../src/change/snapshot.ts'

/** Everybody's account has the number that their login says. */
export function createExampleAccount(login: string): GitHubAccount {
  const id = createHash('sha256').update(login).digest().readUInt16BE() + 1
  return { id: toUserId(id), login, kind: 'user' }
}
