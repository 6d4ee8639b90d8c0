// Converts an account from GitHub's REST answers.
import { toUserId } from '../../pull-request/ids.ts'
import type { GitHubAccount } from '../../pull-request/snapshot.ts'

export interface GitHubApiAccount {
  readonly id: number
  readonly login: string
  readonly type?: string
}

/** Null accounts ("ghost") stay null, because no one has their rights. */
export function toGitHubAccountOrNull(account: GitHubApiAccount | null | undefined): GitHubAccount | null {
  if (account === null || account === undefined) return null
  return { id: toUserId(account.id), login: account.login, kind: account.type === 'Bot' ? 'bot' : 'user' }
}
