// Who may see what of a repository: the one decision, pure. A repository is private unless GitHub said that it is public,
// and said so lately.
import type { ListedRepository } from '../../ports/page-records.ts'
import type { PagesSetting } from '../settings.ts'

export type Sight =
  | 'yes'
  | 'no'
  /** GitHub is asked, as this person. */
  | 'ask'

export interface SightQuestion {
  readonly pages: PagesSetting
  /** Undefined: the App is not installed there, as far as is known. */
  readonly listed: Pick<ListedRepository, 'isPublic' | 'listedAt'> | undefined
  readonly isSignedIn: boolean
  readonly now: number
  /** Milliseconds for which GitHub's word that a repository is public holds. */
  readonly publicFor: number
}

export function maySee({ pages, listed, isSignedIn, now, publicFor }: SightQuestion): Sight {
  if (pages === 'off') return 'no'
  if (!isSignedIn && pages !== 'public') return 'no'
  if (listed?.isPublic === true && now - listed.listedAt <= publicFor) return 'yes'
  // Asked also where the App is not installed: an answer that comes sooner would tell that.
  return isSignedIn ? 'ask' : 'no'
}
