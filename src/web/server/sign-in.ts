// GitHub sign-in: OAuth with state and PKCE. State and token are sealed in the browser's cookies only. The store lists
// valid sessions, so that sign-out works on every instance and for copied cookies. Everything expires within an hour.
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { OAuthClient, SignedInUser } from '../../adapters/github/oauth-client.ts'
import { defineCacheNamespace, type Cache } from '../../ports/cache.ts'
import { formatCookieHeader, findCookie } from '../sign-in/cookies.ts'
import { toSafeSignInRedirectPath } from '../sign-in/local-path.ts'
import { isSetupToken } from '../setup/setup-token.ts'
import { createCookieSealer } from '../sign-in/cookie-sealer.ts'

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
const sessionSlotCacheNamespace = defineCacheNamespace('page session', {
  version: 1,
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
})
const computeTokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex')
/** A person has 256 slots, which bounds the store; a newer session replaces the slot's old one. */
const toSessionSlotKey = ({ id, word }: Pick<PageSession, 'id' | 'word'>): string =>
  `${id} ${computeTokenDigest(word).slice(0, 2)}`

export interface PageSession extends SignedInUser {
  readonly word: string
}

export interface SignInRedirect {
  readonly to: string
  readonly cookies: readonly string[]
}

export interface SignInFlow {
  /** Undefined for anonymous visitors and ended sessions. */
  readSession(request: IncomingMessage): Promise<PageSession | undefined>
  begin(wanted: string | null): SignInRedirect
  /** Undefined if this browser did not start the sign-in or GitHub rejects the code. */
  finish(request: IncomingMessage, query: URLSearchParams): Promise<SignInRedirect | undefined>
  /** The cookies that end a session. */
  readonly clearedCookies: readonly string[]
  /** Ends a session everywhere and revokes its token. Rejects if the store fails. */
  end(session: PageSession): Promise<void>
}

export interface SignInFlowOptions {
  readonly client: OAuthClient
  readonly clientSecret: string
  readonly publicUrl: string
  readonly store: Cache
  readonly now: () => number
}

export function createSignInFlow({
  client,
  clientSecret,
  publicUrl,
  store,
  now,
}: SignInFlowOptions): SignInFlow {
  const isSecure = publicUrl.startsWith('https:')
  const pendingSignInSeal = createCookieSealer(clientSecret, 'way to GitHub')
  const sessions = createCookieSealer(clientSecret, 'session')
  const redirectUrl = `${publicUrl}/sign-in/back`
  const formatCookie = (name: string, value: string, seconds: number) =>
    formatCookieHeader({ name, value, seconds, isSecure })
  const readSession: SignInFlow['readSession'] = async ({ headers }) => {
    const known = sessionSchema.safeParse(
      sessions.open(findCookie(headers, signInCookieNames.session, isSecure) ?? ''),
    ).data
    if (known === undefined || known.until <= now()) return undefined
    const lasting = (await store.getCached(sessionSlotCacheNamespace, [toSessionSlotKey(known)])).get(
      toSessionSlotKey(known),
    )
    return lasting === computeTokenDigest(known.word) ? known : undefined
  }
  const end: SignInFlow['end'] = async (ended) => {
    try {
      await store.putCached(sessionSlotCacheNamespace, new Map([[toSessionSlotKey(ended), '']]), 0)
    } finally {
      await client.revoke(ended.token)
    }
  }
  return {
    readSession,
    begin(wanted) {
      const state = randomBytes(32).toString('base64url')
      const verifier = randomBytes(32).toString('base64url')
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const sealed = pendingSignInSeal.seal({
        state,
        verifier,
        to: toSafeSignInRedirectPath(wanted),
        until: now() + signInTimeoutSeconds * 1000,
      })
      return {
        to: client.authorizeUrl({ state, challenge, redirectUrl }),
        cookies: [formatCookie(signInCookieNames.way, sealed, signInTimeoutSeconds)],
      }
    },
    async finish(request, query) {
      const pending = pendingSignInSchema.safeParse(
        pendingSignInSeal.open(findCookie(request.headers, signInCookieNames.way, isSecure) ?? ''),
      ).data
      const code = query.get('code') ?? ''
      if (pending === undefined || pending.until <= now()) return undefined
      if (!isSetupToken(query.get('state'), pending.state) || !/^[\w-]{1,200}$/.test(code)) return undefined
      const person = await client.exchange({ code, verifier: pending.verifier, redirectUrl })
      if (person === undefined) return undefined
      const before = await readSession(request)
      if (before !== undefined) await end(before)
      const newSession = { ...person, word: randomBytes(16).toString('base64url') }
      await store.putCached(
        sessionSlotCacheNamespace,
        new Map([[toSessionSlotKey(newSession), computeTokenDigest(newSession.word)]]),
        session,
      )
      const sealed = sessions.seal({ ...newSession, until: now() + session * 1000 })
      return {
        to: toSafeSignInRedirectPath(pending.to),
        cookies: [
          formatCookie(signInCookieNames.session, sealed, session),
          formatCookie(signInCookieNames.way, '', 0),
        ],
      }
    },
    clearedCookies: [formatCookie(signInCookieNames.session, '', 0)],
    end,
  }
}
