// A memory that remembers nothing, for the command line and tests.
import type { Cache } from '../ports/cache.ts'
import type { PullHistoryStore } from '../ports/pull-memory.ts'

export const noopPullHistoryStore: PullHistoryStore = {
  observe: async () => 0,
  recordShown: async () => undefined,
  shownHeads: async () => [],
  recordCommand: async () => 'new',
  commands: async () => [],
  firstSeenReviews: async (_repository, _pull, epoch, reviews) => new Map(reviews.map((id) => [id, epoch])),
  firstSeenAccounts: async (_repository, accounts) => accounts,
}

export const noopCache: Cache = {
  getCached: async () => new Map(),
  putCached: async () => undefined,
}
