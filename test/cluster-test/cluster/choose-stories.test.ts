// `npm run test:cluster` must not pass if a requested story did not run or the cluster could not be observed.
import { expect, test } from '@jest/globals'
import { selectClusterStories } from './real/choose-stories.ts'
import { findMissingClusterObservations, observeCluster } from './real/observe-cluster.ts'
import { findLeftoverClusterObjects } from './real/cluster-stories.ts'

const clusterStoryNames = ['rights', 'olm-v0', 'olm-v1']
const areStoryBinariesBuilt = (story: string) => story !== 'olm-v1'

test('a story does not run without its binaries, and makes a run that requested it incomplete', () => {
  expect(selectClusterStories([], clusterStoryNames, areStoryBinariesBuilt)).toEqual({
    run: ['rights', 'olm-v0'],
    notTried: ['olm-v1'],
    isIncomplete: false,
  })
  expect(selectClusterStories(['--all'], clusterStoryNames, areStoryBinariesBuilt)).toMatchObject({
    run: ['rights', 'olm-v0'],
    isIncomplete: true,
  })
  expect(selectClusterStories(['olm-v1', 'rights'], clusterStoryNames, areStoryBinariesBuilt)).toMatchObject({
    run: ['rights'],
    notTried: ['olm-v1'],
    isIncomplete: true,
  })
  expect(selectClusterStories(['rights'], clusterStoryNames, areStoryBinariesBuilt)).toMatchObject({
    notTried: [],
    isIncomplete: false,
  })
  expect(selectClusterStories([], clusterStoryNames, () => false)).toMatchObject({
    run: [],
    isIncomplete: true,
  })
  expect(selectClusterStories(['--all'], clusterStoryNames, () => true)).toMatchObject({
    isIncomplete: false,
  })
  expect(() => selectClusterStories(['olm'], clusterStoryNames, areStoryBinariesBuilt)).toThrow(
    'no story olm',
  )
})

test('a missing API has no leftover objects, and an API that returns an error may have some', async () => {
  const answering = (status: number, items: readonly object[] = []) => ({
    ask: () => Promise.resolve({ status, body: { items } }),
  })
  expect(await findLeftoverClusterObjects(answering(404))).toBe('nothing')
  expect(await findLeftoverClusterObjects(answering(200))).toBe('nothing')
  for (const status of [401, 403, 429, 500, 503])
    expect(await findLeftoverClusterObjects(answering(status))).toContain(`: ${status}`)
  expect(await findLeftoverClusterObjects(answering(200, [{ metadata: { name: 'left' } }]))).toContain(
    'clusterextensions/left',
  )
})

test('the objects of the API server are recorded during a run, and expected ones that never existed are reported', async () => {
  let promptCount = 0
  const { promise: isAskedAgain, resolve } = Promise.withResolvers<void>()
  const plane = {
    ask: () => {
      promptCount += 1
      if (promptCount === 2) resolve()
      return Promise.resolve({
        status: 200,
        body: { items: [{ metadata: { name: `step-${promptCount}` } }] },
      })
    },
  }
  const names = { path: '/apis', fact: ({ metadata }: { metadata: { name: string } }) => metadata.name }
  const { result, facts } = await observeCluster(plane, [names], async () => {
    await isAskedAgain
    return 'done'
  })
  expect([result, facts]).toEqual(['done', ['step-1', 'step-2']])
  expect(findMissingClusterObservations(facts, ['step-2', 'step-3'])).toEqual(['step-3'])
})
