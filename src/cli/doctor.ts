// `doctor`: what a branch on GitHub demands, how the App would merge there, what is missing; and whether permissions, deliveries,
// clock and registries are as they should be. It reads, and changes nothing.
// As the App where its credentials are in the environment, else with a token from there; a token is never an argument.
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Octokit } from '@octokit/rest'
import pino from 'pino'
import { parse } from 'yaml'
import { readSettings, type Settings } from '../app/settings.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { parseConfig, type Config } from '../config/config.ts'
import { landingInputOf } from '../examine/landing-input.ts'
import { systemClock } from '../examine/system-clock.ts'
import { chooseLandingMethod } from '../gate/choose-landing-method.ts'
import type { BranchRules } from '../gate/branch-rules.ts'
import type { TokenPermissions } from '../gate/landing-demands.ts'
import { recommendedRulesets } from '../gate/recommended-rulesets.ts'
import { sendApiVersion } from '../github/api-version.ts'
import { openForge } from '../github/forge.ts'
import { openGitHubApp, type GitHubApp } from '../github/github-app.ts'
import { readBranchRules } from '../github/read-branch-rules.ts'
import { landingPlanAsText } from '../messages/landing-plan.ts'
import { scanImages } from '../registry/scan-images.ts'
import {
  aboutClock,
  aboutDeliveries,
  aboutPermissions,
  aboutProxy,
  aboutRegistries,
  remarksAsText,
  type Delivered,
  type Remark,
} from './diagnosis.ts'
import { exitWith, print, printJson, say } from './output.ts'
import { parseRepository } from './parse-repository.ts'
import { withRegistry } from './pulled-bundles.ts'
import { packageFolder } from './version.ts'

