// The temporary branches under which merges lie on GitHub while checks are put on them, before they are pushed to their
// bases. A name says what it is for, so that whoever finds one left over can tell; and whoever writes rules for all
// branches leaves these out.
import { pullNumber, type PullNumber } from '../change/ids.ts'
import type { Landing } from './merge-permit.ts'

export const temporaryBranches = 'catalog-bot/tmp-'

/** As a ruleset's `exclude` names them all. */
export const temporaryBranchPattern = `refs/heads/${temporaryBranches}*`

/** Below this GitHub keeps the groups of its merge queues, each branch's below its own name. */
export const queueBranches = 'gh-readonly-queue/'

/** The branch for one merge. It ends with the merge commit's first digits, so that it meets no branch of anybody else. */
export function temporaryBranch({
  pull,
  baseRef,
  commit,
}: Pick<Landing, 'pull' | 'baseRef' | 'commit'>): string {
  // Without a slash: a ruleset's `tmp-*` ends at one.
  return `${temporaryBranches}${pull}-${encodeURIComponent(baseRef)}-${commit.slice(0, 12)}`
}

/** What a branch of this kind was made for; undefined for every other branch. */
export function readTemporaryBranch(
  branch: string,
): { readonly pull: PullNumber; readonly baseRef: string } | undefined {
  if (!branch.startsWith(temporaryBranches)) return undefined
  const [, number, name] =
    /^([1-9]\d{0,14})-(.+)-[0-9a-f]{12}$/.exec(branch.slice(temporaryBranches.length)) ?? []
  if (number === undefined || name === undefined) return undefined
  const baseRef = decoded(name)
  // Only what we would have written ourselves.
  return baseRef === undefined || encodeURIComponent(baseRef) !== name
    ? undefined
    : { pull: pullNumber(Number(number)), baseRef }
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}
