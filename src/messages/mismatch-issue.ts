// The maintainers' issue for a branch that differs from what the bot checked.
import type { CommitSha, PullNumber, TreeSha } from '../change/ids.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'

export interface TreeMismatchView {
  readonly pull: PullNumber
  readonly branch: string
  readonly base: CommitSha
  readonly head: CommitSha
  readonly commit: CommitSha
  readonly tree: TreeSha
  readonly found?: CommitSha | undefined
  /** A sentence. */
  readonly differs: string
}

/** The pull request that reverts the merge, or why there is none. */
export type RevertView =
  { readonly kind: 'offered'; readonly pull: PullNumber } | { readonly kind: 'none'; readonly why: string }

export const mismatchMarkerPrefix = '<!-- catalog-bot:audit '

/** One issue per merge: the hidden first line names its commit. */
export function formatMismatchMarker({ commit }: Pick<TreeMismatchView, 'commit'>): string {
  return `${mismatchMarkerPrefix}${commit} -->`
}

/** Title and body. Escapes untrusted text. */
export function renderMismatchIssue(
  mismatch: TreeMismatchView,
  revert: RevertView,
): { readonly title: string; readonly body: string } {
  const { pull, branch, base, head, commit, tree, found, differs } = mismatch
  const name = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(branch) ? branch : 'a branch'
  return {
    title: `Merging is stopped on ${name}: pull request ${pull} was not merged as it was checked`,
    body: [
      formatMismatchMarker(mismatch),
      `The bot merged #${pull} into ${toCodeSpan(branch)} and then read the branch. It does not hold what the bot checked: ${escapeMarkdown(differs)}.`,
      [
        '| | expected | found |',
        '|---|---|---|',
        `| commit | ${toCodeSpan(commit)} | ${found === undefined ? 'unknown' : toCodeSpan(found)} |`,
        `| tree | ${toCodeSpan(tree)} | ${found === undefined ? 'unknown' : 'see the commit'} |`,
        `| parents | ${toCodeSpan(base)}, ${toCodeSpan(head)} | |`,
      ].join('\n'),
      `**The bot merges nothing into ${toCodeSpan(branch)} until a maintainer allows it.** Other branches are not affected.`,
      [
        '### What to do',
        '',
        `1. Compare the two: ${toCodeSpan(`git diff ${tree} ${found ?? branch}`)}.`,
        revert.kind === 'offered'
          ? `2. If the difference is wrong, merge #${revert.pull}: it sets the branch back to what it was before the merge.`
          : `2. If the difference is wrong, revert it. The bot could not open a pull request for that: ${escapeMarkdown(revert.why)}.`,
        `3. Comment ${toCodeSpan(`/thaw ${branch} audit`)} on any open pull request, or run ${toCodeSpan(`catalog-bot landings resume --branch ${branch} --audit`)}. Then the bot merges again.`,
      ].join('\n'),
    ].join('\n\n'),
  }
}

export function renderRevertPull(
  { pull, branch, base }: TreeMismatchView,
  undone: number,
): { readonly title: string; readonly body: string; readonly message: string } {
  const title = `Set ${branch} back to before pull request ${pull}`
  const also =
    undone > 1
      ? `It undoes everything that came after that commit, also ${undone - 1} other ${undone === 2 ? 'commit' : 'commits'} on the branch.`
      : 'It undoes that merge alone.'
  return {
    title: escapeTitle(title),
    body: [
      `The branch ${toCodeSpan(branch)} does not hold what the bot checked when it merged #${pull}. Merging this pull request makes its files what they were at ${toCodeSpan(base)}. ${also}`,
      'The bot does not merge this pull request: a maintainer decides.',
    ].join('\n\n'),
    message: escapeTitle(title),
  }
}

/** A branch name is arbitrary text; a title must not mention or refer. */
function escapeTitle(text: string): string {
  return text.replace(/[^A-Za-z0-9 ._/-]/g, '')
}
