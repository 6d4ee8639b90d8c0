// An in-memory cache for one run of a command. It evicts nothing, because a run stores only a few thousand values.
import type { Cache, CacheNamespace } from '../ports/cache.ts'
import type { Clock } from '../ports/clock.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'

export const noopPullHistoryStore: PullHistoryStore = {
  observe: async () => 0,
  recordShown: async () => undefined,
  shownHeads: async () => [],
  recordCommand: async () => 'new',
  commands: async () => [],
  firstSeenReviews: async (_repository, _pull, epoch, reviews) => new Map(reviews.map((id) => [id, epoch])),
  firstSeenAccounts: async (_repository, accounts) => accounts,
}

export const noopCache: Cache = { getCached: async () => new Map(), putCached: async () => undefined }

export function createInMemoryCache({ now }: Pick<Clock, 'now'>): Cache {
  const entries = new Map<string, { readonly json: string; readonly until: number }>()
  const toRowKey = (space: CacheNamespace<unknown>, key: string) => `${space.name} ${key}`
  return {
    async getCached<Value>(space: CacheNamespace<Value>, keys: readonly string[]) {
      const found = new Map<string, Value>()
      for (const key of keys) {
        const row = entries.get(toRowKey(space, key))
        const value = row && row.until > now() ? space.read(JSON.parse(row.json)) : undefined
        if (value !== undefined) found.set(key, value)
      }
      return found
    },
    async putCached(space, values, seconds) {
      const until = now() + seconds * 1000
      for (const [key, value] of values)
        entries.set(toRowKey(space, key), { json: JSON.stringify(value), until })
    },
  }
}
