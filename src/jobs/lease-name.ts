// The lease that guards everything that moves a branch.
import type { RepositoryName } from '../pull-request/snapshot.ts'
import { toRepositoryKey } from '../pull-request/repository-key.ts'

export function toMergeLeaseName(repository: RepositoryName, branch: string): string {
  return `land ${toRepositoryKey(repository)} ${branch}`
}
