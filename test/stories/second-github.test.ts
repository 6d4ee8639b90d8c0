// From pull request to merge on an independent imitation of GitHub: emulate, with git served next to it. Our sandbox
// shares our misunderstandings. What emulate lacks is added by name, and a test proves each gap.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addVersionToChannelStart } from '../../sandbox/demo/catalog-edits.ts'
import type { BotProcess } from '../../sandbox/demo/bot-process.ts'
import { pushCatalogImages, readDemoCatalogFiles } from '../../sandbox/demo/demo-environment.ts'
import { startMockRegistry, type MockRegistry } from '../../sandbox/registry/registry.ts'
import { githubApiVersion } from '../../src/adapters/github/github-fetch.ts'
import { botCheckNames } from './merge-table/table-row.ts'
import { startSecondGitHub, createUserToken, type SecondGitHubServer } from './second-github/second-github.ts'
import { pushFiles } from './second-github/push-files.ts'
import { startStoryBot, waitUntil } from './story-environment.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { getRequiredBotChecks } from '../../src/policy/decide.ts'
import { toPrefixedCheckNames } from '../../src/report/report-options.ts'

const repositoryName = 'coast/operators'
const appPermissions = {
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  actions: 'read',
  metadata: 'read',
  members: 'read',
}
const webhookEvents = [
  'pull_request',
  'pull_request_review',
  'issue_comment',
  'check_run',
  'check_suite',
  'push',
]
const webhookSecret = 'a secret of this story'

interface GitHubPullState {
  readonly number: number
  readonly state: string
  readonly merged: boolean
  readonly merge_commit_sha: string | null
  readonly head: { readonly sha: string }
}

