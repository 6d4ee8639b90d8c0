// Reads the administrator's settings from the environment, once at startup.
import { createPrivateKey } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { describeSchemaProblem } from '../config/text-problems.ts'
import { defaultEvaluationLimits, type EvaluationLimits } from '../catalogs/reader-pool.ts'
import {
  defaultQuotaReserves,
  type QuotaReserveByPriorityClass,
  documentedGitHubRateLimits,
} from '../adapters/github/budget/request-limits.ts'

const secondsSchema = z.coerce.number().int().min(1)

const positiveIntegerSchema = z.coerce.number().int().min(1)
const bytesPerMegabyte = 1024 * 1024

/** Logs and comments contain these URLs. */
const urlWithoutCredentialsSchema = z.url().refine((text) => {
  const url = URL.parse(text)
  return !url?.username && !url?.password
}, 'must not contain a user name or password')

export const environmentSchema = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z.string().default('0.0.0.0'),
  METRICS_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  SETUP: z.enum(['0', '1']).default('0'),
  DATA_DIR: z.string().default('data'),
  DATABASE_URL: z.string().optional(),
  APP_ID: z.coerce.number().int().positive().optional(),
  PRIVATE_KEY: z.string().optional(),
  PRIVATE_KEY_PATH: z.string().optional(),
  WEBHOOK_SECRET: z.string().optional(),
  WEBHOOK_SECRET_PREVIOUS: z.string().optional(),
  GITHUB_API_URL: urlWithoutCredentialsSchema.optional(),
  GITHUB_URL: urlWithoutCredentialsSchema.optional(),
  /** Whether to respect GitHub's secondary rate limits, which its responses do not report. */
  GITHUB_THROTTLE: z.enum(['on', 'off']).default('on'),
  GITHUB_WRITE_PAUSE: z.coerce.number().int().min(0).default(documentedGitHubRateLimits.writePause),
  GITHUB_RESERVES: z
    .string()
    .transform((text) => text.split(',').map(Number))
    .refine(
      ([evaluation = -1, sweep = -1, scan = -1, ...more]) =>
        evaluation >= 0 && evaluation <= sweep && sweep <= scan && scan <= 90 && more.length === 0,
      'must be three ascending percentages up to 90, for evaluations, sweeps, and scans, such as 10,30,50',
    )
    .default([
      defaultQuotaReserves.look * 100,
      defaultQuotaReserves.sweep * 100,
      defaultQuotaReserves.scan * 100,
    ]),
  SWEEP_SECONDS: secondsSchema.default(180),
  SCAN_SECONDS: z.coerce.number().int().min(0).optional(),
  SECOND_LOOK_SECONDS: secondsSchema.default(3600),
  PUBLISH_RETRY_SECONDS: secondsSchema.default(15),
  CONCURRENCY: z.coerce.number().int().min(1).max(64).default(4),
  LEASE_SECONDS: secondsSchema.default(60),
  /** By default, Kubernetes kills a pod after 30 seconds. */
  STOP_SECONDS: secondsSchema.default(25),
  /** Budget of one pull request before it is too large to check: see EvaluationLimits. */
  MAX_PATHS: positiveIntegerSchema.default(defaultEvaluationLimits.paths),
  MAX_CHANGED_PATHS: positiveIntegerSchema.default(defaultEvaluationLimits.changedPaths),
  MAX_CHANGED_MEGABYTES: positiveIntegerSchema.default(
    defaultEvaluationLimits.changedBytes / bytesPerMegabyte,
  ),
  MAX_PEOPLE: positiveIntegerSchema.default(defaultEvaluationLimits.people),
  MAX_IMAGES: positiveIntegerSchema.default(defaultEvaluationLimits.images),
  MAX_COMMENTS: positiveIntegerSchema.default(defaultEvaluationLimits.comments),
  MAX_CHECK_SECONDS: positiveIntegerSchema.default(defaultEvaluationLimits.time / 1000),
  MAX_CHECK_MEGABYTES: positiveIntegerSchema.min(256).default(defaultEvaluationLimits.memory),
  /** Private repositories are always limited to users who can read them on GitHub. */
  PAGES: z.enum(['off', 'public', 'signed-in']).default('public'),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  CLIENT_ID: z
    .string()
    .regex(/^[\w.-]+$/)
    .optional(),
  CLIENT_SECRET: z.string().min(1).optional(),
  RULES_URL: urlWithoutCredentialsSchema.optional(),
  OPM_PATH: z.string().min(1).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  INSECURE_REGISTRIES: z.string().default(''),
})

