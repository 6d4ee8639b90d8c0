// Names changes merged while a pull request was open that cause its conflict. Uses recorded facts only.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import { code } from './escape.ts'
import { commitLink, pullLink, type PullPage } from './links.ts'

export interface MovedHead {
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
