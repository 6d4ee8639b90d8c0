// Reading a pull request takes two requests. The result equals reading it list by list, which is the fallback for data
// that one request cannot return, or that changed between the two.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import { addCheckRunDigest } from '../../../src/jobs/publish-report.ts'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import { systemClock } from '../../../src/adapters/system-clock.ts'
import { GitHubForge } from '../../../src/adapters/github/forge.ts'
import { graphqlPullFragment } from '../../../src/adapters/github/graphql-pull.ts'
import { commentMarker } from '../../../src/report/comment.ts'
import type { BotCommentAndCheckRuns } from '../../../src/ports/forge.ts'
import { fullRepositoryName, startGitHubFixture, repo } from '../../sandbox/github/github-fixture.ts'
import { createTestGitHubApp } from '../../jobs/job-context.ts'

let openedPullCount = 0
const githubFixture = await startGitHubFixture({ validateTraffic: true })
const { github, installation, octokit } = githubFixture
const app = createTestGitHubApp(githubFixture, systemClock)
// Requested once per process.
await app.login()
const githubForge = new GitHubForge(
  await app.octokit(installation.id),
  { owner: repo.owner, name: repo.repo },
  app,
)
afterAll(async () => {
  expect(github.violations).toEqual([])
  await githubFixture.stop()
})
beforeEach(() => github.clearFaults())

const openPullRequest = (author = 'alice'): Promise<MockPull> =>
  github.openPull({
    repository: fullRepositoryName,
    author,
    title: `Update ${(openedPullCount += 1)}`,
    changes: { [`at-once-${openedPullCount}.txt`]: 'x\n' },
  })

const isPullDetailsQuery = ({ operation }: { readonly operation?: string }) => operation === 'PullAtOnce'

async function readPullInOneRequest({
  number,
}: MockPull): Promise<{
  snapshot: PullSnapshot | null
  present: BotCommentAndCheckRuns | undefined
  requests: number
}> {
  const before = github.requests.length
  let present: BotCommentAndCheckRuns | undefined
  const snapshot = await githubForge.readSnapshot(toPullNumber(number), {
    onOwnReports: (reports) => (present = reports),
  })
  return { snapshot, present, requests: github.requests.length - before }
}

async function readPullWithSeparateQueries(pull: MockPull): Promise<PullSnapshot | null> {
  const take = github.fail(isPullDetailsQuery, { status: 502 })
  const { snapshot, present } = await readPullInOneRequest(pull)
  take()
  expect(present).toBeUndefined()
  return snapshot
}

test('two requests return the same snapshot as reading list by list', async () => {
  const pull = await openPullRequest()
  await github.label(pull, 'catalog')
  github.comment(pull, 'bob', '/hold\n\nwith reasons')
  github.review(pull, 'bob', 'approve')
  github.review(pull, 'outsider', 'changes')
  await github.pushToBase(fullRepositoryName, { [`meanwhile-${openedPullCount}.txt`]: 'x\n' })
  await githubForge.perform({
    kind: 'put-comment',
    pull: toPullNumber(pull.number),
    body: `${commentMarker}\nhello`,
  })
  const { snapshot, requests } = await readPullInOneRequest(pull)
  expect(requests).toBe(2)
  expect(snapshot).toEqual(await readPullWithSeparateQueries(pull))
  expect(snapshot?.base).not.toBe(snapshot?.shownBase)
  // A merge depends on this data, so it is read without the cache.
  const before = github.requests.length
  expect(await githubForge.readSnapshot(toPullNumber(pull.number), { skipCache: true })).toEqual(snapshot)
  expect(github.requests.length - before).toBe(2)
})

test('our own reports are included, and a forged comment is not', async () => {
  const pull = await openPullRequest('bob')
  const { head } = (await readPullInOneRequest(pull)).snapshot ?? {}
  if (head === undefined) throw new Error('no head')
  expect((await readPullInOneRequest(pull)).present).toMatchObject({ head, checks: [] })
  const run = addCheckRunDigest({
    name: 'catalog-bot / images',
    status: 'completed',
    conclusion: 'success',
    title: 'Passed',
    summary: 'fine',
    annotations: [],
  })
  await githubForge.perform({ kind: 'put-check', head, run })
  github.comment(pull, 'outsider', `${commentMarker}\nforged`)
  const body = `${commentMarker}\nours\n\n${'long '.repeat(4000)}`
  await githubForge.perform({ kind: 'put-comment', pull: toPullNumber(pull.number), body })
  const { present } = await readPullInOneRequest(pull)
  expect(present).toMatchObject({
    head,
    checks: [{ name: run.name, digest: run.digest, isOver: true }],
    comment: { body },
  })
  expect(present).toMatchObject(
    await githubForge.readOwnReports(toPullNumber(pull.number), head).then(({ readAt: _, ...rest }) => rest),
  )
  expect(present?.duplicates).toBeUndefined()
})

