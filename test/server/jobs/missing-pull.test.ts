// A pull request that GitHub does not find, which can be a new one for a moment.
import { expect, jest, test } from '@jest/globals'
import { evaluatePull } from '../../../src/server/jobs/evaluate-pull.ts'
import { createTestAppServices, createTestStore } from '../../jobs/job-context.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'

test.each([
  ['evaluated again if GitHub lists it', true],
  ['closed if GitHub does not list it', false],
])('a pull request that is not found is %s', async (_, isListed) => {
  const clock = { now: () => 0, sleep: async () => undefined }
  const store = createTestStore(clock.now)
  const { repository, pull } = createTestPullSnapshot()
  const enqueue = jest.spyOn(store, 'enqueue')
  const recordEnd = jest.spyOn(store, 'recordPullEnd')
  const job = { kind: 'pull', installation: 1, repository, pull } as const
  const context = {
    app: createTestAppServices({ store, clock }),
    installation: 1,
    repository: {},
    forge: {
      repository,
      readSnapshot: async () => null,
      openPulls: async () => (isListed ? [{ pull }] : []),
    },
  }
  await evaluatePull(job, context as never)
  expect(enqueue.mock.calls).toEqual(isListed ? [[job, expect.any(Number)]] : [])
  expect(recordEnd).toHaveBeenCalledTimes(isListed ? 0 : 1)
})
