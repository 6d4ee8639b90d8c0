import type { PullMemory } from '../../src/ports/pull-memory.ts'

/** Knows nothing from before: every review and every account is seen for the first time. */
export const forgetful: PullMemory = {
  observe: async () => 0,
  recordShown: async () => undefined,
  shownHeads: async () => [],
  recordCommand: async () => 'new',
  commands: async () => [],
  firstSeenReviews: async (_repository, _pull, epoch, reviews) => new Map(reviews.map((id) => [id, epoch])),
  firstSeenAccounts: async (_repository, accounts) => accounts,
}
