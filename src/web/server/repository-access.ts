// Decides which repositories a visitor can see, based on their visibility and, for private repositories, on GitHub's
// response to the visitor's token. Caches responses for minutes per session. Without a response, denies access.
// Requests are limited per visitor.
import { isIP } from 'node:net'
import pLimit from 'p-limit'
import type { IncomingMessage } from 'node:http'
import type { OAuthClient } from '../../adapters/github/oauth-client.ts'
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import { LruMap } from '../../adapters/lru-map.ts'
import type { RecordedRepository } from '../../ports/status-page-store.ts'
import type { StatusPageAccess } from '../../jobs/settings.ts'
import type { WebSession } from './sign-in.ts'

/** Limits requests by address or user. Returns false if the budget of the key is used up. */
export type RequestRateLimiter = (key: string) => boolean

/** Addresses beyond this are forgotten and start with a full budget. */
const maxTrackedClientIps = 20_000

type RepositoryVisibility =
  | 'yes'
  | 'no'
  /** Ask GitHub with this user's token. */
  | 'ask'

export interface RepositoryVisibilityInputs {
  readonly pages: StatusPageAccess
  /** Undefined if the App is not known to be installed there. */
  readonly listed: Pick<RecordedRepository, 'isPublic' | 'listedAt'> | undefined
  readonly isSignedIn: boolean
  readonly now: number
  /** Milliseconds for which a public answer stays valid. */
  readonly publicFor: number
}

/** Milliseconds. A revoked permission takes effect within this time. */
const accessDecisionTtlMs = { yes: 5 * 60_000, no: 60_000 } as const
const maxCachedAccessDecisions = 10_000
/** Each costs a request from the user's rate limit. */
const maxAccessQueriesPerRepositoryList = 60
const maxConcurrentAccessQueries = 6

export type RepositoryAccessDecision = 'yes' | 'no' | 'silent' | 'ended' | 'too-many'

export interface RepositoryAccessCheckerOptions {
  readonly pages: StatusPageAccess
  /** If absent, sign-in is disabled. */
  readonly client: OAuthClient | undefined
  readonly budget: RequestRateLimiter
  readonly publicFor: number
  readonly now: () => number
}

export class RepositoryAccessChecker {
  readonly #options: RepositoryAccessCheckerOptions
  readonly #known: LruMap<string, { readonly may: 'yes' | 'no'; readonly until: number }>
  readonly #pendingQueries = new Map<string, Promise<RepositoryAccessDecision>>()

  constructor(options: RepositoryAccessCheckerOptions) {
    this.#options = options
    this.#known = new LruMap(
      maxCachedAccessDecisions,
      () => 1,
      ({ until }) => until <= options.now(),
    )
  }

  async checkRead(
    session: WebSession | undefined,
    repository: RepositoryName,
    listed: RecordedRepository | undefined,
  ): Promise<RepositoryAccessDecision> {
    const sight = this.#decideVisibility(session, listed)
    if (sight !== 'ask' || session === undefined) return sight === 'yes' ? 'yes' : 'no'
    const answer = await this.#queryAccess(session, repository)
    return answer === 'yes' && listed === undefined ? 'no' : answer
  }

  /** Asks GitHub without the cache, for public repositories too, before a change is made. */
  checkAction(session: WebSession, repository: RepositoryName): Promise<RepositoryAccessDecision> {
    const key = toRepositoryAccessCacheKey(session, repository)
    this.#known.delete(key)
    this.#pendingQueries.delete(key)
    return this.#queryAccess(session, repository)
  }

  async filterReadable(
    session: WebSession | undefined,
    listed: readonly RecordedRepository[],
  ): Promise<readonly RecordedRepository[]> {
    const readable: RecordedRepository[] = []
    let queryCount = 0
    const remaining = listed.values()
    const checkRemaining = async () => {
      for (const one of remaining) {
        const sight = this.#decideVisibility(session, one)
        if (sight === 'no' || (sight === 'ask' && ++queryCount > maxAccessQueriesPerRepositoryList)) continue
        if ((await this.checkRead(session, one.repository, one)) === 'yes') readable.push(one)
      }
    }
    await Promise.all(Array.from({ length: maxConcurrentAccessQueries }, checkRemaining))
    return listed.filter((one) => readable.includes(one))
  }

  #decideVisibility(session: WebSession | undefined, listed: RecordedRepository | undefined) {
    const { pages, publicFor, now } = this.#options
    return decideRepositoryVisibility({
      pages,
      listed,
      isSignedIn: session !== undefined,
      now: now(),
      publicFor,
    })
  }

  async #queryAccess(session: WebSession, repository: RepositoryName): Promise<RepositoryAccessDecision> {
    const { client, budget, now } = this.#options
    if (client === undefined) return 'no'
    const key = toRepositoryAccessCacheKey(session, repository)
    const before = this.#known.get(key)
    if (before !== undefined) return before.may
    const pending = this.#pendingQueries.get(key)
    if (pending !== undefined) return pending
    if (!budget(`questions of ${session.id}`)) return 'too-many'
    const query = client.checkReadAccess(session.token, repository).then((may): RepositoryAccessDecision => {
      if (may === 'yes' || may === 'no')
        this.#known.set(key, { may, until: now() + accessDecisionTtlMs[may] })
      return may
    })
    this.#pendingQueries.set(key, query)
    return query.finally(() => this.#pendingQueries.delete(key))
  }
}

