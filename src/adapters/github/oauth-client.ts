// Signs a user in with GitHub's OAuth, and checks whether the user can read a repository. Tokens aren't passed on or
// logged.
import { z } from 'zod'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { formatBasicAuthorization } from '../../ports/proxy.ts'

export interface OAuthClientOptions {
  readonly clientId: string
  readonly clientSecret: string
  readonly apiUrl: string
  /** The page on which users authorize the App. */
  readonly webUrl: string
}

export interface SignedInUser {
  readonly id: number
  readonly login: string
  readonly token: string
}

/** `silent`: GitHub didn't respond. `ended`: the token is no longer valid. */
export type RepositoryReadAccess = 'yes' | 'no' | 'silent' | 'ended'

export interface OAuthClient {
  /** Where a browser goes to sign in. `challenge`: of PKCE, S256. */
  authorizeUrl(request: { state: string; challenge: string; redirectUrl: string }): string
  /** Undefined: GitHub rejects the code or doesn't answer. */
  exchange(given: { code: string; verifier: string; redirectUrl: string }): Promise<SignedInUser | undefined>
  checkReadAccess(token: string, repository: RepositoryName): Promise<RepositoryReadAccess>
  /** Revokes a token if GitHub can be reached. */
  revoke(token: string): Promise<void>
}

const oauthTokenResponseSchema = z.object({
  access_token: z.string().min(1).max(1000),
  token_type: z.string(),
})
const accountSchema = z.object({ id: z.number().int().positive(), login: z.string().min(1) })
const repositorySchema = z.object({ name: z.string(), owner: z.object({ login: z.string() }) })

/** Milliseconds, because a person waits for the page. */
const oauthRequestTimeoutMs = 8_000

export class GitHubOAuthClient implements OAuthClient {
  readonly #options: OAuthClientOptions

  constructor(options: OAuthClientOptions) {
    this.#options = options
  }

  readonly authorizeUrl: OAuthClient['authorizeUrl'] = ({ state, challenge, redirectUrl }) => {
    const url = new URL(`${this.#options.webUrl}/login/oauth/authorize`)
    url.search = new URLSearchParams({
      client_id: this.#options.clientId,
      redirect_uri: redirectUrl,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString()
    return url.href
  }

  readonly exchange: OAuthClient['exchange'] = async ({ code, verifier, redirectUrl }) => {
    const reply = await this.#sendRequest(`${this.#options.webUrl}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json', 'user-agent': 'catalog-bot' },
      body: new URLSearchParams({
        client_id: this.#options.clientId,
        client_secret: this.#options.clientSecret,
        code,
        redirect_uri: redirectUrl,
        code_verifier: verifier,
      }),
    })
    // GitHub answers 200 even when it rejects the request.
    const accessGrant = await readAnswer(reply, oauthTokenResponseSchema)
    if (accessGrant === undefined) return undefined
    const response = await this.#sendRequest(`${this.#options.apiUrl}/user`, {
      headers: this.#headers(accessGrant.access_token),
    })
    const person = await readAnswer(response, accountSchema)
    return person && { ...person, token: accessGrant.access_token }
  }

  readonly checkReadAccess: OAuthClient['checkReadAccess'] = async (token, { owner, name }) => {
    const path = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
    const reply = await this.#sendRequest(`${this.#options.apiUrl}/repos/${path}`, {
      headers: this.#headers(token),
    })
    if (reply === undefined) return 'silent'
    if (reply.status === 401) return 'ended'
    if (!reply.ok) {
      // A reached limit is a 403, too.
      const isLimited = reply.status === 429 || reply.headers.get('x-ratelimit-remaining') === '0'
      return isLimited || reply.status >= 500 ? 'silent' : 'no'
    }
    // An old name may redirect elsewhere, so the answer's name must match.
    const its = await readAnswer(reply, repositorySchema)
    return `${its?.owner.login}/${its?.name}`.toLowerCase() === `${owner}/${name}`.toLowerCase()
      ? 'yes'
      : 'no'
  }

  readonly revoke: OAuthClient['revoke'] = async (token) => {
    const { apiUrl, clientId, clientSecret } = this.#options
    await this.#sendRequest(`${apiUrl}/applications/${encodeURIComponent(clientId)}/token`, {
      method: 'DELETE',
      headers: {
        accept: 'application/vnd.github+json',
        authorization: formatBasicAuthorization({ username: clientId, password: clientSecret }),
        'content-type': 'application/json',
        'user-agent': 'catalog-bot',
      },
      body: JSON.stringify({ access_token: token }),
    })
  }

  async #sendRequest(url: string, init: RequestInit): Promise<Response | undefined> {
    return fetch(url, {
      ...init,
      redirect: 'error',
      signal: AbortSignal.timeout(oauthRequestTimeoutMs),
    }).catch(() => undefined)
  }

  #headers(token: string) {
    return {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'catalog-bot',
    }
  }
}

/** Undefined: GitHub rejects the request, doesn't answer, or answers in another format. */
async function readAnswer<T>(reply: Response | undefined, schema: z.ZodType<T>): Promise<T | undefined> {
  return reply?.ok === true ? schema.safeParse(await reply.json().catch(() => undefined)).data : undefined
}
