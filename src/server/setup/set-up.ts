// Shows the setup page until an App exists, and then starts catalog-bot with a page that lists the App's installations.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { parse } from 'yaml'
import { systemClock } from '../../adapters/system-clock.ts'
import {
  createAppInstalledPageHandler,
  type InstalledRepositoryBranches,
  type InstalledRepositoryBranch,
} from '../../web/setup/installed-page.ts'
import { createSetupToken, startSetupServer, type CreatedApp } from '../../web/setup/setup-page.ts'
import { startBotServer, type RunningBotServer } from '../serve.ts'
import { assertSafeCredentialsFile, saveAppCredentials } from '../../jobs/saved-credentials.ts'
import type { AppCredentials, BotSettings } from '../../jobs/settings.ts'
import { allRules } from '../../checks/all-rules.ts'
import { parseConfigFile } from '../../config/config-file.ts'
import { configPath } from '../../config/config-path.ts'
import { defaultConfig } from '../../config/config.ts'
import { toMergePlanInput } from '../../evaluate/merge-plan-input.ts'
import { chooseMergeStrategy } from '../../policy/choose-merge-strategy.ts'
import { buildRecommendedRulesets } from '../../policy/merge-advice.ts'
import { GitHubForge } from '../../adapters/github/forge.ts'
import type { GitHubApp, InstalledRepository } from '../../adapters/github/github-app.ts'
import { readRepositoryFile } from '../../adapters/github/forge-lookup.ts'
import { npmPackageFolder } from '../../adapters/package-metadata.ts'

/** Each costs several requests. */
const maxDescribedRepositories = 12

const knownRuleIds = new Set(allRules.map(({ id }) => id))

/** Milliseconds after the App's creation for which the token shows its installations. */
const setupTokenTtlMs = 60 * 60_000

export interface SetUpOptions {
  readonly settings: BotSettings
  readonly log: Logger
  readonly print: (line: string) => void
  readonly onServing: (app: RunningBotServer) => void
}

/** Resolves when the page is served. Rejects if the port is taken. */
export async function startSetup(options: SetUpOptions): Promise<{ close(): Promise<void> }> {
  const { settings, log, print, onServing } = options
  assertSafeCredentialsFile(settings.dataDirectory)
  const token = createSetupToken()
  let running: RunningBotServer | undefined
  const page = await startSetupServer({
    host: settings.setupHost,
    port: settings.port,
    token,
    gitUrl: settings.gitUrl,
    apiUrl: settings.apiUrl,
    publicUrl: settings.publicUrl,
    sweepSeconds: settings.sweepSeconds,
    manifest: readAppManifest(),
    onCreated: async (app) => {
      const file = saveAppCredentials(app, settings.dataDirectory)
      print(`Created the App ${app.slug} (${app.id}). Its credentials are in ${file}.`)
      print(`Install the App on your catalog repository: ${app.url}/installations/new`)
      // Send this response first.
      setTimeout(() => {
        startBot(app).catch((error: unknown) =>
          print(`catalog-bot could not start: ${error instanceof Error ? error.message : String(error)}`),
        )
      }, 500)
    },
  })

  async function startBot(app: CreatedApp): Promise<void> {
    await page.close()
    const credentials: AppCredentials = {
      appId: app.id,
      privateKey: app.pem,
      webhookSecret: app.webhookSecret,
    }
    running = await startBotServer({ ...settings, credentials, port: page.port }, credentials, log, {
      page: (github) =>
        createAppInstalledPageHandler({
          token,
          appUrl: app.url,
          gitUrl: settings.gitUrl,
          now: () => systemClock.now(),
          until: systemClock.now() + setupTokenTtlMs,
          describe: () => describeInstalledRepositories(github),
        }),
    })
    onServing(running)
  }

  print('catalog-bot has no credentials yet (APP_ID, PRIVATE_KEY, WEBHOOK_SECRET).')
  for (const line of formatSetupInstructions(settings, page.port, token)) print(line)
  return {
    async close() {
      await page.close().catch(() => undefined)
      await running?.close()
    },
  }
}

function formatSetupInstructions({ setupHost }: BotSettings, port: number, token: string): readonly string[] {
  const path = `/setup?word=${token}`
  const local = `http://localhost:${port}${path}`
  return setupHost === '127.0.0.1'
    ? [
        `Open this URL on this machine to create the GitHub App: ${local}`,
        'If catalog-bot runs in a container or on another machine, start it with SETUP=1 to make this page reachable from outside.',
      ]
    : [
        `Open this URL to create the GitHub App: ${local}`,
        'To open this URL from another machine, replace the host name and port with an address at which the other machine can reach this machine. Keep the URL secret, because anyone who has it can create the App.',
      ]
}

function readAppManifest(): Readonly<Record<string, unknown>> {
  return parse(readFileSync(join(npmPackageFolder, 'app.yml'), 'utf8')) as Record<string, unknown>
}

/** Rejects with a ForgeError. */
async function describeInstalledRepositories(github: GitHubApp): Promise<InstalledRepositoryBranches> {
  const installed = await github.installedRepositories()
  const described = installed.slice(0, maxDescribedRepositories)
  const branches = await Promise.all(described.map((one) => fetchInstalledRepositoryBranch(github, one)))
  return { branches, more: installed.length - described.length }
}

async function fetchInstalledRepositoryBranch(
  github: GitHubApp,
  { installation, repository }: InstalledRepository,
): Promise<InstalledRepositoryBranch> {
  const octokit = await github.octokit(installation)
  const forge = new GitHubForge(octokit, repository, github)
  const branch = await forge.defaultBranch()
  const [rules, permissions, file] = await Promise.all([
    forge.branchRules(branch),
    forge.permissions(),
    readRepositoryFile(octokit, repository, configPath, branch),
  ])
  const { config = defaultConfig, findings } =
    file === undefined ? { findings: [] } : parseConfigFile(file, knownRuleIds)
  const input = toMergePlanInput(config, { rules, permissions, app: github.appId })
  return {
    repository,
    branch,
    plan: chooseMergeStrategy(input),
    rulesets: buildRecommendedRulesets(branch, github.appId, input.checksToRequire),
    configProblems: findings.map(({ what }) => what),
  }
}
