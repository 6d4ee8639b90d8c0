// What others merged while a pull request was open, where that is why it does not fit any more. From recorded facts alone.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import { code } from './escape.ts'
import { commitLink, pullLink, type PullPage } from './links.ts'

/** A head of a channel that came to the base branch while the pull request was open. */
export interface MovedHead {
  /** The commit of the base branch that brought it. */
  readonly commit: CommitSha
  /** The entry that came, and what it replaces; '' where that is nothing. */
  readonly entry: string
  readonly replaces: string
  /** The head that the pull request brings. */
  readonly mine: string
  /** Whether that one replaces the same. */
  readonly isSame: boolean
}

/** A sentence for each, as far as one screen goes. `pulls`: those that the bot merged, by the commits as which it did. */
export function describeMeanwhile(
  moved: readonly MovedHead[] | undefined,
  pulls: ReadonlyMap<CommitSha, PullNumber>,
  page: PullPage,
  branch: string,
): readonly string[] {
  return (moved ?? []).slice(0, 2).map(({ commit, entry, replaces, mine, isSame }) => {
    const pull = pulls.get(commit)
    const who =
      pull === undefined
        ? `[${code(commit.slice(0, 12))}](${commitLink(page, commit)}) came to ${code(branch)}`
        : `[#${pull}](${pullLink(page, pull)}) was merged`
    const did =
      replaces === ''
        ? `brought ${code(entry)}`
        : `put ${code(entry)} on ${code(replaces)}${isSame ? ' too' : ''}`
    return `${who} while this was open and ${did}: one of it and ${code(mine)} must now replace or skip the other.`
  })
}
