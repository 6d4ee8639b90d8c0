// Keeps a repository's default branch (for a minute) and global id in memory.
import type { RepositoryName } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'
import type { Clock } from '../ports/clock.ts'

export interface RepositoryMemory {
  /** Undefined: not read within the last minute. */
  defaultBranch(repository: RepositoryName): string | undefined
  keepDefaultBranch(repository: RepositoryName, branch: string): void
  /** GitHub's global id. Undefined: not read. */
  idOf(repository: RepositoryName): string | undefined
  keepId(repository: RepositoryName, id: string): void
}

/** Milliseconds. A default branch is another one once in a repository's life, and no landing goes by what is kept. */
const longest = 60_000

export function openRepositoryMemory(clock: Pick<Clock, 'now'>): RepositoryMemory {
  const kept = new Map<string, { readonly branch: string; readonly readAt: number }>()
  const ids = new Map<string, string>()
  return {
    defaultBranch: (repository) => {
      const known = kept.get(repositoryKey(repository))
      return known !== undefined && clock.now() - known.readAt < longest ? known.branch : undefined
    },
    keepDefaultBranch: (repository, branch) =>
      void kept.set(repositoryKey(repository), { branch, readAt: clock.now() }),
    idOf: (repository) => ids.get(repositoryKey(repository)),
    keepId: (repository, id) => void ids.set(repositoryKey(repository), id),
  }
}
