// GitHub's pages and endpoints for signing in with an App. Users choose their account with a button. Rejects the same
// requests as GitHub: a callback URL that the App does not have, a code that is used, expired, or issued to another
// App, and a verifier that does not match its challenge.
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { IssuedTokenStore } from './http/auth.ts'
import { escapeHtml, sendHtmlPage } from './pages.ts'
import { findAccountByLogin } from './github-data.ts'
import type { MockAccount, MockApp, MockGitHubData } from './github-data.ts'

export interface SignInPages {
  /** Answers these URLs. Returns false for every other URL. */
  answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<boolean>
}

interface AuthorizationCode {
  readonly app: MockApp
  readonly account: MockAccount
  readonly redirectUrl: string
  readonly challenge: string | undefined
  readonly expiresAt: number
}

/** GitHub's limit: ten minutes. */
const authorizationCodeLifetimeMs = 600_000

export const toOAuthClientId = (app: MockApp): string => `Iv1.${app.id}`

export function createSignInPages(state: MockGitHubData, credentials: IssuedTokenStore): SignInPages {
  const codes = new Map<string, AuthorizationCode>()
  const findAppByClientId = (clientId: string | null) =>
    [...state.apps.values()].find((it) => toOAuthClientId(it) === clientId)
  const sendJson = (response: ServerResponse, status: number, body: unknown): true => {
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(body === undefined ? '' : JSON.stringify(body))
    return true
  }

  function authorize(request: IncomingMessage, response: ServerResponse, url: URL): true {
    const query = url.searchParams
    const app = findAppByClientId(query.get('client_id'))
    const redirectUrl = query.get('redirect_uri') ?? app?.callbackUrls[0] ?? ''
    if (app === undefined) return sendHtmlPage(response, 404, 'Page not found', '')
    if (!app.callbackUrls.includes(redirectUrl))
      return sendHtmlPage(
        response,
        400,
        'Be careful!',
        'The redirect_uri is not associated with this application.',
      )
    const challenge = query.get('code_challenge') ?? undefined
    if (challenge !== undefined && query.get('code_challenge_method') !== 'S256')
      return sendHtmlPage(response, 400, 'Be careful!', 'The code challenge method must be S256.')
    if (request.method === 'POST') {
      const account = findAccountByLogin(state, query.get('as') ?? '')
      if (account === undefined || account.type !== 'User')
        return sendHtmlPage(response, 404, 'Page not found', '')
      const code = randomBytes(10).toString('hex')
      codes.set(code, {
        app,
        account,
        redirectUrl,
        challenge,
        expiresAt: state.now() + authorizationCodeLifetimeMs,
      })
      const to = new URL(redirectUrl)
      to.searchParams.set('code', code)
      to.searchParams.set('state', query.get('state') ?? '')
      response.writeHead(302, { location: to.href }).end()
      return true
    }
    const people = [...state.accounts.values()].filter((it) => it.type === 'User' && !it.deleted)
    const buttons = people.map((it) => {
      const action = new URL(url)
      action.searchParams.set('as', it.login)
      return `<form method="post" action="${escapeHtml(`${action.pathname}${action.search}`)}"><button>Authorize as ${escapeHtml(it.login)}</button></form>`
    })
    return sendHtmlPage(response, 200, `Authorize ${app.slug}`, buttons.join(''))
  }

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<true> {
    const given = new URLSearchParams(await text(request))
    const app = findAppByClientId(given.get('client_id'))
    if (app === undefined || given.get('client_secret') !== app.clientSecret)
      return sendJson(response, 200, { error: 'incorrect_client_credentials' })
    const name = given.get('code') ?? ''
    const code = codes.get(name)
    codes.delete(name)
    if (code === undefined || code.app !== app || code.expiresAt <= state.now())
      return sendJson(response, 200, { error: 'bad_verification_code' })
    if (given.get('redirect_uri') !== code.redirectUrl)
      return sendJson(response, 200, { error: 'redirect_uri_mismatch' })
    const made = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (code.challenge !== undefined && code.challenge !== made)
      return sendJson(response, 200, { error: 'bad_verification_code' })
    return sendJson(response, 200, {
      access_token: credentials.signedInToken(code.account),
      expires_in: 28_800,
      token_type: 'bearer',
      scope: '',
    })
  }

  async function revoke(request: IncomingMessage, response: ServerResponse, url: URL): Promise<true> {
    const app = findAppByClientId(decodeURIComponent(url.pathname.split('/')[2] ?? ''))
    const [id, secret] = Buffer.from((request.headers.authorization ?? '').replace(/^basic /i, ''), 'base64')
      .toString()
      .split(':')
    if (app === undefined || id !== toOAuthClientId(app) || secret !== app.clientSecret)
      return sendJson(response, 401, { message: 'Requires authentication' })
    const { access_token: token } = JSON.parse(await text(request)) as { access_token?: string }
    return sendJson(response, credentials.revokeToken(token ?? '') ? 204 : 422, undefined)
  }

  return {
    async answer(request, response, url) {
      if (url.pathname === '/login/oauth/authorize') return authorize(request, response, url)
      if (url.pathname === '/login/oauth/access_token' && request.method === 'POST')
        return exchange(request, response)
      if (/^\/applications\/[^/]+\/token$/.test(url.pathname) && request.method === 'DELETE')
        return revoke(request, response, url)
      return false
    },
  }
}
