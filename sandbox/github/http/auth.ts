// Authenticates callers: app JWTs (RS256), installation tokens, and users' tokens. Tokens exist only in memory and
// are never logged. The log contains the caller's name.
import { createPublicKey, createVerify, randomBytes } from 'node:crypto'
import type { ApiCaller } from './caller.ts'
import {
  GitHubApiError,
  createValidationError,
  createNotAccessibleError,
  createNotFoundError,
} from './route.ts'
import type { RouteAccessRequirement } from './route.ts'
import { canPushToRepository, findCollaboratorRole, formatGitHubTimestamp } from '../github-data.ts'
import type {
  MockAccount,
  MockApp,
  Installation,
  AppPermissions,
  MockRepository,
  MockGitHubData,
} from '../github-data.ts'

/** A caller's name for the request log. */
export function formatCallerName(caller: ApiCaller): string {
  switch (caller.kind) {
    case 'anonymous':
      return 'anonymous'
    case 'app':
      return `app ${caller.app.slug}`
    case 'user':
      return caller.account.login
    case 'installation':
      return `${caller.installation.app.slug}[bot]`
  }
}

interface IssuedToken {
  readonly caller: ApiCaller
  readonly expiresAt: number
}

export class IssuedTokenStore {
  readonly #state: MockGitHubData
  readonly #tokens = new Map<string, IssuedToken>()

  constructor(state: MockGitHubData) {
    this.#state = state
  }

  /** A personal access token, for a user's own Git or API client. It does not expire. */
  personalToken(account: MockAccount): string {
    return this.#issue('ghp_', { kind: 'user', account }, Number.POSITIVE_INFINITY)
  }

  /**
   * An installation token, valid for one hour, for `repositories` and `permissions`, or for everything that the
   * installation has.
   */
  installationToken(
    installation: Installation,
    repositories: ReadonlySet<MockRepository> | undefined,
    permissions: AppPermissions,
  ): { readonly token: string; readonly expires_at: string } {
    const expiresAt = this.#state.now() + 3_600_000
    const token = this.#issue(
      'ghs_',
      { kind: 'installation', installation, repositories, permissions },
      expiresAt,
    )
    return { token, expires_at: formatGitHubTimestamp(expiresAt) }
  }

  #issue(prefix: string, caller: ApiCaller, expiresAt: number): string {
    const token = prefix + randomBytes(27).toString('base64url').replace(/[-_]/g, 'x')
    this.#tokens.set(token, { caller, expiresAt })
    return token
  }

  /** A token with which an App acts for a user who signed in with it. Valid for eight hours. */
  signedInToken(account: MockAccount): string {
    return this.#issue('ghu_', { kind: 'user', account }, this.#state.now() + 8 * 3_600_000)
  }

  /** Returns false if there was no such token. */
  revokeToken(token: string): boolean {
    return this.#tokens.delete(token)
  }

  /** The caller who sent this Authorization header. Throws GitHub's 401 for an invalid or expired token or JWT. */
  identify(header: string | undefined): ApiCaller {
    if (header === undefined) return { kind: 'anonymous' }
    const token = parseAuthorizationToken(header)
    if (token === undefined) throw new GitHubApiError(401, 'Bad credentials')
    if (token.split('.').length === 3) return { kind: 'app', app: this.#verifyJwt(token) }
    const known = this.#tokens.get(token)
    if (known === undefined || known.expiresAt <= this.#state.now())
      throw new GitHubApiError(401, 'Bad credentials')
    if (known.caller.kind === 'installation') {
      const { installation } = known.caller
      if (!this.#state.installations.has(installation.id)) throw new GitHubApiError(401, 'Bad credentials')
      if (installation.suspendedAt !== null)
        throw new GitHubApiError(403, 'This installation has been suspended')
    }
    return known.caller
  }

  #verifyJwt(token: string): MockApp {
    const [head = '', body = '', signature = ''] = token.split('.')
    const header = decodeJwtSegment(head)
    const claims = decodeJwtSegment(body)
    const app = this.#state.apps.get(Number(claims['iss']))
    if (app === undefined) throw new GitHubApiError(401, 'A JSON web token could not be decoded')
    if (header['alg'] !== 'RS256') throw new GitHubApiError(401, 'A JSON web token could not be decoded')
    const verifier = createVerify('RSA-SHA256').update(`${head}.${body}`)
    if (!verifier.verify(createPublicKey(app.privateKey), signature, 'base64url'))
      throw new GitHubApiError(401, 'A JSON web token could not be decoded')
    // Clients use the machine's clock for these claims, regardless of the sandbox's clock.
    const seconds = Date.now() / 1000
    const { exp, iat } = claims
    if (typeof exp !== 'number') throw new GitHubApiError(401, "Missing 'expiration' claim ('exp')")
    if (exp <= seconds)
      throw new GitHubApiError(
        401,
        "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
      )
    if (exp > seconds + 660)
      throw new GitHubApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    if (typeof iat !== 'number' || iat > seconds + 60)
      throw new GitHubApiError(
        401,
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      )
    return app
  }
}

function parseAuthorizationToken(header: string | undefined): string | undefined {
  const [scheme = '', value = ''] = (header ?? '').split(' ')
  if (/^(bearer|token)$/i.test(scheme)) return value
  // Git sends the token as a password, and the user name does not matter.
  if (/^basic$/i.test(scheme)) return Buffer.from(value, 'base64').toString().split(':').slice(1).join(':')
  return undefined
}

function decodeJwtSegment(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    throw new GitHubApiError(401, 'A JSON web token could not be decoded')
  }
}

