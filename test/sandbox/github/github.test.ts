import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHmac } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { full, furnish, git, name, secret } from './sample-world.ts'
import type { Furnished } from './sample-world.ts'

let it: Furnished
beforeAll(async () => {
  it = await furnish()
})
afterAll(async () => it.stop())

describe('an owner opens a pull request', () => {
  test('its REST answer, its webhook and its ref tell the same head', async () => {
    const pull = await it.github.openPull({
      repository: full,
      author: 'alice',
      title: 'Update alpha',
      changes: {
        'catalogs/v4.18/alpha/catalog.yaml': 'schema: olm.package\nname: alpha\ndefaultChannel: stable\n',
      },
    })
    await it.github.settled()
    const { data } = await it.octokit.rest.pulls.get({ ...name, pull_number: pull.number })
    expect(data.head).toMatchObject({ sha: pull.headSha, repo: { full_name: 'alice/community', fork: true } })
    expect(data).toMatchObject({ state: 'open', changed_files: 1, commits: 1, additions: 1, deletions: 0 })
    const opened = it.receiver.received.find((one) => one.event === 'pull_request')
    expect(opened?.payload).toMatchObject({
      action: 'opened',
      number: pull.number,
      installation: { id: it.installation.id },
    })
    expect(opened?.payload['pull_request']).toMatchObject({ head: { sha: pull.headSha } })
    const refs = await git(it.directory, await it.token(), 'ls-remote', `${it.github.url}/${full}.git`)
    expect(refs).toContain(`${pull.headSha}\trefs/pull/${pull.number}/head`)
  })

  test('mergeable is null at first and known at the next look', async () => {
    const { data: first } = await it.octokit.rest.pulls.create({
      ...name,
      title: 'From the bot itself',
      head: await branch('by-bot', { 'new.txt': 'new\n' }),
      base: 'main',
    })
    expect(first.mergeable).toBeNull()
    const pull_number = first.number
    expect((await it.octokit.rest.pulls.get({ ...name, pull_number })).data.mergeable).toBeNull()
    await it.github.settled()
    const { data: later } = await it.octokit.rest.pulls.get({ ...name, pull_number })
    expect(later).toMatchObject({ mergeable: true, mergeable_state: 'clean' })
    expect(later.merge_commit_sha).toMatch(/^[0-9a-f]{40}$/)
  })
})

async function branch(short: string, files: Record<string, string>): Promise<string> {
  await it.github.pushToBase(full, files, { branch: short })
  return short
}

describe('git over HTTP', () => {
  test('a push that contains the head marks the pull request as merged', async () => {
    const pull = await it.github.openPull({
      repository: full,
      author: 'bob',
      title: 'Beta',
      changes: { 'catalogs/v4.18/beta/x.yaml': 'a: 1\n' },
    })
    const work = join(it.directory, 'work')
    await mkdir(work)
    const token = await it.token()
    await git(work, token, 'clone', '-q', `${it.github.url}/${full}.git`, '.')
    await git(work, token, 'fetch', '-q', 'origin', `refs/pull/${pull.number}/head`)
    await git(work, token, 'merge', '-q', '--no-ff', '-m', 'Land', 'FETCH_HEAD')
    await git(work, token, 'push', '-q', 'origin', 'HEAD:main')
    const landed = await git(work, token, 'rev-parse', 'HEAD')
    const { data } = await it.octokit.rest.pulls.get({ ...name, pull_number: pull.number })
    expect(data).toMatchObject({ state: 'closed', merged: true, merge_commit_sha: landed })
    expect(data.merged_by?.login).toBe('catalog-bot[bot]')
    await it.github.settled()
    const told = it.receiver.received
      .filter((one) => one.payload['number'] === pull.number)
      .map((one) => one.payload)
    expect(told.at(-1)).toMatchObject({ action: 'closed', pull_request: { merged: true } })
    expect(it.github.requests.some((one) => one.template.endsWith('/merge'))).toBe(false)
  })
})

test('a webhook is signed over its raw bytes and carries the headers of GitHub', () => {
  const { headers, body } = it.receiver.received[0] ?? never()
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  expect(headers['x-hub-signature-256']).toBe(`sha256=${signature}`)
  expect(headers).toMatchObject({
    'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-github-hook-installation-target-id': String(it.app.id),
    'x-github-hook-installation-target-type': 'integration',
  })
})

function never(): never {
  throw new Error('nothing was received')
}
