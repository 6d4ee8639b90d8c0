// Decides who may see a repository. Pure. A repository is private unless GitHub recently said that it is public.
import type { ListedRepository } from '../../ports/page-records.ts'
import type { PagesSetting } from '../../jobs/settings.ts'

export type RepositoryVisibility =
  | 'yes'
  | 'no'
  /** Ask GitHub with this person's token. */
  | 'ask'

export interface VisibilityInputs {
  readonly pages: PagesSetting
  /** Undefined if the App is not known to be installed there. */
  readonly listed: Pick<ListedRepository, 'isPublic' | 'listedAt'> | undefined
  readonly isSignedIn: boolean
  readonly now: number
  /** Milliseconds for which a public answer stays valid. */
  readonly publicFor: number
}

export function decideVisibility({
  pages,
  listed,
  isSignedIn,
  now,
  publicFor,
}: VisibilityInputs): RepositoryVisibility {
  if (pages === 'off') return 'no'
  if (!isSignedIn && pages !== 'public') return 'no'
  if (listed?.isPublic === true && now - listed.listedAt <= publicFor) return 'yes'
  // Ask even without an installation: a faster answer would reveal it.
  return isSignedIn ? 'ask' : 'no'
}
