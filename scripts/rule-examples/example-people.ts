// The people in examples: every named account exists.
import { createHash } from 'node:crypto'
import { toUserId } from '../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../src/pull-request/snapshot.ts'

/** Every account has an ID that is derived from its login. */
export function createExampleAccount(login: string): GitHubAccount {
  const id = createHash('sha256').update(login).digest().readUInt16BE() + 1
  return { id: toUserId(id), login, kind: 'user' }
}