/** The meaning of each variable, and its default if the schema has none, for docs/reference and the Helm chart. */
export const environmentVariableDescriptions = {
  PORT: 'port to listen on',
  HOST: 'address to listen on',
  METRICS_PORT: 'port that serves only `/metrics`; if unset, `PORT` also serves the metrics',
  SETUP: 'if set to `1`, the setup page listens on `HOST`; this setting is required in containers',
  DATA_DIR: 'directory for Git mirrors, the embedded database, and credentials from the setup page',
  DATABASE_URL:
    'URL of the Postgres database, required if you run several instances; if unset, catalog-bot uses an embedded database in `DATA_DIR`',
  APP_ID: 'ID of the App; if the ID and the private key are unset, catalog-bot starts the setup page',
  PRIVATE_KEY: "the App's private key in PEM format, optionally encoded as base64",
  PRIVATE_KEY_PATH: "file with the App's private key, instead of `PRIVATE_KEY`",
  WEBHOOK_SECRET: "secret of the App's webhook, at least 16 characters",
  WEBHOOK_SECRET_PREVIOUS: 'previous webhook secret, still accepted during a rotation',
  GITHUB_API_URL: 'root of the REST API of a GitHub Enterprise Server; if unset, derived from `GITHUB_URL`',
  GITHUB_URL:
    'address of a GitHub Enterprise Server, without a path; if unset, derived from a `GITHUB_API_URL` that ends in `/api/v3`',
  GITHUB_THROTTLE: 'set this to `off` for a GitHub Enterprise Server without rate limits',
  GITHUB_WRITE_PAUSE: 'milliseconds between two writes to GitHub by the same installation',
  GITHUB_RESERVES:
    "percentages of GitHub's rate limit that evaluations, sweeps, and scans leave for more important work",
  SWEEP_SECONDS: 'interval between sweeps, which find changes without relying on webhooks',
  SCAN_SECONDS:
    'interval between image scans; this setting overrides the interval in repository configurations; `0` disables all scans, and `off` in a repository configuration disables the scans of that repository',
  SECOND_LOOK_SECONDS: 'seconds until a second lookup confirms that an image is missing',
  CONCURRENCY: 'maximum number of concurrent jobs',
  MAX_PATHS: 'maximum number of paths in a tree, and in the difference between two trees',
  MAX_CHANGED_PATHS: 'maximum number of paths that a pull request can change',
  MAX_CHANGED_MEGABYTES: 'maximum total size of all changed files, before and after the change',
  MAX_PEOPLE: 'maximum number of requests that each evaluation sends to GitHub about users and teams',
  MAX_IMAGES: 'maximum number of images to look up per evaluation',
  MAX_COMMENTS: 'maximum number of comments on a pull request; also the maximum number of reviews',
  MAX_CHECK_SECONDS: 'maximum processing time per evaluation, excluding waits for GitHub and registries',
  MAX_CHECK_MEGABYTES: 'maximum heap size for a slow evaluation; quick evaluations use at most 1024 MB',
  STOP_SECONDS:
    'maximum time to shut down after a signal; catalog-bot completes unfinished work after the next start',
  LEASE_SECONDS:
    'seconds until another instance takes over a merge from a crashed instance (other jobs are taken over after at most 15 seconds)',
  PUBLISH_TARGETS: 'file that defines which repositories can publish images, and where',
  CLUSTER_TARGETS: 'file that defines which repositories can run install tests, and on which cluster',
  PUBLISH_CREDENTIALS:
    "push credentials in Docker's JSON format, for `PUBLISH_TARGETS` entries that do not specify any",
  PUBLISH_KEY_PASSWORD: 'password for the keys that sign images (`signingKey` in `PUBLISH_TARGETS`)',
  PUBLISH_RETRY_SECONDS:
    'delay before catalog-bot retries a failed publication; the delay doubles after each failure',
  PAGES: 'access to the status pages: `public`, `signed-in`, or `off`',
  PUBLIC_URL: 'public address of catalog-bot, such as `https://bot.example.com`; reports link to its pages',
  CLIENT_ID:
    'OAuth client ID of the App; if `PUBLIC_URL` is also set, users can sign in to see their private repositories',
  CLIENT_SECRET: 'secret of the OAuth client',
  RULES_URL: [
    'base URL of the rule pages in `docs/rules`; findings link to these pages',
    "catalog-bot's own pages",
  ],
  OPM_PATH: 'path to an `opm` binary that also serves changed catalogs in the install check',
  INSECURE_REGISTRIES: 'registries on this machine that do not use TLS (`host:port`, comma-separated)',
  REGISTRIES_CONF: [
    'file that configures registry mirrors, location overrides, and blocked registries',
    "Podman's files",
  ],
  PULL_SECRETS: 'directory of mounted Kubernetes pull secrets',
  INTERNAL_REGISTRIES: 'registries at non-public addresses (`HOST[:PORT]=ADDRESS/BITS`, comma-separated)',
  ONLY_REGISTRIES: [
    'the only registry hosts that catalog-bot can contact, including those of token services and blob stores (comma-separated)',
    'all',
  ],
  SHOWN_REGISTRIES:
    'registries whose image content everyone can see (`HOST` or `HOST/PATH`, comma-separated)',
  REGISTRY_CERTIFICATES: 'directory of additional trusted certificates (`HOST[:PORT]/*.crt`)',
  LOG_LEVEL: 'minimum level of log messages; catalog-bot writes its log to stdout as JSON lines',
} as const satisfies Readonly<Record<string, string | readonly [description: string, defaultValue: string]>> &
  Record<keyof z.input<typeof environmentSchema>, unknown>

