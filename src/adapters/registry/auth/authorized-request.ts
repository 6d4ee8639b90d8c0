// Sends authenticated requests. Answers challenges to the actual request, caches each host's challenge, and never sends
// credentials to another host or requests more than the given rights. Does not retry.
import type { AbortSignalLike } from '../../../ports/registry.ts'
import {
  findCredential,
  type RegistryCredential,
  type CredentialSource,
  computeCredentialFingerprint,
} from './credentials.ts'
import type { RegistryEndpoint } from '../registries-conf.ts'
import { RegistryError } from '../registry-error.ts'
import { formatBasicAuthorization } from '../../../ports/proxy.ts'
import type { RegistryTokenRequest, RegistryTokenService } from './token-service.ts'
import type { TransportRequest, TransportResponse, RegistryTransport } from '../transport/transport.ts'

interface AuthChallenge {
  readonly scheme: string
  /** Names are in lower case. For duplicate names, the first one counts. */
  readonly parameters: ReadonlyMap<string, string>
}

// No registry sends a longer challenge. Node limits all headers together to 16 KiB.
const maxAuthChallengeHeaderLength = 8192

const httpTokenPattern = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y

const token68Pattern = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y

const whitespacePattern = /[ \t]*/y

const challengeSeparatorPattern = /[ \t,]*/y

export interface RegistryHttpRequest {
  readonly endpoint: RegistryEndpoint
  readonly method: TransportRequest['method']
  /** Relative to the repository (`manifests/latest`), or a URL on the same host, as for uploads. */
  readonly path: string | URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** The repository that a blob is mounted from. */
  readonly alsoPulls?: string | undefined
  readonly bodyLimit: number
  readonly redirects: number
  readonly signal?: AbortSignalLike | undefined
}

export type AuthorizedRequestSender = (request: RegistryHttpRequest) => Promise<TransportResponse>

type BearerScheme = { readonly scheme: 'bearer'; readonly realm: string; readonly service: string }
type RegistryAuthScheme = { readonly scheme: 'basic' } | BearerScheme

/** The maximum rights of a token, even if the registry's challenge asks for more. */
export type RegistryTokenActions = 'pull' | 'pull,push' | 'delete'

export function createAuthorizedRequestSender(
  transport: RegistryTransport,
  tokens: RegistryTokenService,
  sources: readonly CredentialSource[],
  rights: RegistryTokenActions = 'pull',
): AuthorizedRequestSender {
  // The challenge of each host, so that a token is ready before the first request to the next repository.
  const knownSchemes = new Map<string, RegistryAuthScheme>()

  return async (request) => {
    const { endpoint, signal } = request
    const credential = await findCredential(sources, endpoint.name, endpoint.repository)
    const memory = `${endpoint.host} ${computeCredentialFingerprint(credential)}`
    const origin = toRegistryOrigin(transport, endpoint.host)
    const url = toRequestUrl(request, origin)
    const authorization = createRequestAuthorization(
      request,
      credential,
      rights,
      tokens,
      knownSchemes.get(memory),
    )
    const send = (header: string | undefined) =>
      transport.exchange({
        method: request.method,
        url,
        headers: header === undefined ? request.headers : { ...request.headers, authorization: header },
        body: request.body,
        bodyLimit: request.bodyLimit,
        redirects: request.redirects,
        signal,
      })
    let reply = await send(await authorization.header())
    // At most three more rounds: a fresh token, then one for the scope that the registry asks for.
    for (let round = 0; round < 3 && reply.status === 401; round += 1) {
      // After a redirect, the challenge is not the registry's.
      if (reply.url.origin !== url.origin) return reply
      const challenge = await resolveAuthChallenge(transport, reply, origin, signal)
      const scheme = challenge && authorization.answer(challenge)
      if (!scheme) return reply
      knownSchemes.set(memory, scheme)
      reply = await send(await authorization.header())
    }
    return reply
  }
}

function toRequestUrl({ endpoint, path }: RegistryHttpRequest, origin: string): URL {
  const url = typeof path === 'string' ? new URL(`${origin}/v2/${endpoint.repository}/${path}`) : path
  // Prevents sending credentials to another host.
  if (url.origin !== origin)
    throw new RegistryError('blocked', `a request for ${endpoint.host} would go to ${url.host}`)
  return url
}

/** The credential of one request, in the form that the registry's challenges ask for. */
function createRequestAuthorization(
  { endpoint, alsoPulls }: RegistryHttpRequest,
  credential: RegistryCredential,
  rights: RegistryTokenActions,
  tokens: RegistryTokenService,
  firstScheme: RegistryAuthScheme | undefined,
) {
  const ownScope = `repository:${endpoint.repository}:${rights}`
  const toTokenRequest = ({ realm, service }: BearerScheme, scope: string): RegistryTokenRequest => {
    // The required scope comes first because some services read only one.
    const scopes = [scope, ...(alsoPulls === undefined ? [] : [`repository:${alsoPulls}:pull`])]
    return { host: endpoint.host, realm, service, scopes, credential }
  }
  const attemptedScopes = new Set<string>()
  let known = firstScheme
  let used =
    known?.scheme === 'bearer' && credential.kind !== 'bearer' ? toTokenRequest(known, ownScope) : undefined

  const header = async (): Promise<string | undefined> => {
    if (credential.kind === 'bearer') return `Bearer ${credential.token}`
    if (known?.scheme === 'bearer' && used) return `Bearer ${await tokens.token(used)}`
    if (known?.scheme === 'basic' && credential.kind === 'basic') return formatBasicAuthorization(credential)
    return undefined
  }

  /** The scheme for the next attempt; undefined if there is nothing else to try. */
  const answer = ({ scheme, parameters }: AuthChallenge): RegistryAuthScheme | undefined => {
    if (scheme === 'basic') {
      if (credential.kind !== 'basic') return undefined
      if (known?.scheme === 'basic')
        throw new RegistryError('credentials', `${endpoint.name} rejected the configured credentials`)
      return (known = { scheme: 'basic' })
    }
    if (credential.kind === 'bearer')
      throw new RegistryError('credentials', `${endpoint.name} rejected the configured token`)
    const bearer = {
      scheme: 'bearer',
      realm: parameters.get('realm') ?? '',
      service: parameters.get('service') ?? '',
    } as const
    known = bearer
    if (used) tokens.invalidate(used)
    const requestedScope = restrictTokenScope(parameters.get('scope') ?? '', rights)
    const scopes = requestedScope === '' ? [ownScope] : [ownScope, requestedScope]
    if (parameters.get('error') === 'insufficient_scope') attemptedScopes.add(ownScope)
    const scope = scopes.find((one) => !attemptedScopes.has(one))
    if (scope === undefined) return undefined
    attemptedScopes.add(scope)
    used = toTokenRequest(bearer, scope)
    return bearer
  }
  return { header, answer }
}

