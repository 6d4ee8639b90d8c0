// One HTTP exchange with limits, and the following of redirects by hand. Every hop is asked of the egress policy;
// nothing is decompressed, retried or authenticated here, and no header travels to another origin but Accept.
import { Agent, errors } from 'undici'
import type { AbortSignalLike } from '../ports/registry.ts'
import { egressPolicy, type EgressOptions, type EgressPolicy } from './egress-policy.ts'
import { guardedConnector, type Resolve } from './guarded-connector.ts'
import { RegistryError } from './registry-error.ts'

export interface Exchange {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The most bytes of body to take; one more is an error. */
  readonly bodyLimit: number
  /** How many redirects may be followed. */
  readonly redirects: number
  readonly signal?: AbortSignalLike | undefined
}

export interface Reply {
  readonly status: number
  /** Names in lower case; every value of a header that came more than once. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  /** Empty for HEAD. For replies that are not 2xx cut to 64 KiB. */
  readonly body: Uint8Array
  /** Where the reply came from, after redirects. */
  readonly url: URL
}

export interface TransportLimits {
  /** Milliseconds. Defaults 5,000 to connect, 15,000 to the headers, 30,000 between two pieces of a body. */
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  /** Milliseconds for one exchange with all its redirects. Default 120,000. */
  readonly exchangeTimeout: number
  /** Connections per origin. Without a bound undici opens a client for every request in flight. */
  readonly connections: number
}

export const defaultTransportLimits: TransportLimits = {
  connectTimeout: 5_000,
  headersTimeout: 15_000,
  bodyTimeout: 30_000,
  exchangeTimeout: 120_000,
  connections: 64,
}

export interface Transport {
  readonly policy: EgressPolicy
  /** Rejects with a RegistryError: blocked, dns, tls, timeout, network, too-large, aborted. */
  exchange(exchange: Exchange): Promise<Reply>
  close(): Promise<void>
}

// What an error's text may say at most; the rest of it is of no use to anyone.
const errorBodyLimit = 65_536

export function openTransport(
  options: {
    readonly egress?: EgressOptions
    readonly limits?: Partial<TransportLimits> | undefined
    readonly resolve?: Resolve | undefined
    /** False restores undici's own habit of closing the connection after a HEAD: for the benchmark's comparison. */
    readonly keepAliveAfterHead?: boolean | undefined
  } = {},
): Transport {
  const limits = { ...defaultTransportLimits, ...options.limits }
  const policy = egressPolicy(options.egress)
  const agent = new Agent({
    connections: limits.connections,
    allowH2: false,
    headersTimeout: limits.headersTimeout,
    bodyTimeout: limits.bodyTimeout,
    keepAliveTimeout: 30_000,
    connect: guardedConnector(policy, { connectTimeout: limits.connectTimeout, resolve: options.resolve }),
  })

  async function once(exchange: Exchange, url: URL, headers: Exchange['headers'], signal: AbortSignal) {
    policy.checkUrl(url)
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: exchange.method,
      headers: { 'user-agent': 'catalog-bot', 'accept-encoding': 'identity', ...headers },
      body: exchange.body ?? null,
      signal,
      // undici closes the connection after every HEAD unless told otherwise, which costs a handshake per check.
      ...(exchange.method === 'HEAD' && options.keepAliveAfterHead !== false && { reset: false }),
    })
    return response
  }

  async function follow(exchange: Exchange, signal: AbortSignal): Promise<Reply> {
    let url = exchange.url
    let headers = exchange.headers
    for (let hop = 0; ; hop += 1) {
      const response = await once(exchange, url, headers, signal)
      const received = headerMap(response.headers)
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode)
      const location = received.get('location')?.[0]
      if (!isRedirect || location === undefined || exchange.method === 'POST') {
        const ok = response.statusCode >= 200 && response.statusCode < 300
        const body = await readBody(response.body, ok ? exchange.bodyLimit : errorBodyLimit, !ok)
        return { status: response.statusCode, headers: received, body, url }
      }
      await response.body.dump({ limit: errorBodyLimit })
      if (hop >= exchange.redirects)
        throw new RegistryError('blocked', `${url.host} redirects more than ${exchange.redirects} times`)
      const next = redirectTarget(location, url)
      if (url.protocol === 'https:' && next.protocol !== 'https:')
        throw new RegistryError('blocked', `${url.host} redirects from https to ${next.protocol}//`)
      // Another scheme or port is another origin too: whoever answers there has no right to our headers.
      if (next.origin !== url.origin)
        headers = headers['accept'] === undefined ? {} : { accept: headers['accept'] }
      url = next
    }
  }

  return {
    policy,
    async exchange(exchange) {
      const deadline = AbortSignal.timeout(limits.exchangeTimeout)
      const stop = new AbortController()
      if (exchange.signal?.aborted) stop.abort()
      const abort = () => stop.abort()
      exchange.signal?.addEventListener('abort', abort)
      try {
        return await follow(exchange, exchange.signal ? AbortSignal.any([deadline, stop.signal]) : deadline)
      } catch (error) {
        if (stop.signal.aborted)
          throw new RegistryError('aborted', 'the request was called off', { cause: error })
        throw deadline.aborted
          ? new RegistryError('timeout', `${exchange.url.host} did not finish in time`, { cause: error })
          : asRegistryError(error, exchange.url.host)
      } finally {
        ;(exchange.signal as Partial<AbortSignal> | undefined)?.removeEventListener?.('abort', abort)
      }
    },
    close: () => agent.destroy(),
  }
}

function redirectTarget(location: string, base: URL): URL {
  try {
    return new URL(location, base)
  } catch (cause) {
    throw new RegistryError('blocked', `${base.host} redirects to something that is no URL`, { cause })
  }
}

function headerMap(headers: Record<string, string | string[] | undefined>): Map<string, readonly string[]> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value : [value]] as const],
    ),
  )
}

async function readBody(
  stream: AsyncIterable<Uint8Array> & { destroy(): unknown },
  limit: number,
  cut: boolean,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of stream) {
    length += piece.length
    if (length > limit) {
      stream.destroy()
      if (cut) break
      throw new RegistryError('too-large', `the reply is larger than ${limit} bytes`)
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const networkCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
}

function asRegistryError(error: unknown, host: string): RegistryError {
  if (error instanceof RegistryError) return error
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    code === 'ETIMEDOUT'
  )
    return new RegistryError('timeout', `${host} does not answer in time`, { cause: error })
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH)/.test(code))
    return new RegistryError('tls', `the TLS connection to ${host} fails: ${code}`, { cause: error })
  return new RegistryError(
    'network',
    `${host} ${networkCodes[code] ?? `cannot be asked (${code || message})`}`,
    {
      cause: error,
    },
  )
}
