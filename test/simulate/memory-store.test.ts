// The in-memory store fulfills the contracts of the real one that both are tested with.
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
