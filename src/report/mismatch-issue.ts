// The issue for maintainers about a branch that differs from what catalog-bot checked.
import type { CommitSha, PullNumber, TreeSha } from '../pull-request/ids.ts'
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

/** The pull request that reverts the merge, or why it could not be opened. */
export type RevertPullRequestView =
  { readonly kind: 'offered'; readonly pull: PullNumber } | { readonly kind: 'none'; readonly why: string }

export const mismatchMarkerPrefix = '<!-- catalog-bot:audit '

/** The hidden first line identifies the merge commit, because each merge has its own issue. */
export function formatMismatchMarker({ commit }: Pick<TreeMismatchView, 'commit'>): string {
  return `${mismatchMarkerPrefix}${commit} -->`
}

/** Title and body. Escapes untrusted text. */
export function renderMismatchIssue(
  mismatch: TreeMismatchView,
  revert: RevertPullRequestView,
): { readonly title: string; readonly body: string } {
  const { pull, branch, base, head, commit, tree, found, differs } = mismatch
  const name = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(branch) ? branch : 'a branch'
  return {
    title: `Merging into ${name} is frozen: verification of merged pull request ${pull} failed`,
    body: [
      formatMismatchMarker(mismatch),
      `catalog-bot merged #${pull} into ${toCodeSpan(branch)}, but the branch does not match what was checked: ${escapeMarkdown(differs)}.`,
      [
        '| | expected | found |',
        '|---|---|---|',
        `| commit | ${toCodeSpan(commit)} | ${found === undefined ? 'unknown' : toCodeSpan(found)} |`,
        `| tree | ${toCodeSpan(tree)} | ${found === undefined ? 'unknown' : 'see the commit'} |`,
        `| parents | ${toCodeSpan(base)}, ${toCodeSpan(head)} | |`,
      ].join('\n'),
      `**catalog-bot does not merge anything into ${toCodeSpan(branch)} until a maintainer unfreezes it.** Other branches are not affected.`,
      [
        '### What to do',
        '',
        `1. Compare the expected and the actual content: ${toCodeSpan(`git diff ${tree} ${found ?? branch}`)}.`,
        revert.kind === 'offered'
          ? `2. If the difference is not intended, merge #${revert.pull}, which restores the branch to its state before the merge.`
          : `2. If the difference is not intended, revert it manually. catalog-bot could not open a pull request for the revert: ${escapeMarkdown(revert.why)}.`,
        `3. To unfreeze the branch, comment ${toCodeSpan(`/unfreeze ${branch} audit`)} on any open pull request, or run ${toCodeSpan(`catalog-bot merging unfreeze --branch ${branch} --audit`)}.`,
      ].join('\n'),
    ].join('\n\n'),
  }
}

export function renderRevertPull(
  { pull, branch, base }: TreeMismatchView,
  undone: number,
): { readonly title: string; readonly body: string; readonly message: string } {
  const title = `Restore ${branch} to its state before pull request ${pull}`
  const also =
    undone > 1
      ? `This also reverts ${undone - 1} other ${undone === 2 ? 'commit' : 'commits'} that were added to the branch afterward.`
      : 'This reverts only that merge.'
  return {
    title: escapeIssueTitle(title),
    body: [
      `The branch ${toCodeSpan(branch)} does not match what catalog-bot checked when it merged #${pull}. Merging this pull request restores the files to their state at ${toCodeSpan(base)}. ${also}`,
      'catalog-bot does not merge this pull request. A maintainer must decide.',
    ].join('\n\n'),
    message: escapeIssueTitle(title),
  }
}

/** Branch names are arbitrary text, and a title must not contain mentions or references. */
function escapeIssueTitle(text: string): string {
  return text.replace(/[^A-Za-z0-9 ._/-]/g, '')
}