async function resolveAuthChallenge(
  transport: RegistryTransport,
  reply: TransportResponse,
  origin: string,
  signal: AbortSignalLike | undefined,
): Promise<AuthChallenge | undefined> {
  const own = selectSupportedAuthChallenge(parseAuthChallenges(reply.headers.get('www-authenticate') ?? []))
  if (own) return own
  // Some proxies send their challenge only for `/v2/`.
  const ping = await transport.exchange({
    method: 'GET',
    url: new URL(`${origin}/v2/`),
    headers: {},
    bodyLimit: 65_536,
    redirects: 0,
    signal,
  })
  return ping.status === 401
    ? selectSupportedAuthChallenge(parseAuthChallenges(ping.headers.get('www-authenticate') ?? []))
    : undefined
}

/** Maps `quay.io` to `https://quay.io`. Throws `blocked` unless it is a plain host name. */
function toRegistryOrigin(transport: RegistryTransport, host: string): string {
  const { origin, hostname } = new URL(`${transport.policy.schemeOf(host)}//${host}`)
  // The URL parser rewrites some hosts (0x7f.1 is an IP address to it), so the result must equal the input.
  if (hostname !== host.replace(/:\d+$/, ''))
    throw new RegistryError('blocked', `"${host}" is not a valid host name`)
  return origin
}

/** The part of a challenge's scope that is within `rights`; empty if nothing is left. */
function restrictTokenScope(scope: string, rights: RegistryTokenActions): string {
  const grantedActions = rights.split(',')
  return scope
    .split(' ')
    .flatMap((entry) => {
      const [, name, actions] = /^repository:(.+):([^:]*)$/.exec(entry) ?? []
      if (name === undefined || actions === undefined) return []
      const requestedActions = actions.split(',')
      const allowed = requestedActions.includes('*')
        ? grantedActions
        : grantedActions.filter((action) => requestedActions.includes(action))
      return allowed.length === 0 ? [] : [`repository:${name}:${allowed.join(',')}`]
    })
    .join(' ')
}

function selectSupportedAuthChallenge(challenges: readonly AuthChallenge[]): AuthChallenge | undefined {
  return (
    challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters.has('realm')) ??
    challenges.find(({ scheme }) => scheme === 'basic')
  )
}

/** Every challenge in order. Parsing stops silently at the first syntax error of a header. */
export function parseAuthChallenges(headers: readonly string[]): readonly AuthChallenge[] {
  return headers.flatMap((header) =>
    header.length > maxAuthChallengeHeaderLength ? [] : parseAuthChallengeHeader(header),
  )
}

function parseAuthChallengeHeader(header: string): AuthChallenge[] {
  const challenges: AuthChallenge[] = []
  let at = 0
  const takeMatch = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const text = pattern.exec(header)?.[0] ?? ''
    at += text.length
    return text
  }
  takeMatch(challengeSeparatorPattern)
  while (at < header.length) {
    const scheme = takeMatch(httpTokenPattern)
    if (scheme === '') break
    const parameters = new Map<string, string>()
    takeMatch(whitespacePattern)
    // A token68 (Negotiate, Basic) has no parameters; an auth-param always has "=" and a value.
    const parameterAhead = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[^=,\s]/y
    parameterAhead.lastIndex = at
    if (!parameterAhead.test(header)) takeMatch(token68Pattern)
    for (;;) {
      const before = at
      takeMatch(challengeSeparatorPattern)
      const name = takeMatch(httpTokenPattern).toLowerCase()
      takeMatch(whitespacePattern)
      if (name === '' || header[at] !== '=') {
        // Not a parameter, so the next challenge starts here.
        at = before
        break
      }
      at += 1
      takeMatch(whitespacePattern)
      const value = header[at] === '"' ? takeQuoted() : takeMatch(httpTokenPattern)
      if (value === undefined) return challenges
      if (!parameters.has(name)) parameters.set(name, value)
    }
    challenges.push({ scheme: scheme.toLowerCase(), parameters })
    const before = at
    takeMatch(challengeSeparatorPattern)
    if (at === before && at < header.length) break
  }
  return challenges

  function takeQuoted(): string | undefined {
    let value = ''
    for (at += 1; at < header.length; at += 1) {
      const character = header[at]
      if (character === '"') {
        at += 1
        return value
      }
      if (character === '\\') at += 1
      value += header[at] ?? ''
    }
    return undefined
  }
}
