// Normalized names of repositories and pull requests, for keys and comparison.
import type { PullNumber } from './ids.ts'
import type { RepositoryName } from './snapshot.ts'

/** `owner/name` in lowercase, because GitHub ignores case. */
export function toRepositoryKey({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase()
}

/** `owner/name#7` in lowercase. */
export function toPullRequestKey(repository: RepositoryName, pull: PullNumber): string {
  return `${toRepositoryKey(repository)}#${pull}`
}
