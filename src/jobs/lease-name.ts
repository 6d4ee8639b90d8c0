// The lease that guards everything that moves a branch.
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'

export function toMergeLeaseName(repository: RepositoryName, branch: string): string {
  return `land ${toRepositoryKey(repository)} ${branch}`
}
