// The sandbox limits requests as GitHub does: per hour and resource, and by the load within a minute.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { startGitHubFixture, repo, createPullOptions } from './github-fixture.ts'

let currentTimeMs = Date.now()
const githubFixture = await startGitHubFixture({ clock: { now: () => currentTimeMs } })
const { github, installation, octokit } = githubFixture
const pull = await github.openPull(createPullOptions('Alpha', { a: '1' }))
const issueNumber = pull.number
afterAll(() => githubFixture.stop())
beforeEach(() => {
  currentTimeMs += 120_000
})

const readTestRepository = () => octokit.rest.repos.get(repo)
const createComment = () =>
  octokit.rest.issues.createComment({ ...repo, issue_number: issueNumber, body: 'x' })
const queryGraphqlViewer = () => octokit.graphql('{ viewer { login } }')

test('an exhausted hourly limit reports its reset time, and starts again after it', async () => {
  github.setLimits(installation, { hourly: 2, windowSeconds: 10 })
  expect((await readTestRepository()).headers).toMatchObject({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-resource': 'core',
  })
  await readTestRepository()
  await expect(readTestRepository()).rejects.toMatchObject({
    status: 403,
    response: {
      headers: {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(currentTimeMs / 1000) + 10),
        'x-ratelimit-resource': 'core',
      },
    },
  })
  // GraphQL has its own limit.
  await queryGraphqlViewer()
  currentTimeMs += 10_000
  await readTestRepository()
})

test('too much content within a minute rejects every request, and longer for clients that continue', async () => {
  github.setLimits(installation, { hourly: 5000, contentPerMinute: 2, pauseSeconds: 30 })
  await createComment()
  await createComment()
  const secondaryLimitError = { status: 403, response: { headers: { 'retry-after': '30' } } }
  await expect(createComment()).rejects.toMatchObject(secondaryLimitError)
  currentTimeMs += 29_000
  await expect(readTestRepository()).rejects.toMatchObject(secondaryLimitError)
  currentTimeMs += 29_000
  await expect(queryGraphqlViewer()).rejects.toMatchObject(secondaryLimitError)
  currentTimeMs += 30_000
  await createComment()
})

test('a write costs five points of a minute, and a read costs one', async () => {
  github.setLimits(installation, { contentPerMinute: Infinity, pointsPerMinute: 7, pauseSeconds: 60 })
  await createComment()
  await readTestRepository()
  await queryGraphqlViewer()
  await expect(readTestRepository()).rejects.toThrow('secondary rate limit')
  currentTimeMs += 60_000
  await readTestRepository()
})
