// The environment of all rows of the table: one sandbox GitHub, one registry, and one App with the permissions and
// events from app.yml, installed on a repository for each row.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAppManifest } from '../../../sandbox/demo/bot-environment.ts'
import { addVersionToChannelStart } from '../../../sandbox/demo/catalog-edits.ts'
import { pushCatalogImages, readDemoCatalogFiles } from '../../../sandbox/demo/demo-environment.ts'
import {
  startMockGitHub,
  type GitHubTrafficValidator,
  type MockGitHub,
} from '../../../sandbox/github/github.ts'
import { generatePrivateKey } from '../../../sandbox/github/github-admin.ts'
import type { MockApp, Installation } from '../../../sandbox/github/github-data.ts'
import { startMockRegistry, type MockRegistry } from '../../../sandbox/registry/registry.ts'
import type { MergeTableRowPull, MergeTableRow } from './table-row.ts'

const catalogPath = 'catalogs/v4.20/lighthouse/catalog.yaml'
const organizationName = 'coast'

export interface PreparedMergeTableRow extends MergeTableRowPull {
  readonly row: MergeTableRow
  /** The base's tip after the setup. */
  readonly base: string
}

export interface MergeTableFixture {
  readonly directory: string
  readonly github: MockGitHub
  readonly registry: MockRegistry
  readonly app: MockApp
  readonly installation: Installation
  /** The environment variables that a bot needs to serve all repositories. */
  readonly environment: Readonly<Record<string, string>>
  /** A repository with the row's settings, and its pull request in the row's situation. */
  openRow(row: MergeTableRow, name: string): Promise<PreparedMergeTableRow>
  stop(): Promise<void>
}

export async function createMergeTableFixture(
  options: { readonly validator?: GitHubTrafficValidator } = {},
): Promise<MergeTableFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'landing-table-'))
  const registry = await startMockRegistry()
  const github = await startMockGitHub({ directory: join(directory, 'github'), ...options })
  for (const login of ['harbormaster', 'alice', 'bob', 'carol']) github.createUser(login)
  github.createOrganization(organizationName, ['harbormaster'])
  const manifestAccess = readAppManifest()
  const privateKey = generatePrivateKey()
  const webhookSecret = randomBytes(24).toString('hex')
  const app = github.createApp({ slug: 'catalog-bot', privateKey, webhookSecret, ...manifestAccess })
  const otherApp = github.createApp({
    slug: 'somebody-elses',
    privateKey,
    webhookSecret,
    events: [],
    permissions: { checks: 'write' },
  })
  const installation = github.install(app, github.account(organizationName), [])

  const all = readDemoCatalogFiles(registry.host)
  const files = Object.fromEntries(
    Object.entries(all).filter(
      ([path]) => path === catalogPath || /^(config\.yaml|operators\/lighthouse\/)/.test(path),
    ),
  )
  const text = all[catalogPath] ?? ''
  const changed = addVersionToChannelStart(text, 'lighthouse', '1.2.0', '1.1.0')
  pushCatalogImages(registry, changed)

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
    async openRow(row, name) {
      const full = `${organizationName}/${name}`
      const config = 'owners:\n  sources: [ci.yaml, config.yaml]\n'
      const repository = await github.createRepository(organizationName, name, {
        files: { ...files, '.github/catalog-bot.yml': config, ...row.files },
      })
      for (const login of ['bob', 'carol']) github.setRole(full, login, 'write')
      const changes = (row.pull?.changes ?? { [catalogPath]: changed }) as Record<string, string>
      const pull = await github.openPull({
        repository: full,
        author: 'alice',
        title: 'lighthouse 1.2.0',
        changes,
        ...row.pull,
      })
      if (row.behind !== false)
        await github.pushToBase(full, { 'NOTES.md': 'Meanwhile.\n' }, { by: 'harbormaster' })
      const opened: MergeTableRowPull = { github, full, app, otherApp, pull, changes }
      await row.set(opened)
      await row.before?.(opened)
      // Last, so that the bot evaluates nothing before the setup is complete.
      github.changeInstallation(installation, [full])
      return { ...opened, row, base: repository.knownRefs.get('refs/heads/main') ?? '' }
    },
    async stop() {
      await github.stop()
      await registry.stop()
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
