// Temporary branches that hold merges on GitHub while checks are added. The common prefix lets rulesets exclude them.
import { toPullNumber, type PullNumber } from '../pull-request/ids.ts'
import type { ValidatedMerge } from './merge-permit.ts'

export const temporaryBranchPrefix = 'catalog-bot/tmp-'

/** The pattern for the `exclude` list of a ruleset. */
export const temporaryBranchPattern = `refs/heads/${temporaryBranchPrefix}*`

/** The prefix of GitHub's branches for merge queue groups. */
export const mergeQueueBranchPrefix = 'gh-readonly-queue/'

/** Ends with the commit's first digits to avoid collisions with other branches. */
export function formatTemporaryBranch({
  pull,
  baseRef,
  commit,
}: Pick<ValidatedMerge, 'pull' | 'baseRef' | 'commit'>): string {
  // No slash, because `tmp-*` in a ruleset does not match across slashes.
  return `${temporaryBranchPrefix}${pull}-${encodeURIComponent(baseRef)}-${commit.slice(0, 12)}`
}

/** Parses a temporary branch's name; undefined for every other branch. */
export function parseTemporaryBranch(
  branch: string,
): { readonly pull: PullNumber; readonly baseRef: string } | undefined {
  if (!branch.startsWith(temporaryBranchPrefix)) return undefined
  const [, number, name] =
    /^([1-9]\d{0,14})-(.+)-[0-9a-f]{12}$/.exec(branch.slice(temporaryBranchPrefix.length)) ?? []
  if (number === undefined || name === undefined) return undefined
  const baseRef = tryDecodeUri(name)
  // Accept only names that formatTemporaryBranch() returns.
  return baseRef === undefined || encodeURIComponent(baseRef) !== name
    ? undefined
    : { pull: toPullNumber(Number(number)), baseRef }
}

function tryDecodeUri(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}