export interface DoctorOptions {
  readonly repository?: string
  readonly branch?: string
  readonly config?: string
  /** The App's id, where it is not in the environment. */
  readonly app?: number
  readonly tokenVariable: string
  readonly rulesets?: string
  /** Hosts to ask beside those that the configuration allows. */
  readonly registry?: readonly string[]
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

interface Diagnosed {
  readonly app: number
  readonly rules: BranchRules
  readonly permissions: TokenPermissions | undefined
  readonly remarks: readonly Remark[]
}

export async function doctor(named: string | undefined, options: DoctorOptions): Promise<void> {
  if ((named === undefined) === (options.repository === undefined))
    throw new Error('name one repository: catalog-bot doctor OWNER/NAME')
  const repository = parseRepository(named ?? options.repository ?? '')
  const config = await readConfigFile(options.config)
  const {
    app,
    rules,
    permissions,
    remarks: ofGitHub,
  } = await diagnose(options, repository, readSettings(process.env))
  const input = landingInputOf(config, { rules, permissions, app })
  const plan = chooseLandingMethod(input)
  const rulesets = recommendedRulesets(rules.branch, app, input.checksToRequire)
  if (options.rulesets !== undefined) await writeRulesets(options.rulesets, rulesets)
  const proxy = aboutProxy(process.env)
  const remarks = [...ofGitHub, ...(proxy ? [proxy] : []), ...(await askRegistries(config, options))]
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
  else print(`${landingPlanAsText(rules.branch, plan)}\n${remarksAsText(remarks)}`)
  const isWell = remarks.every(({ ok }) => ok !== false) && plan.method && plan.missing.length === 0
  // An unread setting may forbid the merge.
  const isUnread = permissions === undefined || rules.unread.length > 0
  exitWith(!isWell ? 1 : isUnread ? 2 : 0)
}

async function readConfigFile(path: string | undefined): Promise<Config> {
  const parsed = parseConfig(path === undefined ? undefined : await readFile(path, 'utf8'))
  if (parsed.kind === 'config') return parsed.config
  throw new Error(`the configuration cannot be used: ${parsed.findings.map(({ what }) => what).join('; ')}`)
}

async function diagnose(
  options: DoctorOptions,
  repository: RepositoryName,
  settings: Settings,
): Promise<Diagnosed> {
  return settings.credentials === undefined
    ? withToken(options, repository, settings)
    : asApp(options, repository, settings, settings.credentials)
}

async function asApp(
  { branch }: DoctorOptions,
  repository: RepositoryName,
  { apiUrl, throttle, writePause }: Settings,
  credentials: NonNullable<Settings['credentials']>,
): Promise<Diagnosed> {
  const log = pino({ level: 'silent' })
  const app = openGitHubApp({ ...credentials, apiUrl, throttle, writePause, clock: systemClock, log })
  const octokit = await app.octokit(await app.installationOn(repository))
  const forge = openForge(octokit, repository, app)
  const rules = await forge.branchRules(branch ?? (await forge.defaultBranch()))
  const permissions = await app.permissionsOn(repository)
  const remarks = [
    aboutPermissions(wantedPermissions(), permissions),
    aboutDeliveries(await deliveries(app)),
    await clock(octokit),
  ]
  return { app: app.appId, rules, permissions, remarks }
}

async function withToken(
  { branch, app: given, tokenVariable }: DoctorOptions,
  repository: RepositoryName,
  { apiUrl }: Settings,
): Promise<Diagnosed> {
  const app = given
  if (app === undefined)
    throw new Error(
      "--app must be the App's id, or APP_ID and the App's credentials must be in the environment",
    )
  const auth = process.env[tokenVariable]
  if (auth === undefined || auth === '') throw new Error(`there is no token in ${tokenVariable}`)
  const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const octokit = new (Octokit.plugin(sendApiVersion(say)))({
    auth,
    baseUrl: apiUrl,
    userAgent: 'catalog-bot',
    log: quiet,
  })
  const target = { owner: repository.owner, repo: repository.name }
  const wanted = branch ?? (await octokit.rest.repos.get(target)).data.default_branch
  const rules = await readBranchRules(octokit, repository, wanted, { app, isApp: false })
  const remarks = [aboutPermissions({}, undefined), aboutDeliveries(undefined), await clock(octokit)]
  return { app, rules, permissions: undefined, remarks }
}

/** Any answer of GitHub has its time. */
async function clock(octokit: {
  request(route: 'GET /rate_limit'): Promise<{ readonly headers: { readonly date?: string | undefined } }>
}): Promise<Remark> {
  const before = systemClock.now()
  const { headers } = await octokit.request('GET /rate_limit')
  return aboutClock(headers.date, (before + systemClock.now()) / 2)
}

/** Undefined where GitHub doesn't report them, as for an App without a webhook. */
async function deliveries({ probot }: GitHubApp): Promise<readonly Delivered[] | undefined> {
  try {
    const { data } = await (await probot.auth()).rest.apps.listWebhookDeliveries({ per_page: 50 })
    return data.map(({ status_code: status, delivered_at: at }) => ({ status, at }))
  } catch {
    return undefined
  }
}

function wantedPermissions(): Readonly<Record<string, string>> {
  const manifest = parse(readFileSync(join(packageFolder(), 'app.yml'), 'utf8')) as {
    readonly default_permissions: Readonly<Record<string, string>>
  }
  return manifest.default_permissions
}

/** Asks for an arbitrary image, because only the registry's answer matters. */
async function askRegistries(config: Config, options: DoctorOptions): Promise<readonly Remark[]> {
  const allowed = config.images.registries.map((one) => one.split('/')[0] ?? '')
  const hosts = [...new Set([...allowed, ...(options.registry ?? [])])]
  if (hosts.length === 0) return aboutRegistries(new Map())
  const { answers } = await withRegistry(options.insecureRegistry, (registry) =>
    scanImages(
      registry,
      hosts.map((host) => `${host}/catalog-bot/doctor:none`),
      { clock: systemClock, concurrency: 8 },
    ),
  )
  return aboutRegistries(
    new Map([...answers].map(([reference, answer]) => [reference.slice(0, reference.indexOf('/')), answer])),
  )
}

const ignore = () => undefined

async function writeRulesets(
  folder: string,
  rulesets: ReturnType<typeof recommendedRulesets>,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, ruleset] of Object.entries(rulesets))
    await writeFile(join(folder, `ruleset-${name}.json`), `${JSON.stringify(ruleset, undefined, 2)}\n`)
  say(`wrote ruleset-a.json and ruleset-b.json to ${folder}`)
}
