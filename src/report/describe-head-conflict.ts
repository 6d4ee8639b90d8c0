// Describes changes that were merged while a pull request was open and that cause its conflict. Uses only recorded facts.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { toCodeSpan } from './escape.ts'
import { formatCommitUrl, formatPullUrl, type PullUrlParts } from './github-urls.ts'

export interface ChannelHeadConflict {
  readonly commit: CommitSha
  /** `replaces` is '' if the entry replaces nothing. */
  readonly entry: string
  readonly replaces: string
  /** The channel head that the pull request adds. */
  readonly mine: string
  /** Whether both heads replace the same entry. */
  readonly isSame: boolean
}

/** Limited to one screen. `pulls`: pull requests that catalog-bot merged, by merge commit. */
export function describeChannelHeadConflicts(
  moved: readonly ChannelHeadConflict[] | undefined,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullUrlParts,
  branch: string,
): readonly string[] {
  return (moved ?? []).slice(0, 2).map(({ commit, entry, replaces, mine, isSame }) => {
    const pull = pulls.get(commit)
    const origin =
      pull === undefined
        ? `[${toCodeSpan(commit.slice(0, 12))}](${formatCommitUrl(page, commit)}) reached ${toCodeSpan(branch)} first`
        : `[#${pull}](${formatPullUrl(page, pull)}) was merged first`
    const effect =
      replaces === ''
        ? `adds ${toCodeSpan(entry)}`
        : isSame
          ? `also replaces ${toCodeSpan(replaces)}`
          : `replaces ${toCodeSpan(replaces)} with ${toCodeSpan(entry)}`
    return `${origin} and ${effect}. Make either ${toCodeSpan(mine)} or ${toCodeSpan(entry)} replace or skip the other.`
  })
}
