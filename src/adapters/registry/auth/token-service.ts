// Bearer tokens, cached per (host, service, scope, credential) until shortly before they expire. Credentials go only to
// realms that the egress policy accepts for the registry.
import type { Clock } from '../../../ports/clock.ts'
import { formatBasicAuthorization } from '../../../ports/proxy.ts'
import { type RegistryCredential, computeCredentialFingerprint } from './credentials.ts'
import { RegistryError } from '../registry-error.ts'
import { parseRegistryErrorBody, toRegistryResponseError } from '../transport/response-error.ts'
import type { TransportResponse, RegistryTransport } from '../transport/transport.ts'

export interface RegistryTokenRequest {
  readonly host: string
  readonly realm: string
  readonly service: string
  /** `repository:NAME:pull`, the most important first. */
  readonly scopes: readonly string[]
  readonly credential: RegistryCredential
}

// Token replies are small, but some services include whole certificates.
const maxTokenResponseBytes = 1_048_576
// The specification's default, which is also catalog-bot's minimum, because some services specify 0.
const minTokenLifetimeSeconds = 60
// Seconds before expiry, so that a token does not expire in transit. Docker Hub's live for 300 s.
const tokenEarlyRefreshSeconds = 30
// A catalog has a few thousand repositories. Expired tokens are evicted first.
const maxCachedTokens = 10_000

export class RegistryTokenService {
  readonly #transport: Pick<RegistryTransport, 'policy' | 'exchange'>
  readonly #clock: Clock
  readonly #cachedTokens = new Map<string, { readonly token: string; readonly until: number }>()
  readonly #pendingTokens = new Map<string, Promise<string>>()

  constructor(transport: Pick<RegistryTransport, 'policy' | 'exchange'>, clock: Clock) {
    this.#transport = transport
    this.#clock = clock
  }

  /** Rejects with a RegistryError; `private` if the service denies an anonymous token. */
  readonly token = (request: RegistryTokenRequest): Promise<string> => {
    const key = toTokenCacheKey(request)
    const known = this.#cachedTokens.get(key)
    if (known && known.until > this.#clock.now()) return Promise.resolve(known.token)
    let pending = this.#pendingTokens.get(key)
    if (!pending) {
      pending = this.#fetchToken(request).finally(() => this.#pendingTokens.delete(key))
      this.#pendingTokens.set(key, pending)
    }
    return pending
  }

  /** Drops a token that a registry no longer accepts. */
  readonly invalidate = (request: RegistryTokenRequest): void =>
    void this.#cachedTokens.delete(toTokenCacheKey(request))

  get size() {
    return this.#cachedTokens.size + this.#pendingTokens.size
  }

  async #fetchToken(request: RegistryTokenRequest): Promise<string> {
    const realm = this.#realmUrl(request)
    const shares = this.#transport.policy.mayShareCredentials(request.host, realm)
    const credential: RegistryCredential = shares ? request.credential : { kind: 'anonymous' }
    let reply: TransportResponse | undefined
    if (credential.kind === 'identity') {
      reply = await this.#postToken(realm, request, credential.token)
      // Services without OAuth2 support only GET.
      if (reply.status === 404 || reply.status === 405) reply = undefined
    }
    reply ??= await this.#getToken(realm, request, credential)
    if (reply.status === 401 || reply.status === 403) {
      // Red Hat's text explains how to get an account.
      const { text } = parseRegistryErrorBody(reply)
      const detail = text === '' ? '' : `: ${text}`
      if (credential.kind === 'anonymous' && request.credential.kind === 'anonymous')
        throw new RegistryError(
          'private',
          `${request.host} does not allow anonymous access to this repository${detail}`,
        )
      const why = shares
        ? 'rejected the configured credentials'
        : 'is not trusted with the registry credentials'
      throw new RegistryError('credentials', `the token service ${realm.host} ${why}`)
    }
    if (reply.status !== 200)
      throw toRegistryResponseError(reply, this.#clock.now(), `the token service ${realm.host}`)
    const { token, seconds } = parseTokenResponse(reply, realm.host)
    if (this.#cachedTokens.size >= maxCachedTokens) this.#dropExpired()
    this.#cachedTokens.set(toTokenCacheKey(request), {
      token,
      until: this.#clock.now() + (seconds - tokenEarlyRefreshSeconds) * 1000,
    })
    return token
  }

  // The first caller's signal is not passed on because others wait for the same token.
  #getToken(
    realm: URL,
    request: RegistryTokenRequest,
    credential: RegistryCredential,
  ): Promise<TransportResponse> {
    const url = new URL(realm)
    if (request.service !== '') url.searchParams.set('service', request.service)
    for (const scope of request.scopes) url.searchParams.append('scope', scope)
    const headers: Record<string, string> = { accept: 'application/json' }
    if (credential.kind === 'basic') {
      url.searchParams.set('account', credential.username)
      headers['authorization'] = formatBasicAuthorization(credential)
    }
    return this.#transport.exchange({
      method: 'GET',
      url,
      headers,
      bodyLimit: maxTokenResponseBytes,
      redirects: 1,
    })
  }

  #postToken(realm: URL, request: RegistryTokenRequest, refreshToken: string): Promise<TransportResponse> {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      service: request.service,
      scope: request.scopes.join(' '),
      client_id: 'catalog-bot',
    })
    return this.#transport.exchange({
      method: 'POST',
      url: realm,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      bodyLimit: maxTokenResponseBytes,
      redirects: 0,
    })
  }

  #dropExpired(): void {
    for (const [key, { until }] of this.#cachedTokens)
      if (until <= this.#clock.now()) this.#cachedTokens.delete(key)
    while (this.#cachedTokens.size >= maxCachedTokens)
      this.#cachedTokens.delete(this.#cachedTokens.keys().next().value ?? '')
  }

  #realmUrl(request: RegistryTokenRequest): URL {
    let realm: URL
    try {
      realm = new URL(request.realm)
    } catch {
      throw new RegistryError('blocked', `${request.host} specifies a token service with an invalid URL`)
    }
    this.#transport.policy.checkUrl(realm)
    this.#transport.policy.checkHop(
      new URL(`${this.#transport.policy.schemeOf(request.host)}//${request.host}`),
      realm,
    )
    return realm
  }
}

// The key includes the realm: a registry that names another realm must not get the first one's token.
function toTokenCacheKey(request: RegistryTokenRequest): string {
  return JSON.stringify([
    request.host,
    request.realm,
    request.service,
    [...request.scopes].sort(),
    computeCredentialFingerprint(request.credential),
  ])
}

function parseTokenResponse(reply: TransportResponse, host: string): { token: string; seconds: number } {
  try {
    const data = JSON.parse(Buffer.from(reply.body).toString('utf8')) as Record<string, unknown> | null
    const token = [data?.['token'], data?.['access_token']].find(
      (value): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
    )
    const life = data?.['expires_in']
    if (token !== undefined)
      return {
        token,
        seconds: Math.max(minTokenLifetimeSeconds, typeof life === 'number' ? life : minTokenLifetimeSeconds),
      }
  } catch {
    // The text may contain a token, so the message does not quote it.
  }
  throw new RegistryError('server', `the token service ${host} did not return a token`)
}
