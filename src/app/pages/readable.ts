// Decides which repositories a visitor may see: may-see.ts, and for private ones GitHub's answer to the visitor's
// token. Answers are cached for minutes per session; no answer means no.
import type { PersonClient } from '../../github/person-client.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { repositoryKey } from '../../change/repository-key.ts'
import { LruMap } from '../../examine/catalogs/lru-map.ts'
import type { ListedRepository } from '../../ports/page-records.ts'
import type { PagesSetting } from '../settings.ts'
import { maySee } from './may-see.ts'
import type { RequestBudget } from './request-budget.ts'
import type { Session } from './sign-in.ts'

/** Milliseconds. A revoked permission takes effect within this time. */
const remembered = { yes: 5 * 60_000, no: 60_000 } as const
const mostRemembered = 10_000
/** Each costs a request of the person's rate limit. */
const mostAsked = 60
const askedAtOnce = 6

export type Access = 'yes' | 'no' | 'silent' | 'ended' | 'too-many'

export interface Readable {
  may(
    who: Session | undefined,
    repository: RepositoryName,
    listed: ListedRepository | undefined,
  ): Promise<Access>
  /** Asks GitHub without the cache, for public repositories too, before a change is made. */
  mayAct(who: Session, repository: RepositoryName): Promise<Access>
  among(who: Session | undefined, listed: readonly ListedRepository[]): Promise<readonly ListedRepository[]>
}

export interface ReadableOptions {
  readonly pages: PagesSetting
  /** If absent, sign-in is disabled. */
  readonly client: PersonClient | undefined
  readonly budget: RequestBudget
  readonly publicFor: number
  readonly now: () => number
}

export function openReadable({ pages, client, budget, publicFor, now }: ReadableOptions): Readable {
  const known = new LruMap<string, { readonly may: 'yes' | 'no'; readonly until: number }>(
    mostRemembered,
    () => 1,
    ({ until }) => until <= now(),
  )
  const asking = new Map<string, Promise<Access>>()

  async function ask(who: Session, repository: RepositoryName): Promise<Access> {
    if (client === undefined) return 'no'
    const key = keyOf(who, repository)
    const before = known.get(key)
    if (before !== undefined) return before.may
    const underWay = asking.get(key)
    if (underWay !== undefined) return underWay
    if (!budget.take(`questions of ${who.id}`)) return 'too-many'
    const asked = client.mayRead(who.token, repository).then((may): Access => {
      if (may === 'yes' || may === 'no') known.set(key, { may, until: now() + remembered[may] })
      return may
    })
    asking.set(key, asked)
    return asked.finally(() => asking.delete(key))
  }

  async function may(
    who: Session | undefined,
    repository: RepositoryName,
    listed: ListedRepository | undefined,
  ): Promise<Access> {
    const sight = maySee({ pages, listed, isSignedIn: who !== undefined, now: now(), publicFor })
    if (sight !== 'ask' || who === undefined) return sight === 'yes' ? 'yes' : 'no'
    const answer = await ask(who, repository)
    return answer === 'yes' && listed === undefined ? 'no' : answer
  }

  return {
    may,
    mayAct(who, repository) {
      const key = keyOf(who, repository)
      known.delete(key)
      asking.delete(key)
      return ask(who, repository)
    },
    async among(who, listed) {
      const seen: ListedRepository[] = []
      let asked = 0
      const left = listed.values()
      const walk = async () => {
        for (const one of left) {
          const sight = maySee({ pages, listed: one, isSignedIn: who !== undefined, now: now(), publicFor })
          if (sight === 'no' || (sight === 'ask' && ++asked > mostAsked)) continue
          if ((await may(who, one.repository, one)) === 'yes') seen.push(one)
        }
      }
      await Promise.all(Array.from({ length: askedAtOnce }, walk))
      return listed.filter((one) => seen.includes(one))
    },
  }
}

/** The session is part of the key, because the answer belongs to its token. */
const keyOf = ({ word }: Session, repository: RepositoryName): string =>
  `${word} ${repositoryKey(repository)}`
