// The sandbox limits requests as GitHub does: per hour and resource, and by the load within a minute.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import {
  openGitHubFixture,
  fullRepositoryName,
  repositoryParams,
  type GitHubFixture,
} from './github-fixture.ts'

let now = Date.now()
let githubFixture: GitHubFixture
let issue_number: number
beforeAll(async () => {
  githubFixture = await openGitHubFixture({ clock: { now: () => now } })
  const pull = await githubFixture.github.openPull({
    repository: fullRepositoryName,
    author: 'alice',
    title: 'Alpha',
    changes: { a: '1' },
  })
  issue_number = pull.number
})
afterAll(() => githubFixture.stop())
beforeEach(() => {
  now += 120_000
})

const readRepository = () => githubFixture.octokit.rest.repos.get(repositoryParams)
const createComment = () =>
  githubFixture.octokit.rest.issues.createComment({ ...repositoryParams, issue_number, body: 'x' })
const queryViewer = () => githubFixture.octokit.graphql('{ viewer { login } }')

test('an exhausted hourly limit reports its reset time, and starts again after it', async () => {
  githubFixture.github.setLimits(githubFixture.installation, { hourly: 2, windowSeconds: 10 })
  expect((await readRepository()).headers).toMatchObject({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-resource': 'core',
  })
  await readRepository()
  await expect(readRepository()).rejects.toMatchObject({
    status: 403,
    response: {
      headers: {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(now / 1000) + 10),
        'x-ratelimit-resource': 'core',
      },
    },
  })
  // GraphQL has its own limit.
  await queryViewer()
  now += 10_000
  await readRepository()
})

test('too much content within a minute rejects every request, and longer for clients that continue', async () => {
  githubFixture.github.setLimits(githubFixture.installation, {
    hourly: 5000,
    contentPerMinute: 2,
    pauseSeconds: 30,
  })
  await createComment()
  await createComment()
  const secondaryLimitError = { status: 403, response: { headers: { 'retry-after': '30' } } }
  await expect(createComment()).rejects.toMatchObject(secondaryLimitError)
  now += 29_000
  await expect(readRepository()).rejects.toMatchObject(secondaryLimitError)
  now += 29_000
  await expect(queryViewer()).rejects.toMatchObject(secondaryLimitError)
  now += 30_000
  await createComment()
})

test('a write costs five points of a minute, and a read costs one', async () => {
  githubFixture.github.setLimits(githubFixture.installation, {
    contentPerMinute: Infinity,
    pointsPerMinute: 7,
    pauseSeconds: 60,
  })
  await createComment()
  await readRepository()
  await queryViewer()
  await expect(readRepository()).rejects.toThrow('secondary rate limit')
  now += 60_000
  await readRepository()
})
