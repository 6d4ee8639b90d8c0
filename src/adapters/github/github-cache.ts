// Caches pull requests' comments in memory for at most an hour, so that an evaluation reads only changed ones. A merge
// ignores the cache.
import { type PullComment, type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { Clock } from '../../ports/clock.ts'
import { LruMap } from '../lru-map.ts'

export interface RepositoryCache {
  /** Undefined: not read within the last minute. */
  getDefaultBranch(repository: RepositoryName): string | undefined
  setDefaultBranch(repository: RepositoryName, branch: string): void
  /** GitHub's global id. Undefined: not read. */
  getId(repository: RepositoryName): string | undefined
  setId(repository: RepositoryName, id: string): void
}

/** Milliseconds. Default branches rarely change, and merges do not use this cache. */
const maxCachedDefaultBranchAgeMs = 60_000

export interface CachedComments {
  readonly comments: ReadonlyMap<number, PullComment>
  /** Our own report's id. */
  readonly own: number | undefined
  /** When all were read, in milliseconds since the epoch. */
  readonly readAt: number
}

export interface CommentCache {
  get(key: string): CachedComments | undefined
  set(key: string, retained: Omit<CachedComments, 'readAt'> & { readonly readAt?: number }): void
  drop(key: string): void
}

/** Deleting an account changes a comment's author but not its time, so entries expire after this. */
const maxCommentCacheAgeMs = 3600_000
/** Characters over all pull requests. */
const maxCachedCommentCharacters = 32 * 1024 * 1024
/** Overhead beside the text. */
const cachedCommentOverheadCharacters = 300

export function createCommentCache(clock: Clock): CommentCache {
  const entries = new LruMap<string, CachedComments & { readonly weight: number }>(
    maxCachedCommentCharacters,
    ({ weight }) => weight,
    ({ readAt }) => clock.now() - readAt >= maxCommentCacheAgeMs,
  )
  return {
    get: (key) => entries.get(key),
    set(key, { comments, own, readAt = clock.now() }) {
      let weight = cachedCommentOverheadCharacters
      for (const { body } of comments.values()) weight += body.length + cachedCommentOverheadCharacters
      entries.set(key, { comments, own, readAt, weight })
    },
    drop: (key) => entries.delete(key),
  }
}

export function createRepositoryCache(clock: Pick<Clock, 'now'>): RepositoryCache {
  const branchByRepository = new Map<string, { readonly branch: string; readonly readAt: number }>()
  const ids = new Map<string, string>()
  return {
    getDefaultBranch: (repository) => {
      const known = branchByRepository.get(toRepositoryKey(repository))
      return known !== undefined && clock.now() - known.readAt < maxCachedDefaultBranchAgeMs
        ? known.branch
        : undefined
    },
    setDefaultBranch: (repository, branch) =>
      void branchByRepository.set(toRepositoryKey(repository), { branch, readAt: clock.now() }),
    getId: (repository) => ids.get(toRepositoryKey(repository)),
    setId: (repository, id) => void ids.set(toRepositoryKey(repository), id),
  }
}