export interface AppCredentials {
  readonly appId: number
  readonly privateKey: string
  readonly webhookSecret: string
  readonly previousWebhookSecret?: string
}

export type StatusPageAccess = 'off' | 'public' | 'signed-in'

export interface SignInOAuthClient {
  readonly clientId: string
  readonly clientSecret: string
}

export interface BotSettings {
  readonly port: number
  readonly host: string
  readonly metricsPort?: number | undefined
  /** Localhost unless the administrator changes it. */
  readonly setupHost: string
  readonly dataDirectory: string
  readonly databaseUrl: string | undefined
  /** If absent, the setup page is shown. */
  readonly credentials: AppCredentials | undefined
  /** The App whose token is used without credentials: see sweepOnce(). */
  readonly actsAs?: number | undefined
  readonly apiUrl: string
  readonly gitUrl: string
  readonly throttle: boolean
  readonly writePause: number
  readonly reserves: QuotaReserveByPriorityClass
  readonly sweepSeconds: number
  readonly scanSeconds: number | undefined
  readonly secondLookSeconds: number
  readonly publishRetrySeconds: number
  readonly concurrency: number
  readonly budget: EvaluationLimits
  readonly leaseSeconds: number
  /** From the signal to the end of the process, including all pending work. */
  readonly stopSeconds: number
  readonly pages: StatusPageAccess
  /** Without a trailing slash. */
  readonly publicUrl: string | undefined
  /** If absent, sign-in is disabled. */
  readonly signIn: SignInOAuthClient | undefined
  readonly rulesUrl: string | undefined
  readonly opm: string | undefined
  readonly logLevel: string
  readonly insecureRegistries: readonly string[]
}