/** Whether a caller may see a repository. Other repositories do not exist for the caller. */
export function canSeeRepository(caller: ApiCaller, repo: MockRepository): boolean {
  if (!repo.private) return true
  if (caller.kind === 'user') return findCollaboratorRole(repo, caller.account) !== undefined
  return caller.kind === 'installation' && canInstallationSeeRepository(caller, repo)
}

function canInstallationSeeRepository(
  caller: ApiCaller & { kind: 'installation' },
  repo: MockRepository,
): boolean {
  return caller.installation.repositories.has(repo) && caller.repositories?.has(repo) !== false
}

/** Throws unless the caller has the permissions in this repository. */
export function requirePermissions(
  caller: ApiCaller,
  repo: MockRepository,
  permissions: AppPermissions,
): void {
  const writes = Object.values(permissions).includes('write')
  if (caller.kind === 'anonymous' || caller.kind === 'app') {
    if (writes || caller.kind === 'app') throw new GitHubApiError(401, 'Requires authentication')
    return
  }
  if (caller.kind === 'user') {
    // A user with read access may open pull requests, comment, and review. Everything else requires write access.
    const open = ['issues', 'pull_requests'].some((it) => it in permissions)
    if (writes && !open && !canPushToRepository(repo, caller.account))
      throw repo.private
        ? createNotFoundError()
        : new GitHubApiError(403, 'Must have write access to repository')
    return
  }
  if (!canInstallationSeeRepository(caller, repo)) throw createNotAccessibleError()
  if (!hasPermissions(caller, permissions)) throw createNotAccessibleError()
}

function hasPermissions(caller: ApiCaller & { kind: 'installation' }, wanted: AppPermissions): boolean {
  return Object.entries(wanted).every(([name, level]) => {
    // Every token can read metadata. If an installation loses a permission, its existing tokens lose it, too.
    if (name === 'metadata') return level === 'read'
    const held = [caller.permissions[name], caller.installation.permissions[name]]
    return held.every((it) => it === 'write' || (it === 'read' && level === 'read'))
  })
}

const isInstallationAllowed = (caller: ApiCaller, repo: MockRepository, wanted: AppPermissions): boolean =>
  caller.kind === 'installation' &&
  canInstallationSeeRepository(caller, repo) &&
  hasPermissions(caller, wanted)

/** Whether a caller may write a repository's contents. */
export function canWriteContents(caller: ApiCaller, repo: MockRepository): boolean {
  if (caller.kind === 'user') return canPushToRepository(repo, caller.account)
  return isInstallationAllowed(caller, repo, { contents: 'write' })
}

/**
 * Whether a caller may change a repository's settings or, with 'read', view the settings that only administrators
 * can see.
 */
export function canAdministerRepository(
  caller: ApiCaller,
  repo: MockRepository,
  level: 'read' | 'write' = 'write',
): boolean {
  if (caller.kind === 'user') return findCollaboratorRole(repo, caller.account) === 'admin'
  return isInstallationAllowed(caller, repo, { administration: level })
}

/** Throws unless the caller may use a route. For repository routes, `repo` is the repository in the path. */
export function requireRouteAccess(
  caller: ApiCaller,
  needs: RouteAccessRequirement,
  repo: MockRepository | undefined,
): void {
  if (needs === 'anyone') return
  if (needs === 'app') {
    if (caller.kind !== 'app') throw new GitHubApiError(401, 'A JSON web token could not be decoded')
  } else if (needs === 'installation') {
    if (caller.kind !== 'installation')
      throw new GitHubApiError(403, 'You must authenticate with an installation access token')
  } else if ('repo' in needs && Array.isArray(needs.repo)) {
    if (repo === undefined) throw createNotFoundError()
    let rejection: unknown
    for (const choice of needs.repo as readonly AppPermissions[])
      try {
        requirePermissions(caller, repo, choice)
        return
      } catch (error) {
        rejection = error
      }
    throw rejection
  } else if (caller.kind === 'installation') {
    if (!hasPermissions(caller, needs as AppPermissions)) throw createNotAccessibleError()
  } else if (caller.kind !== 'user') throw new GitHubApiError(401, 'Requires authentication')
}

/** The permissions of a token: the requested ones, limited to those of the installation. */
export function narrowTokenPermissions(installation: Installation, asked: unknown): AppPermissions {
  if (asked === undefined) return { ...installation.permissions, metadata: 'read' }
  for (const [name, level] of Object.entries(asked as AppPermissions)) {
    const held = installation.permissions[name] ?? (name === 'metadata' ? 'read' : undefined)
    if (held === undefined || (level === 'write' && held === 'read'))
      throw createValidationError(
        'Installation',
        'permissions',
        'invalid',
        'The permissions requested are not granted to this installation.',
      )
  }
  return { ...(asked as AppPermissions), metadata: 'read' }
}
