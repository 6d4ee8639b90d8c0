// Performs one HTTP request within limits. Follows redirects itself: the egress policy checks every hop, and only
// Accept crosses origins. Does not decompress, retry, or authenticate.
import { Agent, errors, type Dispatcher } from 'undici'
import type { AbortSignalLike } from '../../../ports/registry.ts'
import { BodyBuffer } from '../../body-buffer.ts'
import { type EgressOptions, EgressPolicy } from './egress-policy.ts'
import { createEgressPolicyConnector, type HostnameResolver } from './guarded-connector.ts'
import { RegistryError } from '../registry-error.ts'

export interface TransportRequest {
  /** Redirects are followed for GET and HEAD only. */
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** In bytes. A longer body is an error. */
  readonly bodyLimit: number
  /** The maximum number of redirects to follow. */
  readonly redirects: number
  readonly signal?: AbortSignalLike | undefined
}

export interface TransportResponse {
  readonly status: number
  readonly headers: TransportResponseHeaders
  /** Empty for HEAD. Truncated to 64 KiB if the reply is not 2xx. */
  readonly body: Uint8Array
  readonly url: URL
}

export interface TransportResponseHeaders {
  get(name: string): readonly string[] | undefined
}

export interface TransportLimits {
  /** Milliseconds. Defaults: 5,000 to connect, 15,000 until the headers, 30,000 between two chunks of a body. */
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  /** Milliseconds for an exchange with its redirects. Default 120,000. */
  readonly exchangeTimeout: number
  /** Connections per origin. Without a limit, undici opens one for every pending request. */
  readonly connections: number
}

const defaultTransportLimits: TransportLimits = {
  connectTimeout: 5_000,
  headersTimeout: 15_000,
  bodyTimeout: 30_000,
  exchangeTimeout: 120_000,
  connections: 64,
}

const maxErrorBodyBytes = 65_536

export interface TransportOptions {
  readonly egress?: EgressOptions
  readonly limits?: Partial<TransportLimits> | undefined
  readonly resolve?: HostnameResolver | undefined
}

export class RegistryTransport {
  readonly policy: EgressPolicy
  readonly #limits
  readonly #agent

