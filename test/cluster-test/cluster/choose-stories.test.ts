// What `npm run test:cluster` may call success: nothing that was not tried, and nothing that could not be seen.
import { expect, test } from '@jest/globals'
import { selectClusterStories } from './real/choose-stories.ts'
import { findMissingClusterObservations, observeCluster } from './real/observe-cluster.ts'
import { findLeftoverClusterObjects } from './real/cluster-stories.ts'

const clusterStoryNames = ['rights', 'olm-v0', 'olm-v1']
const areStoryBinariesBuilt = (story: string) => story !== 'olm-v1'

test('what was not built is not tried, and fails what asked for it', () => {
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

test('only an API that is not there has nothing left; one that does not answer may hold anything', async () => {
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

test('what the API server held while something ran is noted, and what it never held is missing', async () => {
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
