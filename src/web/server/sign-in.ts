// GitHub sign-in: OAuth with state and PKCE. State and token are sealed in the browser's cookies only. The store lists
// valid sessions, so that sign-out works on every instance and for copied cookies. Everything expires within an hour.
import { createHash, randomBytes, createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { IncomingMessage, IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { OAuthClient, SignedInUser } from '../../adapters/github/oauth-client.ts'
import { defineCacheNamespace, type Cache } from '../../ports/cache.ts'
import { isSetupToken } from '../setup/setup-page.ts'
import { parsePageUrl } from '../../report/urls.ts'

interface CookieSealer {
  seal(value: unknown): string
  /** Returns undefined unless the value was sealed for this purpose with this secret. */
  open(sealed: string): unknown
}

const cipherAlgorithm = 'aes-256-gcm'

const [nonceLength, tagLength] = [12, 16]

/** Browsers limit cookies to 4096 characters. */
const maxSealedCookieLength = 4096

/** Browsers accept a `__Host-` name only with Secure, Path=/ and no Domain, so no other host can set one. */
const toHostPrefixedCookieName = (name: string, isSecure: boolean): string =>
  isSecure ? `__Host-${name}` : name

/** Seconds to complete the sign-in, and that a session lasts. */
const [signInTimeoutSeconds, session] = [600, 3600]
const signInCookieNames = { way: 'catalog-bot-way', session: 'catalog-bot-session' } as const

const pendingSignInSchema = z.object({
  state: z.string(),
  verifier: z.string(),
  to: z.string(),
  until: z.number(),
})
const sessionSchema = z.object({
  id: z.number(),
  login: z.string(),
  token: z.string(),
  /** Form token against cross-site requests. */
  word: z.string(),
  until: z.number(),
})

/** The digest of the session in each slot. If lost, the session ends. */
const sessionSlotCacheNamespace = defineCacheNamespace('page session', 1, z.string())
const computeTokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex')
/** A user has 256 slots, which limits the store's size. A newer session replaces the old one in its slot. */
const toSessionSlotKey = ({ id, word }: Pick<WebSession, 'id' | 'word'>): string =>
  `${id} ${computeTokenDigest(word).slice(0, 2)}`

export interface WebSession extends SignedInUser {
  readonly word: string
}

interface SignInRedirect {
  readonly to: string
  readonly cookies: readonly string[]
}

interface SignInFlowOptions {
  readonly client: OAuthClient
  readonly clientSecret: string
  readonly publicUrl: string
  readonly store: Cache
  readonly now: () => number
}

export class SignInFlow {
  readonly #client: OAuthClient
  readonly #store: Cache
  readonly #now: () => number
  readonly #isSecure: boolean
  readonly #redirectUrl: string
  readonly #pendingSignIns: CookieSealer
  readonly #sessions: CookieSealer
  /** The cookies that end a session. */
  readonly clearedCookies: readonly string[]

  constructor({ client, clientSecret, publicUrl, store, now }: SignInFlowOptions) {
    this.#client = client
    this.#store = store
    this.#now = now
    this.#isSecure = publicUrl.startsWith('https:')
    this.#redirectUrl = `${publicUrl}/sign-in/back`
    this.#pendingSignIns = createCookieSealer(clientSecret, 'way to GitHub')
    this.#sessions = createCookieSealer(clientSecret, 'session')
    this.clearedCookies = [this.#formatCookie(signInCookieNames.session, '', 0)]
  }

  /** Undefined for anonymous visitors and ended sessions. */
  async readSession({ headers }: Pick<IncomingMessage, 'headers'>): Promise<WebSession | undefined> {
    const known = sessionSchema.safeParse(
      this.#sessions.open(findCookie(headers, signInCookieNames.session, this.#isSecure) ?? ''),
    ).data
    if (known === undefined || known.until <= this.#now()) return undefined
    const lasting = (await this.#store.getCached(sessionSlotCacheNamespace, [toSessionSlotKey(known)])).get(
      toSessionSlotKey(known),
    )
    return lasting === computeTokenDigest(known.word) ? known : undefined
  }

  begin(path: string | null): SignInRedirect {
    const state = randomBytes(32).toString('base64url')
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const sealed = this.#pendingSignIns.seal({
      state,
      verifier,
      to: sanitizeSignInRedirectPath(path),
      until: this.#now() + signInTimeoutSeconds * 1000,
    })
    return {
      to: this.#client.authorizeUrl({ state, challenge, redirectUrl: this.#redirectUrl }),
      cookies: [this.#formatCookie(signInCookieNames.way, sealed, signInTimeoutSeconds)],
    }
  }

  /** Undefined if this browser did not start the sign-in or GitHub rejects the code. */
  async finish(request: IncomingMessage, query: URLSearchParams): Promise<SignInRedirect | undefined> {
    const pending = pendingSignInSchema.safeParse(
      this.#pendingSignIns.open(findCookie(request.headers, signInCookieNames.way, this.#isSecure) ?? ''),
    ).data
    const code = query.get('code') ?? ''
    if (pending === undefined || pending.until <= this.#now()) return undefined
    if (!isSetupToken(query.get('state'), pending.state) || !/^[\w-]{1,200}$/.test(code)) return undefined
    const { verifier, to } = pending
    const person = await this.#client.exchange({ code, verifier, redirectUrl: this.#redirectUrl })
    if (person === undefined) return undefined
    const before = await this.readSession(request)
    if (before !== undefined) await this.end(before)
    const newSession = { ...person, word: randomBytes(16).toString('base64url') }
    await this.#store.putCached(
      sessionSlotCacheNamespace,
      new Map([[toSessionSlotKey(newSession), computeTokenDigest(newSession.word)]]),
      session,
    )
    const sealed = this.#sessions.seal({ ...newSession, until: this.#now() + session * 1000 })
    return {
      to: sanitizeSignInRedirectPath(to),
      cookies: [
        this.#formatCookie(signInCookieNames.session, sealed, session),
        this.#formatCookie(signInCookieNames.way, '', 0),
      ],
    }
  }

  /** Ends a session everywhere and revokes its token. Rejects if the store fails. */
  async end(ended: WebSession): Promise<void> {
    try {
      await this.#store.putCached(sessionSlotCacheNamespace, new Map([[toSessionSlotKey(ended), '']]), 0)
    } finally {
      await this.#client.revoke(ended.token)
    }
  }

  /** A cookie for this host only, hidden from scripts and from cross-site forms. 0 seconds delete it. */
  #formatCookie(name: string, value: string, seconds: number): string {
    const isSecure = this.#isSecure
    return `${toHostPrefixedCookieName(name, isSecure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  }
}

function findCookie(
  { cookie = '' }: IncomingHttpHeaders,
  name: string,
  isSecure: boolean,
): string | undefined {
  const prefix = `${toHostPrefixedCookieName(name, isSecure)}=`
  for (const part of cookie.split(';')) {
    const pair = part.trim()
    if (pair.startsWith(prefix)) return pair.slice(prefix.length)
  }
  return undefined
}

/** Values that browsers store but cannot read or change: AES-256-GCM with a key from the App's client secret, so all instances share it. Each value is valid for one purpose only. */
export function createCookieSealer(secret: string, purpose: string): CookieSealer {
  const key = Buffer.from(hkdfSync('sha256', secret, 'catalog-bot', purpose, 32))
  return {
    seal(value) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(cipherAlgorithm, key, nonce)
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.slice(0, maxSealedCookieLength), 'base64url')
      // The last character may have unused bits; accept only the canonical text.
      if (bytes.toString('base64url') !== sealed) return undefined
      const tagEnd = nonceLength + tagLength
      try {
        const decipher = createDecipheriv(cipherAlgorithm, key, bytes.subarray(0, nonceLength), {
          authTagLength: tagLength,
        })
        decipher.setAuthTag(bytes.subarray(nonceLength, tagEnd))
        const text = Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()])
        return JSON.parse(text.toString('utf8')) as unknown
      } catch {
        return undefined
      }
    },
  }
}

/** The redirect target after sign-in, which is always one of catalog-bot's pages, to prevent open redirects. */
export function sanitizeSignInRedirectPath(path: string | null | undefined): string {
  if (typeof path !== 'string' || !/^\/[\w.~%/-]*$/.test(path)) return '/'
  const address = parsePageUrl(path)
  if (address === undefined) return '/'
  // Prevents redirect loops and an immediate sign-out.
  return ['sign-in', 'signed-in', 'sign-out', 'resume', 'events'].includes(address.pageRequest.page)
    ? '/'
    : path
}
