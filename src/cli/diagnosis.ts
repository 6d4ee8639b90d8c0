// Evaluates what `doctor` collected about permissions, deliveries, clock, proxy, and registries.
import type { ImageLookupResult } from '../checks/lookups.ts'
import { findProxyForUrl, proxyEnvVariableNames } from '../ports/proxy.ts'
import type { TokenPermissions } from '../policy/branch-rules.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'

export interface DiagnosisFinding {
  readonly about:
    | 'installation'
    | 'credentials'
    | 'permissions'
    | 'events'
    | 'deliveries'
    | 'clock'
    | 'proxy'
    | 'registries'
  /** Undefined for inconclusive results and for information. */
  readonly ok: boolean | undefined
  readonly text: string
}

/** Required for merging; app.yml describes what the others enable. */
const requiredAppPermissions: ReadonlySet<string> = new Set([
  'contents',
  'pull_requests',
  'checks',
  'metadata',
])

/** `required`: from app.yml. `requested`: from the App's settings, if known; `owner` must accept them on installation. */
export function diagnosePermissions(
  required: Readonly<Record<string, string>>,
  granted: TokenPermissions | undefined,
  { requested = granted, owner = 'the account' }: { requested?: TokenPermissions; owner?: string } = {},
): DiagnosisFinding {
  if (granted === undefined)
    return {
      about: 'permissions',
      ok: undefined,
      text: 'not checked, because only the App can read its permissions',
    }
  const findMissing = (permissions: TokenPermissions = {}) =>
    Object.entries(required).filter(([name, level]) => {
      const has = permissions[name]
      return has !== 'write' && has !== 'admin' && has !== level
    })
  const missing = findMissing(granted)
  if (missing.length === 0)
    return { about: 'permissions', ok: true, text: 'the App has every permission in app.yml' }
  const unrequested = new Set(findMissing(requested).map(([name]) => name))
  const list = (isRequested: boolean) =>
    missing
      .filter(([name]) => unrequested.has(name) !== isRequested)
      .map(([name, level]) => `${name}: ${level}`)
  const texts = [
    [
      list(false),
      'the App lacks ',
      "; update the permissions in the App's settings, then accept the change in the App's installations",
    ],
    [
      list(true),
      'the installation lacks ',
      `; an owner of ${owner} must accept the App's new permissions in the installation's settings`,
    ],
  ] as const
  return {
    about: 'permissions',
    ok: missing.some(([name]) => requiredAppPermissions.has(name)) ? false : undefined,
    text: texts
      .filter(([names]) => names.length > 0)
      .map(([names, subject, fix]) => `${subject}${names.join(', ')}${fix}`)
      .join('; '),
  }
}

/** Missing events only cause delays, because the sweep finds the same changes. */
export function diagnoseEvents(required: readonly string[], received: readonly string[]): DiagnosisFinding {
  const about = 'events'
  const missing = required.filter((event) => !received.includes(event))
  if (missing.length === 0) return { about, ok: true, text: 'the App receives every event in app.yml' }
  const names =
    missing.length === required.length ? 'receives no events' : `does not receive ${missing.join(', ')}`
  return {
    about,
    ok: undefined,
    text: `the App ${names}; select ${missing.length === required.length ? 'the events in app.yml' : 'them'} under "Subscribe to events" in the App's settings; until then, catalog-bot notices changes only in its sweep`,
  }
}

export interface WebhookDeliveryStatus {
  /** 0 without an answer. */
  readonly status: number
  readonly at: string
}

/** `delivered`: latest first; undefined where unknown. */
export function diagnoseWebhookDeliveries(
  delivered: readonly WebhookDeliveryStatus[] | undefined,
): DiagnosisFinding {
  const about = 'deliveries'
  if (delivered === undefined)
    return { about, ok: undefined, text: 'not checked, because only the App can read its deliveries' }
  const [last] = delivered
  if (last === undefined)
    return {
      about,
      ok: undefined,
      text: 'GitHub has not delivered any events yet; catalog-bot still checks pull requests periodically',
    }
  const failed = delivered.filter(({ status }) => status < 200 || status >= 300)
  if (failed.length === 0)
    return {
      about,
      ok: true,
      text: `recent deliveries succeeded (${delivered.length} checked, the latest at ${escapeNonPrintableCharacters(last.at)})`,
    }
  const why = failed[0]?.status === 0 ? 'no response' : `HTTP status ${failed[0]?.status}`
  return {
    about,
    ok: last === failed[0] ? false : undefined,
    text: `${failed.length} of the last ${delivered.length} failed, most recently at ${escapeNonPrintableCharacters(failed[0]?.at ?? '')} (${why}); ${explainFailedDelivery(failed[0]?.status ?? 0)}`,
  }
}

