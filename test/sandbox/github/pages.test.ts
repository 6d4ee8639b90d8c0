import { afterAll, expect, test } from '@jest/globals'
import { fullRepositoryName, startGitHubFixture, repo, createPullOptions } from './github-fixture.ts'

const githubFixture = await startGitHubFixture()
const { github, installation, octokit } = githubFixture
afterAll(async () => githubFixture.stop())

test('pages show pull requests, check runs, and comments as escaped text', async () => {
  const pull = await github.openPull(createPullOptions('A <b>title</b>', { a: '1' }))
  await octokit.rest.checks.create({
    ...repo,
    name: 'validation',
    head_sha: pull.headSha,
    conclusion: 'failure',
  })
  github.comment(pull, 'bob', '<script>alert(1)</script>')
  const list = await fetch(`${github.url}/${fullRepositoryName}`)
  expect(list.headers.get('content-type')).toContain('text/html')
  expect(await list.text()).toContain(`href="/${fullRepositoryName}/pull/${pull.number}"`)
  const page = await (await fetch(`${github.url}/${fullRepositoryName}/pull/${pull.number}`)).text()
  expect(page).toContain('validation: failure')
  expect(page).toContain('&lt;script&gt;')
  expect(page).not.toMatch(/<script|<b>/)
})

test('a private repository has no page', async () => {
  await github.createRepository('catalogs', 'inner', { private: true })
  expect((await fetch(`${github.url}/catalogs/inner`)).status).toBe(404)
})

test('a 304 response does not count against the hourly limit', async () => {
  const { headers } = await octokit.rest.repos.get(repo)
  const before = installation.remaining
  const ask = octokit.rest.repos.get({ ...repo, headers: { 'if-none-match': headers.etag ?? '' } })
  await expect(ask).rejects.toMatchObject({ status: 304 })
  expect(installation.remaining).toBe(before)
})
