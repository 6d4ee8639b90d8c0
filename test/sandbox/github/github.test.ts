import { afterAll, describe, expect, test } from '@jest/globals'
import { createHmac } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  fullRepositoryName,
  startGitHubFixture,
  runGit,
  repo,
  webhookSecret,
  createPullOptions,
} from './github-fixture.ts'

const githubFixture = await startGitHubFixture()
const { github, installation, octokit } = githubFixture
afterAll(async () => githubFixture.stop())

describe('an owner opens a pull request', () => {
  test('its REST response, its webhook, and its ref have the same head', async () => {
    const pull = await github.openPull({
      repository: fullRepositoryName,
      author: 'alice',
      title: 'Update alpha',
      changes: {
        'catalogs/v4.18/alpha/catalog.yaml': 'schema: olm.package\nname: alpha\ndefaultChannel: stable\n',
      },
    })
    await github.settled()
    const { data } = await octokit.rest.pulls.get({ ...repo, pull_number: pull.number })
    expect(data.head).toMatchObject({ sha: pull.headSha, repo: { full_name: 'alice/community', fork: true } })
    expect(data).toMatchObject({ state: 'open', changed_files: 1, commits: 1, additions: 1, deletions: 0 })
    const opened = githubFixture.receiver.received.find((one) => one.event === 'pull_request')
    expect(opened?.payload).toMatchObject({
      action: 'opened',
      number: pull.number,
      installation: { id: installation.id },
    })
    expect(opened?.payload['pull_request']).toMatchObject({ head: { sha: pull.headSha } })
    const refs = await runGit(
      githubFixture.directory,
      await githubFixture.token(),
      'ls-remote',
      `${github.url}/${fullRepositoryName}.git`,
    )
    expect(refs).toContain(`${pull.headSha}\trefs/pull/${pull.number}/head`)
  })

  test('mergeable is null at first, and set on a later read', async () => {
    const { data: first } = await octokit.rest.pulls.create({
      ...repo,
      title: 'From the bot itself',
      head: await pushBranch('by-bot', { 'new.txt': 'new\n' }),
      base: 'main',
    })
    expect(first.mergeable).toBeNull()
    const pull_number = first.number
    expect((await octokit.rest.pulls.get({ ...repo, pull_number })).data.mergeable).toBeNull()
    await github.settled()
    const { data: later } = await octokit.rest.pulls.get({ ...repo, pull_number })
    expect(later).toMatchObject({ mergeable: true, mergeable_state: 'clean' })
    expect(later.merge_commit_sha).toMatch(/^[0-9a-f]{40}$/)
  })
})

async function pushBranch(short: string, files: Record<string, string>): Promise<string> {
  await github.pushToBase(fullRepositoryName, files, { branch: short })
  return short
}

describe('git over HTTP', () => {
  test('a push that contains the head marks the pull request as merged', async () => {
    const pull = await github.openPull(
      createPullOptions('Beta', { 'catalogs/v4.18/beta/x.yaml': 'a: 1\n' }, { author: 'bob' }),
    )
    const work = join(githubFixture.directory, 'work')
    await mkdir(work)
    const token = await githubFixture.token()
    await runGit(work, token, 'clone', '-q', `${github.url}/${fullRepositoryName}.git`, '.')
    await runGit(work, token, 'fetch', '-q', 'origin', `refs/pull/${pull.number}/head`)
    await runGit(work, token, 'merge', '-q', '--no-ff', '-m', 'Land', 'FETCH_HEAD')
    await runGit(work, token, 'push', '-q', 'origin', 'HEAD:main')
    const mergedTip = await runGit(work, token, 'rev-parse', 'HEAD')
    const { data } = await octokit.rest.pulls.get({ ...repo, pull_number: pull.number })
    expect(data).toMatchObject({ state: 'closed', merged: true, merge_commit_sha: mergedTip })
    expect(data.merged_by?.login).toBe('catalog-bot[bot]')
    await github.settled()
    const receivedActions = githubFixture.receiver.received
      .filter((one) => one.payload['number'] === pull.number)
      .map((one) => one.payload)
    expect(receivedActions.at(-1)).toMatchObject({ action: 'closed', pull_request: { merged: true } })
    expect(github.requests.some((one) => one.template.endsWith('/merge'))).toBe(false)
  })
})

test('a webhook is signed over its raw bytes and carries the headers of GitHub', () => {
  const { headers, body } = githubFixture.receiver.received[0] ?? throwNoWebhookReceived()
  const signature = createHmac('sha256', webhookSecret).update(body).digest('hex')
  expect(headers['x-hub-signature-256']).toBe(`sha256=${signature}`)
  expect(headers).toMatchObject({
    'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-github-hook-installation-target-id': String(githubFixture.app.id),
    'x-github-hook-installation-target-type': 'integration',
  })
})

function throwNoWebhookReceived(): never {
  throw new Error('nothing was received')
}
