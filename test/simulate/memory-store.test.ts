// The store in memory remembers as the real one does, where both are held to the same contracts.
import { describe } from '@jest/globals'
import { createInMemoryStore, InMemoryStoreTables } from '../../simulate/ports/memory-store.ts'
import { testMergeFreezesContract } from '../adapters/store/merge-freezes-contract.ts'
import { testPullHistoryStoreContract } from '../adapters/store/pull-memory-contract.ts'

describe('the store in memory', () => {
  let now = Date.now()
  const store = createInMemoryStore({
    tables: new InMemoryStoreTables(),
    now: () => (now += 1),
    turn: async (_, act) => act(),
  })
  testMergeFreezesContract(() => store)
  testPullHistoryStoreContract(() => store)
})
