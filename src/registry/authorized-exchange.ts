// Exchanges with a registry as somebody: answers its challenges on the real request, remembers per host which
// kind it uses, and sends credentials to no other host. Retries belong elsewhere.
import type { AbortSignalLike } from '../ports/registry.ts'
import { parseChallenges, type Challenge } from './challenges.ts'
import { credentialIdentity } from './credential-identity.ts'
import { findCredential, type Credential, type CredentialSource } from './credentials.ts'
import type { Endpoint } from './endpoints.ts'
import { RegistryError } from './registry-error.ts'
import { basicAuthorization, type TokenRequest, type TokenService } from './token-service.ts'
import type { Reply, Transport } from './transport.ts'

export interface RegistryRequest {
  readonly endpoint: Endpoint
  readonly method: 'GET' | 'HEAD'
  /** Below the repository: `manifests/latest`. */
  readonly path: string
  readonly accept: string
  readonly bodyLimit: number
  readonly redirects: number
  readonly signal?: AbortSignalLike | undefined
}

export type AuthorizedExchange = (request: RegistryRequest) => Promise<Reply>

type Known =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string }

export function authorizedExchange(
  transport: Transport,
  tokens: TokenService,
  sources: readonly CredentialSource[],
): AuthorizedExchange {
  // What each host asked for last time, so that a token is there before the next repository's first request.
  const remembered = new Map<string, Known>()

  return async (request) => {
    const { endpoint, signal } = request
    const credential = await findCredential(sources, endpoint.name, endpoint.repository)
    const memory = `${endpoint.host} ${credentialIdentity(credential)}`
    const origin = `${transport.policy.schemeOf(endpoint.host)}//${endpoint.host}`
    const url = new URL(`${origin}/v2/${endpoint.repository}/${request.path}${endpoint.query}`)
    // The URL parser has its own idea of hosts (0x7f.1 is one to it): what it made must be what was written.
    if (url.host !== new URL(origin).host || url.hostname !== endpoint.host.replace(/:\d+$/, ''))
      throw new RegistryError('blocked', `"${endpoint.host}" is not a plain host name`)
    const send = (authorization: string | undefined): Promise<Reply> =>
      transport.exchange({
        method: request.method,
        url,
        headers: { accept: request.accept, ...(authorization !== undefined && { authorization }) },
        bodyLimit: request.bodyLimit,
        redirects: request.redirects,
        signal,
      })
    const ownScope = `repository:${endpoint.repository}:pull`
    const tokenRequest = (known: Known & { scheme: 'bearer' }, scope: string): TokenRequest => ({
      host: endpoint.host,
      realm: known.realm,
      service: known.service,
      scope,
      credential,
    })

    let known = remembered.get(memory)
    let used: TokenRequest | undefined
    if (known?.scheme === 'bearer' && credential.kind !== 'bearer') used = tokenRequest(known, ownScope)
    let reply = await send(await authorizationFor(known, credential, used))
    const tried = new Set<string>()
    // At most three more: a fresh token, then one for the scope that the registry itself asks for.
    for (let round = 0; round < 3 && reply.status === 401; round += 1) {
      // A challenge of a server that a redirect led to is not the registry's.
      if (reply.url.origin !== url.origin) return reply
      const challenge = await challengeOf(reply, origin, signal)
      if (!challenge) return reply
      if (challenge.scheme === 'basic') {
        if (credential.kind !== 'basic') return reply
        if (known?.scheme === 'basic')
          throw new RegistryError('credentials', `${endpoint.name} does not take our credentials`)
        known = { scheme: 'basic' }
      } else {
        if (credential.kind === 'bearer')
          throw new RegistryError('credentials', `${endpoint.name} does not take our token`)
        known = {
          scheme: 'bearer',
          realm: challenge.parameters.get('realm') ?? '',
          service: challenge.parameters.get('service') ?? '',
        }
        if (used) tokens.forget(used)
        const scopes = [ownScope, challenge.parameters.get('scope')].filter((scope) => scope !== undefined)
        if (challenge.parameters.get('error') === 'insufficient_scope') tried.add(ownScope)
        const scope = scopes.find((scope) => !tried.has(scope))
        if (scope === undefined) return reply
        tried.add(scope)
        used = tokenRequest(known, scope)
      }
      remembered.set(memory, known)
      reply = await send(await authorizationFor(known, credential, used))
    }
    return reply
  }

  async function authorizationFor(
    known: Known | undefined,
    credential: Credential,
    token: TokenRequest | undefined,
  ): Promise<string | undefined> {
    if (credential.kind === 'bearer') return `Bearer ${credential.token}`
    if (known?.scheme === 'bearer' && token) return `Bearer ${await tokens.token(token)}`
    if (known?.scheme === 'basic' && credential.kind === 'basic') return basicAuthorization(credential)
    return undefined
  }

  async function challengeOf(
    reply: Reply,
    origin: string,
    signal: AbortSignalLike | undefined,
  ): Promise<Challenge | undefined> {
    const own = choose(parseChallenges(reply.headers.get('www-authenticate') ?? []))
    if (own) return own
    // Some proxies say how to log in only at the entrance.
    const ping = await transport.exchange({
      method: 'GET',
      url: new URL(`${origin}/v2/`),
      headers: {},
      bodyLimit: 65_536,
      redirects: 0,
      signal,
    })
    return ping.status === 401
      ? choose(parseChallenges(ping.headers.get('www-authenticate') ?? []))
      : undefined
  }
}

function choose(challenges: readonly Challenge[]): Challenge | undefined {
  return (
    challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters.has('realm')) ??
    challenges.find(({ scheme }) => scheme === 'basic')
  )
}
