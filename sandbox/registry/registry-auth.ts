// The registry's authentication: none, basic, or bearer tokens from a separate token server, like Docker Hub and
// ghcr.io.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface RegistryAuth {
  readonly kind: 'none' | 'basic' | 'bearer'
  readonly users?: Readonly<Record<string, string>>
  /** Repositories that anonymous users cannot pull. */
  readonly private?: readonly string[]
  /**
   * Whether the token server gives anonymous users an empty token for a private repository (hub) or rejects them
   * (ghcr).
   */
  readonly style?: 'hub' | 'ghcr'
}

export interface RequiredRegistryScope {
  readonly repository: string
  readonly action: 'pull' | 'push' | 'delete'
}

interface IssuedRegistryToken {
  readonly user: string | undefined
  readonly scopes: ReadonlySet<string>
  readonly expiresAt: number
}

export interface RegistryAuthDenial {
  readonly status: 401 | 403
  readonly headers: Record<string, string>
}

// The lifetime of Docker Hub's tokens.
const tokenLifetimeSeconds = 300

export class RegistryAuthorizer {
  readonly #auth: RegistryAuth
  readonly #base: () => string
  readonly #tokens = new Map<string, IssuedRegistryToken>()

  constructor(auth: RegistryAuth, base: () => string) {
    this.#auth = auth
    this.#base = base
  }

  /** Undefined if the request is allowed. */
  check(request: IncomingMessage, need: RequiredRegistryScope | undefined): RegistryAuthDenial | undefined {
    const { kind } = this.#auth
    if (kind === 'none') return undefined
    const { authorization } = request.headers
    const scope = need === undefined ? '' : `repository:${need.repository}:${need.action}`
    if (kind === 'basic') {
      if (this.#basicUser(authorization) !== undefined) return undefined
      return { status: 401, headers: { 'www-authenticate': 'Basic realm="registry"' } }
    }
    const token = this.#tokens.get(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '')
    if (token !== undefined && token.expiresAt > Date.now() && (scope === '' || token.scopes.has(scope)))
      return undefined
    const scopeParameter =
      need === undefined
        ? ''
        : `,scope="repository:${need.repository}:${need.action === 'push' ? 'pull,push' : need.action}"`
    const error = token === undefined ? '' : ',error="insufficient_scope"'
    const challenge = `Bearer realm="${this.#base()}/token",service="sandbox"${scopeParameter}${error}`
    return { status: 401, headers: { 'www-authenticate': challenge } }
  }

  /** The user in a Basic header, or undefined without a header or with a wrong password. */
  #basicUser(header: string | undefined): string | undefined {
    const encoded = /^Basic (.+)$/i.exec(header ?? '')?.[1]
    if (encoded === undefined) return undefined
    const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
    return this.#auth.users?.[user] === rest.join(':') && rest.length > 0 ? user : undefined
  }

  /** The token server. Undefined: rejected. */
  issue(
    request: IncomingMessage,
    url: URL,
    form: URLSearchParams,
  ): { readonly token: string; readonly expires_in: number } | undefined {
    const given = request.headers.authorization ?? formatBasicAuthorizationHeader(form)
    const user = this.#basicUser(given)
    if (given !== undefined && user === undefined) return undefined
    const requestedScopes = [...url.searchParams.getAll('scope'), ...form.getAll('scope')].flatMap((it) =>
      it.split(' '),
    )
    const scopes = new Set<string>()
    for (const scope of requestedScopes) {
      const [, repository, actions] = /^repository:(.+):([^:]+)$/.exec(scope) ?? []
      if (repository === undefined || actions === undefined) continue
      const hidden = this.#auth.private?.includes(repository) === true
      if (hidden && user === undefined && this.#auth.style === 'ghcr') return undefined
      for (const action of actions.split(','))
        if (user !== undefined || (action === 'pull' && !hidden))
          scopes.add(`repository:${repository}:${action}`)
    }
    const token = randomBytes(24).toString('base64url')
    this.#tokens.set(token, { user, scopes, expiresAt: Date.now() + tokenLifetimeSeconds * 1000 })
    return { token, expires_in: tokenLifetimeSeconds }
  }
}

/** Converts the password grant of the OAuth form to the equivalent Basic header. */
function formatBasicAuthorizationHeader(form: URLSearchParams): string | undefined {
  const user = form.get('username')
  return user === null
    ? undefined
    : `Basic ${Buffer.from(`${user}:${form.get('password') ?? ''}`).toString('base64')}`
}
