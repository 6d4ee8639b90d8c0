// The store in memory remembers as the real one does, where both are held to the same contracts.
import { describe } from '@jest/globals'
import { createTestStore } from '../jobs/job-context.ts'
import { testMergeFreezesContract } from '../adapters/store/merge-freezes-contract.ts'
import { testPullHistoryStoreContract } from '../adapters/store/pull-memory-contract.ts'

describe('the store in memory', () => {
  let now = Date.now()
  const store = createTestStore(() => (now += 1))
  testMergeFreezesContract(() => store)
  testPullHistoryStoreContract(() => store)
})
