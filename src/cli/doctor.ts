// `doctor`: diagnoses installation, permissions, events, deliveries, branch rules, the clock, and registries. It is read-only.
// It authenticates as the App if the App's credentials are in the environment or were stored by the setup page, otherwise with a
// token from the environment, which is never an argument, because other users of the machine can read arguments.
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Octokit } from '@octokit/rest'
import pino from 'pino'
import { parse } from 'yaml'
import { readSavedAppCredentials } from '../jobs/saved-credentials.ts'
import { readSettings, type BotSettings } from '../jobs/settings.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import { parseConfig, type Config } from '../config/config.ts'
import { toMergePlanInput } from '../evaluate/merge-plan-input.ts'
import { npmPackageFolder } from '../adapters/package-metadata.ts'
import { systemClock } from '../adapters/system-clock.ts'
import { chooseMergeStrategy } from '../policy/choose-merge-strategy.ts'
import type { BranchRules, TokenPermissions } from '../policy/branch-rules.ts'
import { buildRecommendedRulesets } from '../policy/merge-advice.ts'
import { createApiVersionPlugin, silentOctokitLog } from '../adapters/github/github-fetch.ts'
import { GitHubForge } from '../adapters/github/forge.ts'
import { toForgeError } from '../adapters/github/forge-error.ts'
import { GitHubApp, type Octokit as AppOctokit } from '../adapters/github/github-app.ts'
import { readBranchRules } from '../adapters/github/read-branch-rules.ts'
import { formatMergePlanAsText } from '../report/merge-message.ts'
import { scanImages } from '../adapters/registry/scan-images.ts'
import {
  diagnoseClockSkew,
  diagnoseEvents,
  diagnoseWebhookDeliveries,
  diagnosePermissions,
  diagnoseProxy,
  diagnoseRegistries,
  formatDiagnosisFindings,
  type WebhookDeliveryStatus,
  type DiagnosisFinding,
} from './diagnosis.ts'
import { setExitCode, printToStdout, printJson, printToStderr } from './output.ts'
import { parseRepository } from './options.ts'
import { withRegistryClient } from './pulled-bundles.ts'

interface DoctorCommandOptions {
  readonly repository?: string
  readonly branch?: string
  readonly config?: string
  /** ID of the App, if it is not in the environment. */
  readonly app?: number
  readonly tokenVariable: string
  readonly rulesets?: string
  /** Hosts to check in addition to those that the configuration allows. */
  readonly registry?: readonly string[]
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

interface DoctorDiagnosisReport {
  readonly app: number
  readonly rules: BranchRules
  readonly permissions: TokenPermissions | undefined
  readonly remarks: readonly DiagnosisFinding[]
}

/** Without it, nothing else can be checked. */
class AppAccessError extends Error {
  readonly app: number
  readonly finding: DiagnosisFinding

