// A sandbox GitHub and registry with the App, which the demo, the stories, and the benchmarks set up in different
// ways. Does not start catalog-bot.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { startMockGitHub, type MockGitHub, type GitHubTrafficValidator } from '../github/github.ts'
import { startMockRegistry, type MockRegistry } from '../registry/registry.ts'
import { generatePrivateKey } from '../github/github-admin.ts'
import { npmPackageFolder } from '../../src/adapters/package-metadata.ts'
import type { AppPermissions } from '../github/github-data.ts'

interface AppManifestPermissions {
  readonly permissions: AppPermissions
  readonly events: readonly string[]
}

export interface BotEnvironment {
  readonly github: MockGitHub
  readonly registry: MockRegistry
  /**
   * Installs the App in a repository (`owner/name`). Returns the environment variables that catalog-bot needs to
   * serve it.
   */
  readonly installBot: (repository: string, ...more: readonly string[]) => Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

export interface BotEnvironmentOptions {
  /** A folder for repositories and catalog-bot's data. */
  readonly directory: string
  readonly sweepSeconds?: number
  /** The hourly request limit of catalog-bot. Default: GitHub's 5000, which a fast simulation soon exceeds. */
  readonly hourlyLimit?: number
  /** Receives all traffic with GitHub. */
  readonly validator?: GitHubTrafficValidator
}

export async function startBotEnvironment(options: BotEnvironmentOptions): Promise<BotEnvironment> {
  const { directory, sweepSeconds = 300, hourlyLimit, validator } = options
  const registry = await startMockRegistry()
  const github = await startMockGitHub({
    directory: join(directory, 'github'),
    ...(hourlyLimit !== undefined && { hourlyLimit }),
    ...(validator && { validator }),
  })
  return {
    github,
    registry,
    installBot(repository, ...more) {
      const webhookSecret = randomBytes(24).toString('hex')
      const privateKey = generatePrivateKey()
      const bot = { slug: 'catalog-bot', privateKey, webhookSecret, ...readAppManifest() }
      const { app } = github.installApp(bot, [repository, ...more])
      return {
        APP_ID: String(app.id),
        PRIVATE_KEY: privateKey,
        WEBHOOK_SECRET: webhookSecret,
        GITHUB_API_URL: github.url,
        GITHUB_URL: github.url,
        GITHUB_THROTTLE: 'off',
        DATA_DIR: join(directory, 'bot'),
        SWEEP_SECONDS: String(sweepSeconds),
        INSECURE_REGISTRIES: registry.host,
      }
    },
    async stop() {
      await github.stop()
      await registry.stop()
    },
  }
}

/** The App's permissions and events from app.yml. An App in the sandbox has exactly these. */
export function readAppManifest(): AppManifestPermissions {
  const manifest = parse(readFileSync(join(npmPackageFolder, 'app.yml'), 'utf8')) as {
    default_permissions: AppPermissions
    default_events: string[]
  }
  return { permissions: manifest.default_permissions, events: manifest.default_events }
}