describe('on an independent imitation of GitHub', () => {
  let directory: string
  let registry: MockRegistry
  let github: SecondGitHubServer
  let bot: BotProcess
  let files: Record<string, string>
  const log: string[] = []

  /** Sends a request through the bot's address, with a user's token. */
  async function as<T>(login: string, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${github.url}/repos/${path}`, {
      method,
      headers: { authorization: `token ${createUserToken(login)}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const pullNow = (number: number) =>
    as<GitHubPullState>('harbormaster', 'GET', `${repositoryName}/pulls/${number}`)
  const checks = async (sha: string) =>
    (
      await as<{ check_runs: { name: string; conclusion: string; output: { summary: string } }[] }>(
        'harbormaster',
        'GET',
        `${repositoryName}/commits/${sha}/check-runs?per_page=100`,
      )
    ).check_runs
  const comment = async (number: number) =>
    (
      await as<{ body: string; user: { login: string } }[]>(
        'harbormaster',
        'GET',
        `${repositoryName}/issues/${number}/comments`,
      )
    ).filter(({ body }) => body.startsWith('<!-- catalog-bot'))

  /** A user edits a file in their fork and opens a pull request. */
  async function openPull(
    login: string,
    branch: string,
    path: string,
    text: string,
  ): Promise<GitHubPullState> {
    const fork = `${login}/operators`
    await pushFiles(github, { repository: fork, login, branch, from: 'main', files: { [path]: text } })
    const pull = { title: branch, head: `${login}:${branch}`, base: 'main' }
    return as(login, 'POST', `${repositoryName}/pulls`, pull)
  }

  function newVersion(name: string, version: string, replaces: string): [string, string] {
    const path = `catalogs/v4.20/${name}/catalog.yaml`
    const text = addVersionToChannelStart(files[path] ?? '', name, version, replaces)
    pushCatalogImages(registry, text, (bundle) => bundle === `${name}.v${version}`)
    return [path, text]
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'second-github-'))
    registry = await startMockRegistry()
    files = {
      ...readDemoCatalogFiles(registry.host),
      '.github/catalog-bot.yml': '# nothing is rebuilt here\n',
    }
    for (const [path, text] of Object.entries(files))
      if (path.startsWith('catalogs/')) pushCatalogImages(registry, text)
    github = await startSecondGitHub({
      directory,
      webhookSecret,
      permissions: appPermissions,
      events: webhookEvents,
      organization: 'coast',
      administrator: 'harbormaster',
      people: ['alice', 'bob', 'carol', 'mallory'],
      repository: 'operators',
    })
    await github.git.create(repositoryName)
    await pushFiles(github, { repository: repositoryName, login: 'harbormaster', branch: 'main', files })
    await as('harbormaster', 'PUT', `${repositoryName}/branches/main/protection`, {
      required_status_checks: { strict: false, contexts: botCheckNames },
      enforce_admins: true,
      required_pull_request_reviews: null,
      restrictions: null,
    })
    for (const login of ['alice', 'carol', 'mallory']) await as(login, 'POST', `${repositoryName}/forks`, {})
    bot = await startStoryBot({
      environment: {
        APP_ID: String(github.appId),
        PRIVATE_KEY: github.privateKey,
        WEBHOOK_SECRET: webhookSecret,
        GITHUB_API_URL: github.url,
        GITHUB_URL: github.url,
        GITHUB_THROTTLE: 'off',
        DATA_DIR: join(directory, 'bot'),
        SWEEP_SECONDS: '300',
        INSECURE_REGISTRIES: registry.host,
      },
      onLog: (line) => log.push(line),
    })
    github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
  })

  afterAll(async () => {
    await bot?.kill('SIGKILL')
    await github?.stop()
    await registry?.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  })

  test('an owner’s pull request is checked, merged as it was checked, and shown as merged', async () => {
    const before = (await github.git.git(repositoryName, ['rev-parse', 'main'])).trim()
    const opened = await openPull('alice', 'lighthouse-1.2.0', ...newVersion('lighthouse', '1.2.0', '1.1.0'))
    await waitUntil('it is merged', async () => (await pullNow(opened.number)).merged, 30, log)

    const now = await pullNow(opened.number)
    expect(now.state).toBe('closed')
    const tip = (await github.git.git(repositoryName, ['rev-parse', 'main'])).trim()
    expect(now.merge_commit_sha).toBe(tip)
    expect((await github.git.git(repositoryName, ['log', '-1', '--format=%P', 'main'])).trim()).toBe(
      `${before} ${opened.head.sha}`,
    )
    const ref = await as<{ object: { sha: string } }>('alice', 'GET', `${repositoryName}/git/ref/heads/main`)
    expect(ref.object.sha).toBe(tip)
    for (const name of toPrefixedCheckNames(getRequiredBotChecks(defaultConfig)))
      expect(await checks(opened.head.sha)).toContainEqual(
        expect.objectContaining({ name, conclusion: 'success' }),
      )
    await waitUntil(
      'it is said',
      async () => /[Mm]erged/.test((await comment(opened.number))[0]?.body ?? ''),
      10,
      log,
    )
    expect(await comment(opened.number)).toHaveLength(1)
  })

  test("a pull request by another author stays open, names the owner, and is merged after the owner's approval", async () => {
    const opened = await openPull('mallory', 'tidepool-0.6.0', ...newVersion('tidepool', '0.6.0', '0.5.0'))
    await waitUntil('it is said', async () => (await comment(opened.number)).length === 1, 30, log)
    const [said] = await comment(opened.number)
    expect(said).toMatchObject({ user: { login: 'catalog-bot[bot]' }, body: expect.stringContaining('bob') })
    const ownership = (await checks(opened.head.sha)).find(({ name }) => name === 'catalog-bot / ownership')
    expect(ownership?.conclusion).not.toBe('success')
    expect(ownership?.output.summary).toContain('bob')
    expect(await pullNow(opened.number)).toMatchObject({ state: 'open', merged: false })

    await as('bob', 'POST', `${repositoryName}/pulls/${opened.number}/reviews`, { event: 'APPROVE' })
    await waitUntil('it is merged', async () => (await pullNow(opened.number)).merged, 30, log)
    expect((await github.git.git(repositoryName, ['log', '-1', '--format=%P', 'main'])).trim()).toMatch(
      new RegExp(` ${opened.head.sha}$`),
    )
  })

  test('a branch that requires our checks rejects a push without them, and accepts our merge with them', async () => {
    const path = 'catalogs/v4.20/foghorn/catalog.yaml'
    const opened = () => openPull('carol', 'foghorn-2.2.0', ...newVersion('foghorn', '2.2.0', '2.1.0'))
    const pushed = {
      repository: repositoryName,
      login: 'harbormaster',
      branch: 'main',
      from: 'main',
      files: { [path]: '' },
    }
    await expect(pushFiles(github, pushed)).rejects.toThrow('Protected branch update failed')
    const { number, head } = await opened()
    await waitUntil('it is merged', async () => (await pullNow(number)).merged, 30, log)
    const tip = (await github.git.git(repositoryName, ['rev-parse', 'main'])).trim()
    expect((await github.git.git(repositoryName, ['log', '-1', '--format=%P', tip])).trim()).toMatch(
      new RegExp(` ${head.sha}$`),
    )
    for (const name of botCheckNames)
      expect(await checks(tip)).toContainEqual(expect.objectContaining({ name, conclusion: 'success' }))
    // As git reports it, because the branch was removed over git.
    const isGone = async () =>
      (await github.git.git(repositoryName, ['for-each-ref', 'refs/heads/catalog-bot/'])).trim() === ''
    await waitUntil('the temporary branch is gone', isGone, 30, log)
  })

  test('every request of the bot names the API version', () => {
    const own = github.recordedRequests.filter(({ token }) => /^(ghs_|eyJ)/.test(token))
    expect(own.length).toBeGreaterThan(20)
    expect(new Set(own.map(({ apiVersion }) => apiVersion))).toEqual(new Set([githubApiVersion]))
  })

  test('every gap of emulate that is filled here was needed', () => {
    const unneeded = github.gaps.map(({ name }) => name).filter((name) => !github.closedGaps.has(name))
    expect(unneeded).toEqual([])
  })
})