function explainFailedDelivery(status: number): string {
  if (status === 0) return "check that GitHub can reach the public address in the App's webhook URL"
  if (status === 401)
    return "WEBHOOK_SECRET differs from the webhook secret in the App's settings, so enter the same secret in both"
  if (status === 404) return "the webhook URL in the App's settings must end in /api/github/webhooks"
  return 'check the logs of catalog-bot and of any proxy in front of it'
}

/** Seconds. GitHub rejects App tokens issued in its future: https://docs.github.com/apps (JWT, `iat`). */
const maxClockSkewSeconds = 30

/** `answered` is an answer's `Date`; `now` is the local time halfway through the request. */
export function diagnoseClockSkew(answered: string | undefined, now: number): DiagnosisFinding {
  const there = Date.parse(answered ?? '')
  if (Number.isNaN(there))
    return { about: 'clock', ok: undefined, text: "GitHub's response does not contain a time" }
  const seconds = Math.round((now - there) / 1000)
  if (Math.abs(seconds) <= maxClockSkewSeconds)
    return { about: 'clock', ok: true, text: "synchronized with GitHub's clock" }
  const direction = seconds > 0 ? 'ahead of' : 'behind'
  return {
    about: 'clock',
    ok: false,
    text: `${Math.abs(seconds)} seconds ${direction} GitHub's clock, so GitHub rejects the App's tokens; synchronize the clock with NTP`,
  }
}

/** Returns undefined if no proxy is set. */
export function diagnoseProxy(
  environment: Readonly<Record<string, string | undefined>>,
): DiagnosisFinding | undefined {
  const name = proxyEnvVariableNames.find((one) => (environment[one] ?? '') !== '')
  if (name === undefined) return undefined
  let proxy
  try {
    proxy = findProxyForUrl(new URL('https://registry.example'), { [name]: environment[name] })
  } catch (error) {
    return {
      about: 'proxy',
      ok: false,
      text: error instanceof Error ? error.message : `${name} is malformed`,
    }
  }
  const registries = {
    off: 'catalog-bot connects to registries directly',
    name: 'the proxy resolves registry names, so it must block internal addresses',
    address: 'catalog-bot resolves registry names and checks their addresses',
  } as const
  const proxySetting = environment['REGISTRY_PROXY']
  // Omits the user and password that the variable may contain.
  return {
    about: 'proxy',
    ok: undefined,
    text: `${name} is set to ${escapeNonPrintableCharacters(proxy?.url ?? 'no proxy')}; ${registries[proxySetting === 'off' || proxySetting === 'name' ? proxySetting : 'address']}`,
  }
}

export function diagnoseRegistries(
  answers: ReadonlyMap<string, ImageLookupResult>,
): readonly DiagnosisFinding[] {
  if (answers.size === 0)
    return [
      {
        about: 'registries',
        ok: undefined,
        text: 'not checked, because the configuration does not list any registries; to check a registry, use --registry HOST',
      },
    ]
  return [...answers].map(([host, answer]): DiagnosisFinding => {
    const isThere = answer.kind === 'ok' || answer.kind === 'missing' || answer.kind === 'missing-or-private'
    if (isThere)
      return { about: 'registries', ok: true, text: `${escapeNonPrintableCharacters(host)} responds` }
    return {
      about: 'registries',
      ok: false,
      text: `${escapeNonPrintableCharacters(host)}: ${escapeNonPrintableCharacters(answer.reason)}`,
    }
  })
}

const diagnosisStatusLabels = { true: 'ok', false: 'WRONG', undefined: '-' } as const

export function formatDiagnosisFindings(remarks: readonly DiagnosisFinding[]): string {
  return remarks
    .map(
      ({ about, ok, text }) =>
        `${diagnosisStatusLabels[String(ok) as keyof typeof diagnosisStatusLabels].padEnd(5)} ${about}: ${text}`,
    )
    .join('\n')
}
