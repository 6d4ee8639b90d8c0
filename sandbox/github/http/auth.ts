// Who calls: app JWTs (RS256), installation tokens and people's tokens. Tokens live in memory only and
// never reach a log: what is recorded is the caller's name.
import { createPublicKey, createVerify, randomBytes } from 'node:crypto'
import type { Caller } from './caller.ts'
import { Refusal, invalid, notAccessible, notFound } from './route.ts'
import type { Needs } from './route.ts'
import { mayPush, roleOf, timestampOf } from '../world.ts'
import type { Account, App, Installation, Permissions, Repo, World } from '../world.ts'

/** A caller's name for the request log. */
export function nameOf(caller: Caller): string {
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

interface Token {
  readonly caller: Caller
  readonly expiresAt: number
}

export class Credentials {
  readonly #world: World
  readonly #tokens = new Map<string, Token>()

  constructor(world: World) {
    this.#world = world
  }

  /** A personal access token: what a person's own git or client uses. It does not expire. */
  personalToken(account: Account): string {
    return this.#issue('ghp_', { kind: 'user', account }, Number.POSITIVE_INFINITY)
  }

  /** An installation token of one hour, for `repositories` and `permissions` or for all that the installation has. */
  installationToken(
    installation: Installation,
    repositories: ReadonlySet<Repo> | undefined,
    permissions: Permissions,
  ): { readonly token: string; readonly expires_at: string } {
    const expiresAt = this.#world.now() + 3_600_000
    const token = this.#issue(
      'ghs_',
      { kind: 'installation', installation, repositories, permissions },
      expiresAt,
    )
    return { token, expires_at: timestampOf(expiresAt) }
  }

  #issue(prefix: string, caller: Caller, expiresAt: number): string {
    const token = prefix + randomBytes(27).toString('base64url').replace(/[-_]/g, 'x')
    this.#tokens.set(token, { caller, expiresAt })
    return token
  }

  /** A token by which an App acts for somebody who signed in with it: eight hours. */
  signedInToken(account: Account): string {
    return this.#issue('ghu_', { kind: 'user', account }, this.#world.now() + 8 * 3_600_000)
  }

  /** False: there was none. */
  endToken(token: string): boolean {
    return this.#tokens.delete(token)
  }

  /** Ends the token that this very caller came with. */
  revoke(caller: Caller): void {
    for (const [token, known] of this.#tokens) if (known.caller === caller) this.#tokens.delete(token)
  }

  /** Who sends this Authorization header. Throws GitHub's 401 for a token or JWT that is not valid (any more). */
  identify(header: string | undefined): Caller {
    if (header === undefined) return { kind: 'anonymous' }
    const token = tokenIn(header)
    if (token === undefined) throw new Refusal(401, 'Bad credentials')
    if (token.split('.').length === 3) return { kind: 'app', app: this.#verifyJwt(token) }
    const known = this.#tokens.get(token)
    if (known === undefined || known.expiresAt <= this.#world.now()) throw new Refusal(401, 'Bad credentials')
    if (known.caller.kind === 'installation') {
      const { installation } = known.caller
      if (!this.#world.installations.has(installation.id)) throw new Refusal(401, 'Bad credentials')
      if (installation.suspendedAt !== null) throw new Refusal(403, 'This installation has been suspended')
    }
    return known.caller
  }

  #verifyJwt(token: string): App {
    const [head = '', body = '', signature = ''] = token.split('.')
    const header = decode(head)
    const claims = decode(body)
    const app = this.#world.apps.get(Number(claims['iss']))
    if (app === undefined) throw new Refusal(401, 'A JSON web token could not be decoded')
    if (header['alg'] !== 'RS256') throw new Refusal(401, 'A JSON web token could not be decoded')
    const verifier = createVerify('RSA-SHA256').update(`${head}.${body}`)
    if (!verifier.verify(createPublicKey(app.privateKey), signature, 'base64url'))
      throw new Refusal(401, 'A JSON web token could not be decoded')
    // Clients take the machine's clock for these, whatever clock the sandbox was given.
    const seconds = Date.now() / 1000
    const { exp, iat } = claims
    if (typeof exp !== 'number') throw new Refusal(401, "Missing 'expiration' claim ('exp')")
    if (exp <= seconds)
      throw new Refusal(
        401,
        "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
      )
    if (exp > seconds + 660)
      throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    if (typeof iat !== 'number' || iat > seconds + 60)
      throw new Refusal(
        401,
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      )
    return app
  }
}

function tokenIn(header: string | undefined): string | undefined {
  const [scheme = '', value = ''] = (header ?? '').split(' ')
  if (/^(bearer|token)$/i.test(scheme)) return value
  // git sends the token as a password; the name beside it does not matter.
  if (/^basic$/i.test(scheme)) return Buffer.from(value, 'base64').toString().split(':').slice(1).join(':')
  return undefined
}

function decode(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    throw new Refusal(401, 'A JSON web token could not be decoded')
  }
}

/** Whether a caller may see a repository at all: what it may not see does not exist for it. */
export function maySee(world: World, caller: Caller, repo: Repo): boolean {
  if (!repo.private) return true
  if (caller.kind === 'user') return roleOf(world, repo, caller.account) !== undefined
  return caller.kind === 'installation' && reaches(caller, repo)
}

function reaches(caller: Caller & { kind: 'installation' }, repo: Repo): boolean {
  return caller.installation.repositories.has(repo) && caller.repositories?.has(repo) !== false
}

/** Throws unless the caller has the permissions in this repository. */
export function demand(world: World, caller: Caller, repo: Repo, permissions: Permissions): void {
  const writes = Object.values(permissions).includes('write')
  if (caller.kind === 'anonymous' || caller.kind === 'app') {
    if (writes || caller.kind === 'app') throw new Refusal(401, 'Requires authentication')
    return
  }
  if (caller.kind === 'user') {
    // A person with read access may open pull requests, comment and review; the rest needs push access.
    const open = ['issues', 'pull_requests'].some((it) => it in permissions)
    if (writes && !open && !mayPush(world, repo, caller.account))
      throw repo.private ? notFound() : new Refusal(403, 'Must have write access to repository')
    return
  }
  if (!reaches(caller, repo)) throw notAccessible()
  if (!grants(caller, permissions)) throw notAccessible()
}

function grants(caller: Caller & { kind: 'installation' }, wanted: Permissions): boolean {
  return Object.entries(wanted).every(([name, level]) => {
    // Every token may read metadata; an installation's later loss of a permission binds its old tokens too.
    if (name === 'metadata') return level === 'read'
    const held = [caller.permissions[name], caller.installation.permissions[name]]
    return held.every((it) => it === 'write' || (it === 'read' && level === 'read'))
  })
}

/** Whether a caller may write a repository's contents. */
export function mayWrite(world: World, caller: Caller, repo: Repo): boolean {
  if (caller.kind === 'user') return mayPush(world, repo, caller.account)
  return caller.kind === 'installation' && reaches(caller, repo) && grants(caller, { contents: 'write' })
}

/** Whether a caller may change a repository's settings, or with 'read' only see what administrators see. */
export function mayAdminister(
  world: World,
  caller: Caller,
  repo: Repo,
  level: 'read' | 'write' = 'write',
): boolean {
  if (caller.kind === 'user') return roleOf(world, repo, caller.account) === 'admin'
  return caller.kind === 'installation' && reaches(caller, repo) && grants(caller, { administration: level })
}

/** Throws unless the caller may use a route; for repository routes `repo` is the one that the path names. */
export function authorize(world: World, caller: Caller, needs: Needs, repo: Repo | undefined): void {
  if (needs === 'anyone') return
  if (needs === 'app') {
    if (caller.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded')
  } else if (needs === 'installation') {
    if (caller.kind !== 'installation')
      throw new Refusal(403, 'You must authenticate with an installation access token')
  } else if ('repo' in needs && Array.isArray(needs.repo)) {
    if (repo === undefined) throw notFound()
    let refusal: unknown
    for (const choice of needs.repo as readonly Permissions[])
      try {
        demand(world, caller, repo, choice)
        return
      } catch (error) {
        refusal = error
      }
    throw refusal
  } else if (caller.kind === 'installation') {
    if (!grants(caller, needs as Permissions)) throw notAccessible()
  } else if (caller.kind !== 'user') throw new Refusal(401, 'Requires authentication')
}

/** The permissions a token gets: those asked for, each within what the installation has. */
export function narrowed(installation: Installation, asked: unknown): Permissions {
  if (asked === undefined) return { ...installation.permissions, metadata: 'read' }
  for (const [name, level] of Object.entries(asked as Permissions)) {
    const held = installation.permissions[name] ?? (name === 'metadata' ? 'read' : undefined)
    if (held === undefined || (level === 'write' && held === 'read'))
      throw invalid(
        'Installation',
        'permissions',
        'invalid',
        'The permissions requested are not granted to this installation.',
      )
  }
  return { ...(asked as Permissions), metadata: 'read' }
}
