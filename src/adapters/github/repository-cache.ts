// Keeps a repository's default branch (for a minute) and global id in memory.
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { Clock } from '../../ports/clock.ts'

export interface RepositoryCache {
  /** Undefined: not read within the last minute. */
  getDefaultBranch(repository: RepositoryName): string | undefined
  setDefaultBranch(repository: RepositoryName, branch: string): void
  /** GitHub's global id. Undefined: not read. */
  getId(repository: RepositoryName): string | undefined
  setId(repository: RepositoryName, id: string): void
}

/** Milliseconds. Default branches rarely change, and merges do not use this cache. */
const maxDefaultBranchAgeMs = 60_000

export function createRepositoryCache(clock: Pick<Clock, 'now'>): RepositoryCache {
  const branchByRepository = new Map<string, { readonly branch: string; readonly readAt: number }>()
  const ids = new Map<string, string>()
  return {
    getDefaultBranch: (repository) => {
      const known = branchByRepository.get(toRepositoryKey(repository))
      return known !== undefined && clock.now() - known.readAt < maxDefaultBranchAgeMs
        ? known.branch
        : undefined
    },
    setDefaultBranch: (repository, branch) =>
      void branchByRepository.set(toRepositoryKey(repository), { branch, readAt: clock.now() }),
    getId: (repository) => ids.get(toRepositoryKey(repository)),
    setId: (repository, id) => void ids.set(toRepositoryKey(repository), id),
  }
}