  constructor(options: TransportOptions = {}) {
    this.#limits = { ...defaultTransportLimits, ...options.limits }
    this.policy = new EgressPolicy(options.egress)
    this.#agent = new Agent({
      connections: this.#limits.connections,
      allowH2: false,
      headersTimeout: this.#limits.headersTimeout,
      bodyTimeout: this.#limits.bodyTimeout,
      keepAliveTimeout: 30_000,
      connect: createEgressPolicyConnector(this.policy, {
        connectTimeout: this.#limits.connectTimeout,
        resolve: options.resolve,
      }),
    })
  }

  readonly exchange = async (exchange: TransportRequest): Promise<TransportResponse> => {
    const run: RequestAbortHandle = { stop: undefined, stopped: undefined }
    const abortExchange = (error: RegistryError) => {
      run.stopped ??= error
      run.stop?.(run.stopped)
    }
    const { host } = exchange.url
    const deadline = setTimeout(
      () => abortExchange(new RegistryError('timeout', `${host} did not complete the response in time`)),
      this.#limits.exchangeTimeout,
    )
    const abort = () => abortExchange(new RegistryError('aborted', 'the request was canceled'))
    exchange.signal?.addEventListener('abort', abort)
    try {
      if (exchange.signal?.aborted) abort()
      if (run.stopped) throw run.stopped
      return await this.#followRedirects(exchange, run)
    } catch (error) {
      throw run.stopped ?? toTransportError(error, host)
    } finally {
      clearTimeout(deadline)
      ;(exchange.signal as Partial<AbortSignal> | undefined)?.removeEventListener?.('abort', abort)
    }
  }

  readonly close = (): Promise<void> => this.#agent.destroy()

  // undici's dispatch instead of request() avoids a stream, signal and iterator per reply, which halves the cost of a
  // check.
  #exchangeOnce(
    exchange: TransportRequest,
    url: URL,
    headers: TransportRequest['headers'],
    run: RequestAbortHandle,
  ): Promise<TransportResponse> {
    this.policy.checkUrl(url)
    return new Promise((resolve, reject) => {
      const body = new BodyBuffer()
      let status = 0
      let received: TransportResponseHeaders = emptyResponseHeaders
      let limit = 0
      const succeed = () => resolve({ status, headers: received, body: body.toBuffer(), url })
      // A queued request has nothing to abort.
      run.stop = reject
      this.#agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: exchange.method,
          headers: { 'user-agent': 'catalog-bot', 'accept-encoding': 'identity', ...headers },
          body: exchange.body ?? null,
          // By default, undici closes the connection after every HEAD, which costs a handshake per check.
          ...(exchange.method === 'HEAD' && { reset: false }),
        },
        {
          onRequestStart(controller) {
            if (run.stopped) return controller.abort(run.stopped)
            run.stop = (error) => controller.abort(error)
          },
          onResponseStart(_controller, code, map) {
            // Skips interim responses (100, 103).
            if (code < 200) return
            status = code
            received = toResponseHeaders(map)
            limit = isSuccessStatus(code) ? exchange.bodyLimit : maxErrorBodyBytes
          },
          onResponseData(controller, piece) {
            if (body.length + piece.length <= limit) return body.add(piece)
            const contentType = received.get('content-type')?.[0]
            const error = new RegistryError('too-large', `the response is larger than ${limit} bytes`, {
              contentType,
            })
            // The start of an error body is enough.
            if (isSuccessStatus(status)) reject(error)
            else succeed()
            controller.abort(error)
          },
          onResponseEnd: succeed,
          onResponseError: (_controller: Dispatcher.DispatchController, error: Error) => reject(error),
        },
      )
    })
  }

  async #followRedirects(exchange: TransportRequest, run: RequestAbortHandle): Promise<TransportResponse> {
    let url = exchange.url
    let headers = exchange.headers
    for (let hop = 0; ; hop += 1) {
      const reply = await this.#exchangeOnce(exchange, url, headers, run)
      const location = redirectStatuses.has(reply.status) ? reply.headers.get('location')?.[0] : undefined
      if (location === undefined || !(exchange.method === 'GET' || exchange.method === 'HEAD')) return reply
      if (hop >= exchange.redirects)
        throw new RegistryError('blocked', `${url.host} redirects more than ${exchange.redirects} times`)
      const next = parseRedirectUrl(location, url)
      if (url.protocol === 'https:' && next.protocol !== 'https:')
        throw new RegistryError('blocked', `${url.host} redirects from https to ${next.protocol}//`)
      this.policy.checkHop(url, next)
      // Another scheme or port is another origin, which must not receive the headers.
      if (next.origin !== url.origin)
        headers = headers['accept'] === undefined ? {} : { accept: headers['accept'] }
      url = next
    }
  }
}

/** Lets the caller abort an exchange. */
interface RequestAbortHandle {
  stop: ((error: RegistryError) => void) | undefined
  stopped: RegistryError | undefined
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const isSuccessStatus = (status: number): boolean => status >= 200 && status < 300

function parseRedirectUrl(location: string, base: URL): URL {
  try {
    return new URL(location, base)
  } catch (cause) {
    throw new RegistryError('blocked', `${base.host} redirects to an invalid URL`, { cause })
  }
}

const emptyResponseHeaders: TransportResponseHeaders = { get: () => undefined }

function toResponseHeaders(
  map: Readonly<Record<string, string | string[] | undefined>>,
): TransportResponseHeaders {
  return {
    get(name) {
      const value = Object.hasOwn(map, name) ? map[name] : undefined
      return typeof value === 'string' ? [value] : value
    },
  }
}

const networkErrorMessageByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'did not accept the connection',
  ECONNRESET: 'closed the connection',
  EHOSTUNREACH: 'is unreachable',
  ENETUNREACH: 'is unreachable',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
}

function toTransportError(error: unknown, host: string): RegistryError {
  if (error instanceof RegistryError) return error
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    code === 'ETIMEDOUT'
  )
    return new RegistryError('timeout', `${host} did not respond in time`, { cause: error })
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH)/.test(code))
    return new RegistryError('tls', `the TLS connection to ${host} failed: ${code}`, { cause: error })
  return new RegistryError(
    'network',
    `${host} ${networkErrorMessageByCode[code] ?? `cannot be queried (${code || message})`}`,
    { cause: error },
  )
}