/** The message names the variable and the fix. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingsError'
  }
}

/**
 * Throws a SettingsError for invalid values and incomplete credentials: without a webhook secret, anyone could send
 * deliveries. Missing credentials are valid and start the setup.
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): BotSettings {
  // Values that come from files, such as mounted Secrets, often end with a newline.
  const definedVariables = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value = '']) =>
      value.trim() === '' ? [] : [[name, value.trim()]],
    ),
  )
  const result = environmentSchema.safeParse(definedVariables, { error: describeSchemaProblem })
  if (!result.success)
    throw new SettingsError(
      result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    )
  const values = result.data
  return {
    port: values.PORT,
    host: values.HOST,
    metricsPort: values.METRICS_PORT,
    setupHost: values.SETUP === '1' ? values.HOST : '127.0.0.1',
    dataDirectory: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL,
    credentials: readAppCredentials(values),
    ...deriveGitHubUrls(values),
    throttle: values.GITHUB_THROTTLE === 'on',
    writePause: values.GITHUB_WRITE_PAUSE,
    reserves: toQuotaReserveByPriorityClass(values.GITHUB_RESERVES),
    sweepSeconds: values.SWEEP_SECONDS,
    scanSeconds: values.SCAN_SECONDS,
    secondLookSeconds: values.SECOND_LOOK_SECONDS,
    publishRetrySeconds: values.PUBLISH_RETRY_SECONDS,
    concurrency: values.CONCURRENCY,
    budget: {
      paths: values.MAX_PATHS,
      changedPaths: values.MAX_CHANGED_PATHS,
      changedBytes: values.MAX_CHANGED_MEGABYTES * bytesPerMegabyte,
      people: values.MAX_PEOPLE,
      images: values.MAX_IMAGES,
      comments: values.MAX_COMMENTS,
      time: values.MAX_CHECK_SECONDS * 1000,
      memory: values.MAX_CHECK_MEGABYTES,
    },
    leaseSeconds: values.LEASE_SECONDS,
    stopSeconds: values.STOP_SECONDS,
    ...readStatusPageSettings(values),
    rulesUrl: values.RULES_URL?.replace(/\/$/, '') ?? formatRulesPageUrl(values),
    opm: values.OPM_PATH,
    logLevel: values.LOG_LEVEL,
    insecureRegistries: values.INSECURE_REGISTRIES.split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
  }
}

function toQuotaReserveByPriorityClass([
  evaluation = 0,
  sweep = 0,
  scan = 0,
]: readonly number[]): QuotaReserveByPriorityClass {
  return { landing: 0, look: evaluation / 100, sweep: sweep / 100, scan: scan / 100 }
}

/** catalog-bot's own pages show the rules, too. */
function formatRulesPageUrl({ PAGES, PUBLIC_URL }: z.output<typeof environmentSchema>): string | undefined {
  return PAGES === 'off' || PUBLIC_URL === undefined ? undefined : `${PUBLIC_URL.replace(/\/+$/, '')}/rules`
}

