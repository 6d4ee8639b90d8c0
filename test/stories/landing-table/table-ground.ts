// The ground on which all rows of the landing table play: one GitHub and one registry of the sandbox, one App that is
// installed on a repository for each row, with the permissions and events that app.yml asks for.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { askedByApp } from '../../../sandbox/demo/asked-by-app.ts'
import { addOnTop } from '../../../sandbox/demo/catalog-edits.ts'
import { publishImages, readFixture } from '../../../sandbox/demo/demo-world.ts'
import { startGitHub, type GitHub } from '../../../sandbox/github/github.ts'
import { newPrivateKey } from '../../../sandbox/github/settings.ts'
import type { App, Installation } from '../../../sandbox/github/world.ts'
import { startRegistry, type Registry } from '../../../sandbox/registry/registry.ts'
import type { Opened, Row } from './row.ts'

const run = promisify(execFile)
const catalog = 'catalogs/v4.20/lighthouse/catalog.yaml'
const organization = 'coast'

export interface Played extends Opened {
  readonly row: Row
  /** The base's tip when everything was set. */
  readonly base: string
}

export interface TableGround {
  readonly directory: string
  readonly github: GitHub
  readonly registry: Registry
  readonly app: App
  readonly installation: Installation
  /** What a bot needs in its environment to serve all of it. */
  readonly environment: Readonly<Record<string, string>>
  /** A repository with the row's settings, and its pull request in the row's situation. */
  stage(row: Row, name: string): Promise<Played>
  stop(): Promise<void>
}

/** git in a repository of the sandbox. */
export async function gitIn(path: string, ...args: string[]): Promise<string> {
  const environment = {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.invalid',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.invalid',
    LC_ALL: 'C',
  }
  return (await run('git', ['-C', path, ...args], { env: environment })).stdout.trim()
}

export async function openTableGround(): Promise<TableGround> {
  const directory = await mkdtemp(join(tmpdir(), 'landing-table-'))
  const registry = await startRegistry()
  const github = await startGitHub({ directory: join(directory, 'github') })
  for (const login of ['harbormaster', 'alice', 'bob', 'carol']) github.createUser(login)
  github.createOrganization(organization, ['harbormaster'])
  const asked = askedByApp()
  const privateKey = newPrivateKey()
  const webhookSecret = randomBytes(24).toString('hex')
  const app = github.createApp({ slug: 'catalog-bot', privateKey, webhookSecret, ...asked })
  const otherApp = github.createApp({
    slug: 'somebody-elses',
    privateKey,
    webhookSecret,
    events: [],
    permissions: { checks: 'write' },
  })
  const installation = github.install(app, github.account(organization), [])

  const all = readFixture(registry.host)
  const files = Object.fromEntries(
    Object.entries(all).filter(
      ([path]) => path === catalog || /^(config\.yaml|operators\/lighthouse\/)/.test(path),
    ),
  )
  const text = all[catalog] ?? ''
  const changed = addOnTop(text, 'lighthouse', '1.2.0', '1.1.0')
  publishImages(registry, changed)

  return {
    directory,
    github,
    registry,
    app,
    installation,
    environment: {
      APP_ID: String(app.id),
      PRIVATE_KEY: privateKey,
      WEBHOOK_SECRET: webhookSecret,
      GITHUB_API_URL: github.url,
      GITHUB_URL: github.url,
      GITHUB_THROTTLE: 'off',
      DATA_DIR: join(directory, 'bot'),
      INSECURE_REGISTRIES: registry.host,
      SCAN_SECONDS: '0',
    },
    async stage(row, name) {
      const full = `${organization}/${name}`
      const config = 'owners:\n  sources: [ci.yaml, config.yaml]\n'
      const repository = await github.createRepository(organization, name, {
        files: { ...files, '.github/catalog-bot.yml': config, ...row.files },
      })
      for (const login of ['bob', 'carol']) github.setRole(full, login, 'write')
      const changes = (row.pull?.changes ?? { [catalog]: changed }) as Record<string, string>
      const pull = await github.openPull({
        repository: full,
        author: 'alice',
        title: 'lighthouse 1.2.0',
        changes,
        ...row.pull,
      })
      if (row.behind !== false)
        await github.pushToBase(full, { 'NOTES.md': 'Meanwhile.\n' }, { by: 'harbormaster' })
      const opened: Opened = { github, full, app, otherApp, pull, changes }
      await row.set(opened)
      await row.before?.(opened)
      // Last, so that nobody looks before all is as the row says.
      github.changeInstallation(installation, [full])
      return { ...opened, row, base: repository.known.get('refs/heads/main') ?? '' }
    },
    async stop() {
      await github.stop()
      await registry.stop()
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
