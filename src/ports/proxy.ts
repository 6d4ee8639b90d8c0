// Selects the proxy for a URL, in the same way for GitHub, Git, and registries, whose clients interpret NO_PROXY
// differently. Only HTTPS uses a proxy. Unencrypted HTTP stays on this machine or in the administrator's network.

export interface ProxyServer {
  /** `http://proxy.example:3128`, without user or password. */
  readonly url: string
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
  readonly credential?: { readonly username: string; readonly password: string }
}

export function formatBasicAuthorization({
  username,
  password,
}: NonNullable<ProxyServer['credential']>): string {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))}`
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** The first variable that is set applies. Programs disagree on the order of the two cases. This is curl's order. */
export const proxyEnvVariableNames = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'] as const
const noProxyEnvVariableNames = ['no_proxy', 'NO_PROXY'] as const

/**
 * Returns undefined for a direct connection. If the value isn't a proxy URL, throws an Error with the name of the variable,
 * but not its value.
 */
export function findProxyForUrl(target: URL, environment: EnvironmentVariables): ProxyServer | undefined {
  if (target.protocol !== 'https:') return undefined
  const variable = proxyEnvVariableNames.find((name) => (environment[name] ?? '') !== '')
  if (variable === undefined) return undefined
  const proxy = parseProxyUrl(environment[variable] ?? '', variable)
  const exceptions =
    noProxyEnvVariableNames.map((name) => environment[name] ?? '').find((text) => text !== '') ?? ''
  return isProxyExempt(target, exceptions) ? undefined : proxy
}

function parseProxyUrl(text: string, variable: string): ProxyServer {
  // The value might contain a password, which must not get into the log.
  const wrong = () =>
    new Error(`${variable} is not a proxy URL: it must have the form http://HOST:PORT or https://HOST:PORT`)
  let url: URL
  try {
    url = new URL(text.includes('://') ? text : `http://${text}`)
  } catch {
    throw wrong()
  }
  const isTls = url.protocol === 'https:'
  if ((!isTls && url.protocol !== 'http:') || !/^[A-Za-z0-9.:[\]-]+$/.test(url.host)) throw wrong()
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  let username: string
  let password: string
  try {
    username = decodeURIComponent(url.username)
    password = decodeURIComponent(url.password)
  } catch {
    throw wrong()
  }
  if (/[\0\n\r]/.test(username + password)) throw wrong()
  return {
    url: `${url.protocol}//${url.hostname}:${port}`,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    isTls,
    ...(username !== '' && { credential: { username, password } }),
  }
}

/** `NO_PROXY`: `*`, names (with subdomains), and addresses, each with an optional port. Loopback uses no proxy. */
function isProxyExempt(target: URL, exceptions: string): boolean {
  const hostname = target.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
  if (hostname === 'localhost' || hostname === '::1' || /^127\.\d+\.\d+\.\d+$/.test(hostname)) return true
  const port = target.port === '' ? '443' : target.port
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true
      const [, name = '', only] = /^\[?(?<name>.*?)\]?(?::(?<port>\d+))?$/.exec(entry) ?? []
      const bare = name.replace(/^\*?\./, '').replace(/\.$/, '')
      if (bare === '' || (only !== undefined && only !== port)) return false
      return hostname === bare || hostname.endsWith(`.${bare}`)
    })
}
