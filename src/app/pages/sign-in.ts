// GitHub sign-in: OAuth with state and PKCE. State and token are sealed in the browser's cookies only. The store lists
// valid sessions, so that sign-out works on every instance and for copied cookies. Everything expires within an hour.
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { PersonClient, SignedInPerson } from '../../github/person-client.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import { cookieHeader, readCookie } from '../../web/sign-in/cookies.ts'
import { localPath } from '../../web/sign-in/local-path.ts'
import { isWord } from '../../web/setup/one-time-word.ts'
import { openSeal } from '../../web/sign-in/sealed.ts'

/** Seconds to complete the sign-in, and that a session lasts. */
const [wayThere, session] = [600, 3600]
const cookies = { way: 'catalog-bot-way', session: 'catalog-bot-session' } as const

const way = z.object({ state: z.string(), verifier: z.string(), to: z.string(), until: z.number() })
const signedIn = z.object({
  id: z.number(),
  login: z.string(),
  token: z.string(),
  /** Form token against cross-site requests. */
  word: z.string(),
  until: z.number(),
})

/** The digest of the session in each slot. If lost, the session ends. */
const sessionSlots = defineCache('page session', {
  version: 1,
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
})
const digestOf = (word: string): string => createHash('sha256').update(word).digest('hex')
/** A person has 256 slots, which bounds the store; a newer session replaces the slot's old one. */
const slotOf = ({ id, word }: Pick<Session, 'id' | 'word'>): string => `${id} ${digestOf(word).slice(0, 2)}`

export interface Session extends SignedInPerson {
  readonly word: string
}

export interface Redirect {
  readonly to: string
  readonly cookies: readonly string[]
}

export interface SignIn {
  /** Undefined for anonymous visitors and ended sessions. */
  readSession(request: IncomingMessage): Promise<Session | undefined>
  begin(wanted: string | null): Redirect
  /** Undefined if this browser did not start the sign-in or GitHub rejects the code. */
  finish(request: IncomingMessage, query: URLSearchParams): Promise<Redirect | undefined>
  /** The cookies that end a session. */
  readonly gone: readonly string[]
  /** Ends a session everywhere and revokes its token. Rejects if the store fails. */
  end(session: Session): Promise<void>
}

export interface SignInOptions {
  readonly client: PersonClient
  readonly clientSecret: string
  readonly publicUrl: string
  readonly store: Cache
  readonly now: () => number
}

export function openSignIn({ client, clientSecret, publicUrl, store, now }: SignInOptions): SignIn {
  const isSecure = publicUrl.startsWith('https:')
  const ways = openSeal(clientSecret, 'way to GitHub')
  const sessions = openSeal(clientSecret, 'session')
  const back = `${publicUrl}/sign-in/back`
  const set = (name: string, value: string, seconds: number) =>
    cookieHeader({ name, value, seconds, isSecure })
  const readSession: SignIn['readSession'] = async ({ headers }) => {
    const known = signedIn.safeParse(sessions.open(readCookie(headers, cookies.session, isSecure) ?? '')).data
    if (known === undefined || known.until <= now()) return undefined
    const lasting = (await store.getCached(sessionSlots, [slotOf(known)])).get(slotOf(known))
    return lasting === digestOf(known.word) ? known : undefined
  }
  const end: SignIn['end'] = async (ended) => {
    try {
      await store.putCached(sessionSlots, new Map([[slotOf(ended), '']]), 0)
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
      const sealed = ways.seal({ state, verifier, to: localPath(wanted), until: now() + wayThere * 1000 })
      return {
        to: client.authorizeUrl({ state, challenge, back }),
        cookies: [set(cookies.way, sealed, wayThere)],
      }
    },
    async finish(request, query) {
      const begun = way.safeParse(ways.open(readCookie(request.headers, cookies.way, isSecure) ?? '')).data
      const code = query.get('code') ?? ''
      if (begun === undefined || begun.until <= now()) return undefined
      if (!isWord(query.get('state'), begun.state) || !/^[\w-]{1,200}$/.test(code)) return undefined
      const person = await client.exchange({ code, verifier: begun.verifier, back })
      if (person === undefined) return undefined
      const before = await readSession(request)
      if (before !== undefined) await end(before)
      const begunNow = { ...person, word: randomBytes(16).toString('base64url') }
      await store.putCached(sessionSlots, new Map([[slotOf(begunNow), digestOf(begunNow.word)]]), session)
      const sealed = sessions.seal({ ...begunNow, until: now() + session * 1000 })
      return {
        to: localPath(begun.to),
        cookies: [set(cookies.session, sealed, session), set(cookies.way, '', 0)],
      }
    },
    gone: [set(cookies.session, '', 0)],
    end,
  }
}