/** The session is part of the key, because the answer belongs to its token. */
const toRepositoryAccessCacheKey = ({ word }: WebSession, repository: RepositoryName): string =>
  `${word} ${toRepositoryKey(repository)}`

/** Decides who may see a repository. Pure. A repository is private unless GitHub recently said that it is public. */
export function decideRepositoryVisibility(inputs: RepositoryVisibilityInputs): RepositoryVisibility {
  const { pages, listed, isSignedIn, now, publicFor } = inputs
  if (pages === 'off') return 'no'
  if (!isSignedIn && pages !== 'public') return 'no'
  if (listed?.isPublic === true && now - listed.listedAt <= publicFor) return 'yes'
  // Ask even without an installation: a faster answer would reveal it.
  return isSignedIn ? 'ask' : 'no'
}

/** `perMinute` on average, and as many at once. */
export function createRequestRateLimiter(perMinute: number, now: () => number): RequestRateLimiter {
  const buckets = new LruMap<string, { left: number; at: number }>(
    maxTrackedClientIps,
    () => 1,
    // Its budget is full again, like that of a new address.
    ({ at }) => now() - at > 60_000,
  )
  return (key) => {
    const bucket = buckets.get(key) ?? { left: perMinute, at: now() }
    const remaining = Math.min(perMinute, bucket.left + (Math.max(0, now() - bucket.at) / 60_000) * perMinute)
    buckets.set(key, { left: Math.max(0, remaining - 1), at: now() })
    return remaining >= 1
  }
}

/**
 * The client's address, for counting. Behind the administrator's proxy (a private address), only the last forwarded entry is
 * trusted; the client can forge the others.
 */
export function parseClientIpAddress(request: Pick<IncomingMessage, 'socket' | 'headers'>): string {
  const peer = request.socket.remoteAddress ?? ''
  const forwarded = request.headers['x-forwarded-for']
  const last = (Array.isArray(forwarded) ? forwarded.at(-1) : forwarded)?.split(',').at(-1)?.trim()
  const address = last !== undefined && isPrivateIpAddress(peer) && isIP(last) !== 0 ? last : peer
  // A zone id is arbitrary text.
  const client = address.split('%')[0] ?? ''
  // An IPv6 household has a /64.
  return isIP(client) === 6 && !client.startsWith('::ffff:')
    ? client.split(':').slice(0, 4).join(':')
    : client
}

function isPrivateIpAddress(address: string): boolean {
  return /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd]/i.test(address)
}

/** Runs at most `maxRunning` at once and queues `maxWaiting` more; returns undefined beyond that. */
export function createConcurrencyLimiter(maxRunning: number, maxWaiting: number) {
  const limit = pLimit(maxRunning)
  return async <T>(work: () => Promise<T>): Promise<T | undefined> =>
    limit.activeCount + limit.pendingCount < maxRunning + maxWaiting ? limit(work) : undefined
}
