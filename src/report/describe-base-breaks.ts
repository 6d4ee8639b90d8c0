// Names the commits that broke the base branch, so that an author doesn't look for the fault in their own change.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { toCodeSpan } from './escape.ts'
import { formatCommitUrl, formatPullUrl, type PullUrlParts } from './github-urls.ts'

export interface BaseBranchBreakage {
  /** From the repository's root. */
  readonly file: string
  readonly errors: number
  /** Absent if the commit wasn't found in recent history. */
  readonly commit?: CommitSha
}

/** One line of Markdown per file. `pulls`: pull requests that catalog-bot merged, by their merge commits. */
export function describeBaseBranchBreakages(
  breaks: readonly BaseBranchBreakage[] | undefined,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullUrlParts,
  branch: string,
): readonly string[] {
  return (breaks ?? []).map(({ file, errors, commit }) => {
    const count = errors === 1 ? 'an error' : `${errors} errors`
    const state = `${toCodeSpan(file)} already has ${count} on ${toCodeSpan(branch)}`
    if (commit === undefined) return `${state}.`
    const pull = pulls.get(commit)
    const cause =
      pull === undefined
        ? `[${toCodeSpan(commit.slice(0, 12))}](${formatCommitUrl(page, commit)})`
        : `[#${pull}](${formatPullUrl(page, pull)})`
    return `${state}, since ${cause}. This pull request didn't cause ${errors === 1 ? 'it' : 'them'}.`
  })
}

/** One line per file, for a terminal. */
export function describeBaseBranchBreakagesAsText(breaks: readonly BaseBranchBreakage[]): readonly string[] {
  return breaks.map(({ file, errors, commit }) => {
    const since = commit === undefined ? '' : ` since commit ${commit.slice(0, 12)}`
    return `The base branch already has ${errors === 1 ? 'an error' : `${errors} errors`} in ${file}${since}. Your change didn't cause ${errors === 1 ? 'it' : 'them'}.`
  })
}
