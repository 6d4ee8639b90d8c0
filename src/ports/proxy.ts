// Which proxy of the operator's leads to an address: one answer for GitHub, git and registries, whose own ideas of NO_PROXY
// differ. Pure: environment and address in, proxy out. Only https goes through a proxy: what is spoken without TLS is on this
// machine, or the operator's own.

export interface Proxy {
  /** `http://proxy.example:3128`: no user, no password. */
  readonly address: string
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
  readonly credential?: { readonly username: string; readonly password: string }
}

type Environment = Readonly<Record<string, string | undefined>>

/** In this order; the first that says something counts. Programs disagree on which of the two cases goes first: this is curl's. */
export const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'] as const
const exceptionVariables = ['no_proxy', 'NO_PROXY'] as const

/** Undefined: there directly. Throws an Error that names the variable, and not its value, when that is no proxy. */
export function proxyFor(target: URL, environment: Environment): Proxy | undefined {
  if (target.protocol !== 'https:') return undefined
  const variable = proxyVariables.find((name) => (environment[name] ?? '') !== '')
  if (variable === undefined) return undefined
  const proxy = parseProxy(environment[variable] ?? '', variable)
  const exceptions =
    exceptionVariables.map((name) => environment[name] ?? '').find((text) => text !== '') ?? ''
  return isExcepted(target, exceptions) ? undefined : proxy
}

function parseProxy(text: string, variable: string): Proxy {
  // A password in the words of an error would be in a log.
  const wrong = () =>
    new Error(`${variable} is not the address of a proxy: it must be http://HOST:PORT or https://HOST:PORT`)
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
    address: `${url.protocol}//${url.hostname}:${port}`,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    isTls,
    ...(username !== '' && { credential: { username, password } }),
  }
}

/** `NO_PROXY`: `*`, names with everything below them, addresses; each may name a port. This machine is never behind a proxy. */
function isExcepted(target: URL, exceptions: string): boolean {
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
