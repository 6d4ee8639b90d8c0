// A sandbox GitHub with a small catalog, an app, and a receiver of webhooks, for the tests in this folder.
import { createSign } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Octokit } from '@octokit/rest'
import { generatePrivateKey } from '../../../sandbox/github/github-admin.ts'
import { runProcessViaLauncher } from '../../../src/adapters/git/launcher.ts'
import type { ProcessResult } from '../../../src/adapters/git/run-process.ts'
import { startMockGitHub, type MockGitHub, type MockGitHubOptions } from '../../../sandbox/github/github.ts'
import type { MockApp, Installation } from '../../../sandbox/github/github-data.ts'
import type { FileChangesByPath } from '../../../sandbox/github/git/git-store.ts'
import type { CreatePullOptions } from '../../../sandbox/github/user-actions.ts'
import { getTrafficValidator } from './traffic-validator.ts'

export const webhookSecret = 'a secret of the tests'
/** One key for all tests of a file, because generating one takes longer than most tests. */
export const privateKey = generatePrivateKey()

export const appWebhookEvents = [
  'pull_request',
  'pull_request_review',
  'issue_comment',
  'issues',
  'check_run',
  'check_suite',
  'push',
  'merge_group',
  'status',
  'workflow_run',
  'repository_dispatch',
  'branch_protection_rule',
  'deployment',
  'deployment_status',
  'pull_request_review_thread',
  'repository',
  'repository_ruleset',
]

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly event: string
  readonly payload: Record<string, any> // oxlint-disable-line @typescript-eslint/no-explicit-any
}

export interface WebhookReceiver {
  readonly url: string
  readonly received: ReceivedWebhook[]
  /** The status with which the receiver responds. */
  status: number
  close(): Promise<void>
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const event = String(request.headers['x-github-event'])
      received.push({
        headers: request.headers,
        body,
        event,
        payload: JSON.parse(body.toString()) as ReceivedWebhook['payload'],
      })
      response.writeHead(receiver.status).end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    status: 202,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

export interface GitHubFixture {
  readonly github: MockGitHub
  readonly app: MockApp
  readonly installation: Installation
  readonly receiver: WebhookReceiver
  readonly directory: string
  /** Octokit as the app (JWT) and as its installation. */
  readonly asApp: Octokit
  readonly octokit: Octokit
  /** Octokit with any other token. */
  client(token: string): Octokit
  token(options?: { repositoryNames?: string[]; permissions?: Record<string, string> }): Promise<string>
  stop(): Promise<void>
}

export const repo = { owner: 'catalogs', repo: 'community' }
export const fullRepositoryName = 'catalogs/community'

export const createPullOptions = (
  title: string,
  changes: FileChangesByPath,
  more: Partial<CreatePullOptions> = {},
): CreatePullOptions => ({ repository: fullRepositoryName, author: 'alice', title, changes, ...more })

export const allAppPermissions = {
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  statuses: 'write',
  actions: 'write',
  deployments: 'write',
  members: 'read',
} as const

export interface GitHubFixtureOptions extends Partial<MockGitHubOptions> {
  /** Compares all traffic with GitHub's OpenAPI document. */
  readonly validateTraffic?: boolean
}

export async function startGitHubFixture({
  validateTraffic,
  ...options
}: GitHubFixtureOptions = {}): Promise<GitHubFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'sandbox-'))
  const receiver = await startWebhookReceiver()
  const github = await startMockGitHub({
    directory,
    webhookTarget: receiver.url,
    ...(validateTraffic === true && { validator: getTrafficValidator() }),
    ...options,
  })
  for (const login of ['maintainer', 'alice', 'bob', 'outsider']) github.createUser(login)
  github.createOrganization('catalogs', ['maintainer'])
  const files = {
    'README.md': '# Catalog\n',
    'operators/alpha/ci.yaml': 'reviewers:\n  - alice\n',
    'catalogs/v4.18/alpha/catalog.yaml': 'schema: olm.package\nname: alpha\n',
    'catalogs/v4.18/beta/catalog.yaml': 'schema: olm.package\nname: beta\n',
  }
  await github.createRepository('catalogs', 'community', { files })
  const { app, installations } = github.installApp(
    {
      slug: 'catalog-bot',
      privateKey,
      webhookSecret,
      events: appWebhookEvents,
      permissions: allAppPermissions,
    },
    [fullRepositoryName],
  )
  const [installation] = installations
  if (installation === undefined) throw new Error('not installed')
  const quiet = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  }
  const client = (auth: string): Octokit => new Octokit({ auth, baseUrl: github.url, log: quiet })
  const asApp = client(signJwt({ iss: app.id }))
  const { data } = await asApp.rest.apps.createInstallationAccessToken({ installation_id: installation.id })
  const octokit = client(data.token)
  return {
    github,
    app,
    installation,
    receiver,
    directory,
    asApp,
    octokit,
    client,
    token: async (more = {}) => {
      const { data } = await asApp.rest.apps.createInstallationAccessToken({
        installation_id: installation.id,
        ...(more.permissions ? { permissions: more.permissions } : {}),
        ...(more.repositoryNames ? { repositories: more.repositoryNames } : {}),
      })
      return data.token
    },
    stop: async () => {
      await github.stop()
      await receiver.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** A JSON web token signed by an app, with optional defects. */
export function signJwt(
  claims: { iss: number | string; iat?: number; exp?: number },
  key = privateKey,
  alg = 'RS256',
): string {
  const now = Math.floor(Date.now() / 1000)
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg, typ: 'JWT' })}.${part({ iat: now - 30, exp: now + 500, ...claims })}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`
}

/** Runs git as a client, with a token if one is given. Rejects with its stderr in the message. */
export async function runGit(cwd: string, token: string | undefined, ...args: string[]): Promise<string> {
  const header =
    token === undefined ? [] : [`http.extraHeader=Authorization: Basic ${btoa(`x-access-token:${token}`)}`]
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.invalid',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.invalid',
  }
  const { code, stdout, stderr } = await runGitInDirectory(cwd, environment, [
    ...header.flatMap((it) => ['-c', it]),
    ...args,
  ])
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${String(code)}: ${stderr}`)
  return stdout.toString().trim()
}

/** Resolves with any exit code of git. */
export const runGitInDirectory = (
  directory: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<ProcessResult> =>
  runProcessViaLauncher({
    program: 'git',
    args,
    directory,
    environment,
    input: '',
    timeout: 120_000,
    limit: 1 << 26,
    hasGroup: false,
  })
