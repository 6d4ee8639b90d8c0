// The lease that guards everything that moves a branch.
import type { RepositoryName } from '../change/snapshot.ts'
import { toRepositoryKey } from '../change/repository-key.ts'

export function toLeaseName(repository: RepositoryName, branch: string): string {
  return `land ${toRepositoryKey(repository)} ${branch}`
}