const pullRequestChangeCases: readonly (readonly [string, (pull: MockPull) => unknown])[] = [
  ['a label', (pull) => github.label(pull, 'wait')],
  ['a comment', (pull) => github.comment(pull, 'bob', '/hold')],
  ['another title', (pull) => (pull.title = 'Other')],
  ['a draft', (pull) => (pull.draft = true)],
  ['another head', (pull) => (pull.headSha = pull.baseSha)],
  ['a deleted fork', (pull) => (pull.headRepo = null)],
  ['its end', (pull) => (pull.state = 'closed')],
]

test.each(pullRequestChangeCases)(
  'T45: %s between the two requests is never mixed with the previous state',
  async (_, change) => {
    const pull = await openPullRequest('bob')
    let isChanged = false
    const take = github.fail(
      (asked) => {
        if (isPullDetailsQuery(asked) && !isChanged) {
          isChanged = true
          change(pull)
        }
        return false
      },
      { status: 502 },
    )
    const { snapshot, requests } = await readPullInOneRequest(pull)
    take()
    expect(requests).toBeGreaterThan(2)
    expect(snapshot).toEqual(await readPullWithSeparateQueries(pull))
  },
)

describe('data that one request does not return is read list by list', () => {
  test('more than a page', async () => {
    const pull = await openPullRequest()
    for (let at = 0; at < 31; at++) github.review(pull, 'bob', 'comment', `review ${at}`)
    const { snapshot, requests } = await readPullInOneRequest(pull)
    expect(snapshot?.reviews).toHaveLength(31)
    expect(requests).toBeGreaterThan(2)
  })

  test('a server that lags behind, and returns fewer comments than the pull request counts', async () => {
    const pull = await openPullRequest()
    github.comment(pull, 'bob', 'first')
    const answer = await fetchPullFieldsInOneQuery(pull)
    github.comment(pull, 'bob', '/hold')
    github.fail(isPullDetailsQuery, { status: 200, body: answer })
    const { snapshot } = await readPullInOneRequest(pull)
    expect(snapshot?.comments.map(({ body }) => body)).toEqual(['first', '/hold'])
  })

  test.each(['not found', 'an error beside it'])('a failed response: %s', async (what) => {
    const pull = await openPullRequest()
    github.comment(pull, 'bob', 'hello')
    const answer = await fetchPullFieldsInOneQuery(pull)
    const errors = [{ type: 'FORBIDDEN', path: ['repository'], message: 'Resource not accessible' }]
    const body = what === 'not found' ? { data: { repository: null } } : { ...answer, errors }
    github.fail(isPullDetailsQuery, { status: 200, body })
    const { snapshot, present } = await readPullInOneRequest(pull)
    expect(snapshot?.comments.map(({ body: text }) => text)).toEqual(['hello'])
    expect(present).toBeUndefined()
  })
})

/** GitHub's current response to the combined request. */
async function fetchPullFieldsInOneQuery(pull: MockPull): Promise<{ data: unknown }> {
  const query = `query ($owner: String!, $name: String!, $pull: Int!, $head: GitObjectID!) {
    repository(owner: $owner, name: $name) {
      defaultBranchRef { name }
      ref(qualifiedName: "refs/heads/main") { target { oid } }
      object(oid: $head) { ... on Commit { checkSuites(filterBy: { appId: 1 }) { totalCount nodes { id } } } }
      pullRequest(number: $pull) { ...ShownPull }
    }
  }
  ${graphqlPullFragment}`
  const variables = { owner: repo.owner, name: repo.repo, pull: pull.number, head: pull.headSha }
  return { data: await octokit.graphql(query, variables) }
}

test('the default branch is cached, and requested again without `allowCached`', async () => {
  const pull = await openPullRequest()
  await readPullInOneRequest(pull)
  const before = github.requests.length
  expect(await githubForge.defaultBranch({ allowCached: true })).toBe('main')
  expect(github.requests.length - before).toBe(0)
  expect(await githubForge.defaultBranch()).toBe('main')
  expect(github.requests.length - before).toBe(1)
})

test('a deleted account is read the same in two requests and list by list', async () => {
  const pull = await openPullRequest()
  github.comment(pull, 'outsider', 'bye')
  const outsider = github.account('outsider')
  outsider.deleted = true
  try {
    expect((await readPullInOneRequest(pull)).snapshot).toEqual(await readPullWithSeparateQueries(pull))
  } finally {
    outsider.deleted = false
  }
})
