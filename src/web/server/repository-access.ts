// Decides which repositories a visitor may see: repository-visibility.ts, and for private ones GitHub's answer to the visitor's
// token. Answers are cached for minutes per session; no answer means no.
import type { OAuthClient } from '../../adapters/github/oauth-client.ts'
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import { LruMap } from '../../adapters/lru-map.ts'
import type { RecordedRepository } from '../../ports/page-records.ts'
import type { StatusPageAccess } from '../../jobs/settings.ts'
import type { RequestRateLimiter } from './request-rate-limiter.ts'
import type { PageSession } from './sign-in.ts'

type RepositoryVisibility =
  | 'yes'
  | 'no'
  /** Ask GitHub with this person's token. */
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
/** Each costs a request of the person's rate limit. */
const maxAccessQueriesPerListing = 60
const maxConcurrentAccessQueries = 6

export type RepositoryAccessDecision = 'yes' | 'no' | 'silent' | 'ended' | 'too-many'

export interface RepositoryAccessChecker {
  checkRead(
    who: PageSession | undefined,
    repository: RepositoryName,
    listed: RecordedRepository | undefined,
  ): Promise<RepositoryAccessDecision>
  /** Asks GitHub without the cache, for public repositories too, before a change is made. */
  checkAction(who: PageSession, repository: RepositoryName): Promise<RepositoryAccessDecision>
  filterReadable(
    who: PageSession | undefined,
    listed: readonly RecordedRepository[],
  ): Promise<readonly RecordedRepository[]>
}

export interface RepositoryAccessCheckerOptions {
  readonly pages: StatusPageAccess
  /** If absent, sign-in is disabled. */
  readonly client: OAuthClient | undefined
  readonly budget: RequestRateLimiter
  readonly publicFor: number
  readonly now: () => number
}

export function createRepositoryAccessChecker({
  pages,
  client,
  budget,
  publicFor,
  now,
}: RepositoryAccessCheckerOptions): RepositoryAccessChecker {
  const known = new LruMap<string, { readonly may: 'yes' | 'no'; readonly until: number }>(
    maxCachedAccessDecisions,
    () => 1,
    ({ until }) => until <= now(),
  )
  const pendingQueries = new Map<string, Promise<RepositoryAccessDecision>>()

  async function queryAccess(
    session: PageSession,
    repository: RepositoryName,
  ): Promise<RepositoryAccessDecision> {
    if (client === undefined) return 'no'
    const key = toAccessCacheKey(session, repository)
    const before = known.get(key)
    if (before !== undefined) return before.may
    const underWay = pendingQueries.get(key)
    if (underWay !== undefined) return underWay
    if (!budget.take(`questions of ${session.id}`)) return 'too-many'
    const query = client.checkReadAccess(session.token, repository).then((may): RepositoryAccessDecision => {
      if (may === 'yes' || may === 'no') known.set(key, { may, until: now() + accessDecisionTtlMs[may] })
      return may
    })
    pendingQueries.set(key, query)
    return query.finally(() => pendingQueries.delete(key))
  }

  async function checkRead(
    session: PageSession | undefined,
    repository: RepositoryName,
    listed: RecordedRepository | undefined,
  ): Promise<RepositoryAccessDecision> {
    const sight = decideRepositoryVisibility({
      pages,
      listed,
      isSignedIn: session !== undefined,
      now: now(),
      publicFor,
    })
    if (sight !== 'ask' || session === undefined) return sight === 'yes' ? 'yes' : 'no'
    const answer = await queryAccess(session, repository)
    return answer === 'yes' && listed === undefined ? 'no' : answer
  }

  return {
    checkRead,
    checkAction(session, repository) {
      const key = toAccessCacheKey(session, repository)
      known.delete(key)
      pendingQueries.delete(key)
      return queryAccess(session, repository)
    },
    async filterReadable(session, listed) {
      const readable: RecordedRepository[] = []
      let queryCount = 0
      const remaining = listed.values()
      const checkRemaining = async () => {
        for (const one of remaining) {
          const sight = decideRepositoryVisibility({
            pages,
            listed: one,
            isSignedIn: session !== undefined,
            now: now(),
            publicFor,
          })
          if (sight === 'no' || (sight === 'ask' && ++queryCount > maxAccessQueriesPerListing)) continue
          if ((await checkRead(session, one.repository, one)) === 'yes') readable.push(one)
        }
      }
      await Promise.all(Array.from({ length: maxConcurrentAccessQueries }, checkRemaining))
      return listed.filter((one) => readable.includes(one))
    },
  }
}

/** The session is part of the key, because the answer belongs to its token. */
const toAccessCacheKey = ({ word }: PageSession, repository: RepositoryName): string =>
  `${word} ${toRepositoryKey(repository)}`

/** Decides who may see a repository. Pure. A repository is private unless GitHub recently said that it is public. */
export function decideRepositoryVisibility({
  pages,
  listed,
  isSignedIn,
  now,
  publicFor,
}: RepositoryVisibilityInputs): RepositoryVisibility {
  if (pages === 'off') return 'no'
  if (!isSignedIn && pages !== 'public') return 'no'
  if (listed?.isPublic === true && now - listed.listedAt <= publicFor) return 'yes'
  // Ask even without an installation: a faster answer would reveal it.
  return isSignedIn ? 'ask' : 'no'
}