  constructor(app: number, finding: DiagnosisFinding) {
    super(finding.text)
    this.app = app
    this.finding = finding
  }
}

export async function runDoctor(named: string | undefined, options: DoctorCommandOptions): Promise<void> {
  if ((named === undefined) === (options.repository === undefined))
    throw new Error('specify exactly one repository: catalog-bot doctor OWNER/NAME')
  const repository = parseRepository(named ?? options.repository ?? '')
  const config = await readLocalConfigFile(options.config)
  const settings = readSettings({
    ...readSavedAppCredentials(process.env.DATA_DIR ?? 'data'),
    ...process.env,
  })
  let report
  try {
    report = await collectDiagnosisReport(options, repository, settings)
  } catch (error) {
    if (!(error instanceof AppAccessError)) throw error
    const remarks = [error.finding]
    if (options.output === 'json')
      printJson({ repository: `${repository.owner}/${repository.name}`, app: error.app, remarks })
    else printToStdout(formatDiagnosisFindings(remarks))
    setExitCode(1)
    return
  }
  const { app, rules, permissions, remarks: ofGitHub } = report
  const input = toMergePlanInput(config, { rules, permissions, app })
  const plan = chooseMergeStrategy(input)
  const rulesets = buildRecommendedRulesets(rules.branch, app, input.checksToRequire)
  if (options.rulesets !== undefined) await writeRulesetFiles(options.rulesets, rulesets)
  const proxy = diagnoseProxy(process.env)
  const remarks = [...ofGitHub, ...(proxy ? [proxy] : []), ...(await probeRegistries(config, options))]
  if (options.output === 'json')
    printJson({
      repository: `${repository.owner}/${repository.name}`,
      app,
      rules,
      permissions,
      plan,
      rulesets,
      remarks,
    })
  else printToStdout(`${formatMergePlanAsText(rules.branch, plan)}\n${formatDiagnosisFindings(remarks)}`)
  const isWell = remarks.every(({ ok }) => ok !== false) && plan.method && plan.missing.length === 0
  // A setting that could not be read might prevent the merge.
  const isUnread = permissions === undefined || rules.unread.length > 0
  setExitCode(!isWell ? 1 : isUnread ? 2 : 0)
}

async function readLocalConfigFile(path: string | undefined): Promise<Config> {
  const parsed = parseConfig(path === undefined ? undefined : await readFile(path, 'utf8'))
  if (parsed.kind === 'config') return parsed.config
  throw new Error(`the configuration is invalid: ${parsed.findings.map(({ what }) => what).join('; ')}`)
}

async function collectDiagnosisReport(
  options: DoctorCommandOptions,
  repository: RepositoryName,
  settings: BotSettings,
): Promise<DoctorDiagnosisReport> {
  return settings.credentials === undefined
    ? diagnoseWithUserToken(options, repository, settings)
    : diagnoseWithAppCredentials(options, repository, settings, settings.credentials)
}

async function diagnoseWithAppCredentials(
  { branch }: DoctorCommandOptions,
  repository: RepositoryName,
  { apiUrl, throttle, writePause }: BotSettings,
  credentials: NonNullable<BotSettings['credentials']>,
): Promise<DoctorDiagnosisReport> {
  const log = pino({ level: 'silent' })
  const app = new GitHubApp({ ...credentials, apiUrl, throttle, writePause, clock: systemClock, log })
  const asApp = await app.probot.auth()
  const installation = await fetchAppInstallation(asApp, repository, app.appId)
  const { permissions, events } = installation
  const octokit = await app.octokit(installation.id)
  const forge = new GitHubForge(octokit, repository, app)
  const rules = await forge.branchRules(branch ?? (await forge.defaultBranch()))
  const manifest = readAppManifest()
  const { data: requested } = await asApp.rest.apps.getAuthenticated()
  const remarks = [
    diagnosePermissions(manifest.default_permissions, permissions, {
      ...(requested && { requested: requested.permissions }),
      owner: repository.owner,
    }),
    diagnoseEvents(manifest.default_events, events),
    diagnoseWebhookDeliveries(await fetchWebhookDeliveries(app)),
    await checkClockSkew(octokit),
  ]
  return { app: app.appId, rules, permissions, remarks }
}

/** Rejects with an AppAccessError if the App cannot act on the repository at all. */
async function fetchAppInstallation(octokit: AppOctokit, { owner, name }: RepositoryName, app: number) {
  const full = `${owner}/${name}`
  const fail = (about: DiagnosisFinding['about'], text: string) =>
    new AppAccessError(app, { about, ok: false, text })
  let installation
  try {
    installation = (await octokit.rest.apps.getRepoInstallation({ owner, repo: name })).data
  } catch (error) {
    const { status, response } = error as { status?: number; response?: { headers: { date?: string } } }
    if (status === 401) {
      // GitHub also rejects tokens of a wrong clock.
      const clock = diagnoseClockSkew(response?.headers.date, systemClock.now())
      throw clock.ok === false
        ? new AppAccessError(app, clock)
        : fail(
            'credentials',
            "GitHub rejects the App's credentials; compare APP_ID with the App's settings, and generate a private key there for PRIVATE_KEY",
          )
    }
    if (status !== 404) throw toForgeError(error, `find the App's installation on ${full}`)
    const { data } = await octokit.rest.apps.getAuthenticated()
    throw fail(
      'installation',
      `the App isn't installed on ${full}; install it at ${data?.html_url ?? ''}/installations/new, and select the repository`,
    )
  }
  if (installation.suspended_at !== null)
    throw fail(
      'installation',
      `the App's installation on ${full} is suspended; click "Unsuspend" at ${installation.html_url}`,
    )
  return installation
}

async function diagnoseWithUserToken(
  { branch, app, tokenVariable }: DoctorCommandOptions,
  repository: RepositoryName,
  { apiUrl }: BotSettings,
): Promise<DoctorDiagnosisReport> {
  if (app === undefined)
    throw new Error(
      "specify the App's ID with --app, or set APP_ID and the App's credentials in the environment",
    )
  const auth = process.env[tokenVariable]
  if (auth === undefined || auth === '')
    throw new Error(`the environment variable ${tokenVariable} does not contain a token`)
  const octokit = new (Octokit.plugin(createApiVersionPlugin(printToStderr)))({
    auth,
    baseUrl: apiUrl,
    userAgent: 'catalog-bot',
    log: silentOctokitLog,
  })
  const target = { owner: repository.owner, repo: repository.name }
  const branchName = branch ?? (await octokit.rest.repos.get(target)).data.default_branch
  const rules = await readBranchRules(octokit, repository, branchName, { app, isApp: false })
  const remarks = [
    diagnosePermissions({}, undefined),
    diagnoseWebhookDeliveries(undefined),
    await checkClockSkew(octokit),
  ]
  return { app, rules, permissions: undefined, remarks }
}

/** Uses `rate_limit` because it is cheap. Every response from GitHub contains the time. */
async function checkClockSkew(octokit: {
  request(route: 'GET /rate_limit'): Promise<{ readonly headers: { readonly date?: string | undefined } }>
}): Promise<DiagnosisFinding> {
  const before = systemClock.now()
  const { headers } = await octokit.request('GET /rate_limit')
  return diagnoseClockSkew(headers.date, (before + systemClock.now()) / 2)
}

/** Resolves to undefined if GitHub doesn't report deliveries, as for an App without a webhook. */
async function fetchWebhookDeliveries({
  probot,
}: GitHubApp): Promise<readonly WebhookDeliveryStatus[] | undefined> {
  try {
    const { data } = await (await probot.auth()).rest.apps.listWebhookDeliveries({ per_page: 50 })
    return data.map(({ status_code: status, delivered_at: at }) => ({ status, at }))
  } catch {
    return undefined
  }
}

function readAppManifest() {
  return parse(readFileSync(join(npmPackageFolder, 'app.yml'), 'utf8')) as {
    readonly default_permissions: Readonly<Record<string, string>>
    readonly default_events: readonly string[]
  }
}

/** Requests an arbitrary image, because it only matters whether the registry responds. */
async function probeRegistries(
  config: Config,
  options: DoctorCommandOptions,
): Promise<readonly DiagnosisFinding[]> {
  const allowed = config.images.registries.map((one) => one.split('/')[0] ?? '')
  const hosts = [...new Set([...allowed, ...(options.registry ?? [])])]
  if (hosts.length === 0) return diagnoseRegistries(new Map())
  const { answers } = await withRegistryClient(options.insecureRegistry, (registry) =>
    scanImages(
      registry,
      hosts.map((host) => `${host}/catalog-bot/doctor:none`),
      { clock: systemClock, concurrency: 8 },
    ),
  )
  return diagnoseRegistries(
    new Map([...answers].map(([reference, answer]) => [reference.slice(0, reference.indexOf('/')), answer])),
  )
}

async function writeRulesetFiles(
  folder: string,
  rulesets: ReturnType<typeof buildRecommendedRulesets>,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, ruleset] of Object.entries(rulesets))
    await writeFile(join(folder, `ruleset-${name}.json`), `${JSON.stringify(ruleset, undefined, 2)}\n`)
  printToStderr(`Wrote ruleset-a.json and ruleset-b.json to ${folder}`)
}
