// The repositories that the App is installed on, which are public only if GitHub reports them as public.
import { afterAll, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startMockGitHub } from '../../../sandbox/github/github.ts'
import { generatePrivateKey } from '../../../sandbox/github/github-admin.ts'
import { GitHubApp } from '../../../src/adapters/github/github-app.ts'
import type { RemainingRateLimit } from '../../../src/adapters/github/budget/installation-budgets.ts'
import { realTimeClock } from '../store/sample-records.ts'

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'installed-'))
const remainingRateLimits: RemainingRateLimit[] = []
const mockGitHub = await startMockGitHub({ directory: temporaryDirectory })
mockGitHub.createOrganization('coast', [])
await mockGitHub.createRepository('coast', 'open')
await mockGitHub.createRepository('coast', 'hidden', { private: true })
const privateKey = generatePrivateKey()
const given = {
  slug: 'bot',
  privateKey,
  webhookSecret: 'secret',
  events: [],
  permissions: { contents: 'read' },
} as const
const { app: registered } = mockGitHub.installApp(given, ['coast/open', 'coast/hidden'])
const githubApp = new GitHubApp({
  appId: registered.id,
  privateKey,
  webhookSecret: 'secret',
  apiUrl: mockGitHub.url,
  throttle: false,
  clock: realTimeClock,
  log: pino({ level: 'silent' }),
  onRemaining: (remaining) => remainingRateLimits.push(remaining),
})
afterAll(async () => {
  await mockGitHub.stop()
  rmSync(temporaryDirectory, { recursive: true, force: true })
})

test('a repository is public only if GitHub reports it as public', async () => {
  const all = await githubApp.installedRepositories()
  expect(all.map(({ repository: { name }, isPublic }) => [name, isPublic])).toEqual([
    ['open', true],
    ['hidden', false],
  ])
})

test('the remaining quota is reported with the limit', async () => {
  const [one] = await githubApp.installedRepositories()
  const octokit = await githubApp.octokit(one?.installation ?? 0)
  remainingRateLimits.length = 0
  await octokit.rest.repos.get({ owner: 'coast', repo: 'open' })
  expect(remainingRateLimits).toEqual([
    { installation: one?.installation, resource: 'core', remaining: expect.any(Number), limit: 5000 },
  ])
})
