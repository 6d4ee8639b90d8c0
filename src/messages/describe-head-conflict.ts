// Names changes merged while a pull request was open that cause its conflict. Uses recorded facts only.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import { toCodeSpan } from './escape.ts'
import { formatCommitUrl, formatPullUrl, type PullUrlParts } from './github-urls.ts'

export interface HeadConflict {
  readonly commit: CommitSha
  /** `replaces` is '' where the entry replaces nothing. */
  readonly entry: string
  readonly replaces: string
  /** The head that the pull request brings. */
  readonly mine: string
  /** Whether both heads replace the same entry. */
  readonly isSame: boolean
}

/** Limited to one screen. `pulls`: pull requests that the bot merged, by their merge commits. */
export function describeHeadConflicts(
  moved: readonly HeadConflict[] | undefined,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullUrlParts,
  branch: string,
): readonly string[] {
  return (moved ?? []).slice(0, 2).map(({ commit, entry, replaces, mine, isSame }) => {
    const pull = pulls.get(commit)
    const origin =
      pull === undefined
        ? `[${toCodeSpan(commit.slice(0, 12))}](${formatCommitUrl(page, commit)}) came to ${toCodeSpan(branch)}`
        : `[#${pull}](${formatPullUrl(page, pull)}) was merged`
    const did =
      replaces === ''
        ? `brought ${toCodeSpan(entry)}`
        : `put ${toCodeSpan(entry)} on ${toCodeSpan(replaces)}${isSame ? ' too' : ''}`
    return `${origin} while this was open and ${did}: one of it and ${toCodeSpan(mine)} must now replace or skip the other.`
  })
}
