// The lease under which everything that moves a branch happens.
import type { RepositoryName } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'

/** One holder at a time, over all instances. */
export function leaseName(repository: RepositoryName, branch: string): string {
  return `land ${repositoryKey(repository)} ${branch}`
}