/** Throws a SettingsError if sign-in is configured but impossible or unsafe. */
function readStatusPageSettings(
  values: z.output<typeof environmentSchema>,
): Pick<BotSettings, 'pages' | 'publicUrl' | 'signIn'> {
  const { PAGES: pages, PUBLIC_URL: address, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = values
  const publicUrl = address?.replace(/\/+$/, '')
  if (publicUrl !== undefined && new URL(publicUrl).origin !== publicUrl)
    throw new SettingsError('PUBLIC_URL must be a URL without a path, such as https://bot.example.com')
  if (pages === 'off') return { pages, publicUrl, signIn: undefined }
  if ((clientId === undefined) !== (clientSecret === undefined))
    throw new SettingsError(
      'Set both CLIENT_ID and CLIENT_SECRET to the values in the App settings, or set neither',
    )
  // The setup page always stores the client, so an http:// URL only disables sign-in.
  const signIn =
    clientId === undefined ||
    clientSecret === undefined ||
    publicUrl === undefined ||
    !isUrlSafeForCookies(publicUrl)
      ? undefined
      : { clientId, clientSecret }
  if (pages === 'signed-in' && signIn === undefined)
    throw new SettingsError(
      'PAGES=signed-in requires CLIENT_ID, CLIENT_SECRET, and a PUBLIC_URL that starts with https://',
    )
  return { pages, publicUrl, signIn }
}

/** Session cookies need HTTPS, except on localhost. */
function isUrlSafeForCookies(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** GitHub's API and git addresses. An Enterprise Server has its API below `/api/v3`, so either implies the other. */
function deriveGitHubUrls(
  values: z.output<typeof environmentSchema>,
): Pick<BotSettings, 'apiUrl' | 'gitUrl'> {
  const api = values.GITHUB_API_URL?.replace(/\/$/, '')
  const git = values.GITHUB_URL?.replace(/\/$/, '')
  const below = '/api/v3'
  const isGitHubCom = git === undefined || git === 'https://github.com'
  return {
    apiUrl: api ?? (isGitHubCom ? 'https://api.github.com' : `${git}${below}`),
    gitUrl: git ?? (api?.endsWith(below) === true ? api.slice(0, -below.length) : 'https://github.com'),
  }
}

function readAppCredentials(values: z.output<typeof environmentSchema>): AppCredentials | undefined {
  const privateKey = readPrivateKey(values)
  if (privateKey !== undefined && !isPrivateKey(privateKey))
    throw new SettingsError("PRIVATE_KEY is invalid; it must be the App's complete private key in PEM format")
  if (values.APP_ID === undefined && privateKey === undefined) return undefined
  if (values.APP_ID === undefined) throw new SettingsError("APP_ID is missing; set it to the App's ID")
  if (privateKey === undefined)
    throw new SettingsError(
      "PRIVATE_KEY is missing; set it to the App's private key, or set PRIVATE_KEY_PATH to the path of the key file",
    )
  const secret = values.WEBHOOK_SECRET
  if (secret === undefined)
    throw new SettingsError('WEBHOOK_SECRET is missing; without it, anyone could send deliveries')
  if (secret === 'development' || secret.length < 16)
    throw new SettingsError(
      'WEBHOOK_SECRET is too easy to guess; use at least 16 random characters, and set the same value in the App settings',
    )
  return {
    appId: values.APP_ID,
    privateKey,
    webhookSecret: secret,
    ...(values.WEBHOOK_SECRET_PREVIOUS !== undefined && {
      previousWebhookSecret: values.WEBHOOK_SECRET_PREVIOUS,
    }),
  }
}

function isPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

/** Accepts PEM, PEM with literal `\n`, base64 of PEM, or a file. */
function readPrivateKey(values: z.output<typeof environmentSchema>): string | undefined {
  if (values.PRIVATE_KEY !== undefined) {
    const text = values.PRIVATE_KEY.includes('-----BEGIN')
      ? values.PRIVATE_KEY.replaceAll('\\n', '\n')
      : Buffer.from(values.PRIVATE_KEY, 'base64').toString('utf8')
    if (!text.includes('-----BEGIN'))
      throw new SettingsError('PRIVATE_KEY must be in PEM format, optionally encoded as base64')
    return `${text.trimEnd()}\n`
  }
  if (values.PRIVATE_KEY_PATH === undefined) return undefined
  if (!existsSync(values.PRIVATE_KEY_PATH))
    throw new SettingsError('PRIVATE_KEY_PATH points to a file that does not exist')
  return readFileSync(values.PRIVATE_KEY_PATH, 'utf8')
}

export const getStoreFolder = (dataDirectory: string): string => join(dataDirectory, 'store')
