// One spelling for a repository and for a pull request in it: what is kept, waited for or compared by name has it.
import type { PullNumber } from './ids.ts'
import type { RepositoryName } from './snapshot.ts'

/** `owner/name` in lower case: GitHub takes no notice of case. */
export function repositoryKey({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase()
}

/** `owner/name#7`, in lower case. */
export function pullKey(repository: RepositoryName, pull: PullNumber): string {
  return `${repositoryKey(repository)}#${pull}`
}
