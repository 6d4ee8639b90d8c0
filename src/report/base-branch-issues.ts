// The check run and the issue for maintainers about a push from outside catalog-bot that broke catalogs.
import { formatCountWithNoun } from '@catalog-bot/findings/printable'
import type { CommitSha, PullNumber, TreeSha } from '../pull-request/ids.ts'
import { toCodeSpan, escapeMarkdown, truncateText } from './escape.ts'
import { createReportedCheck, type ReportedCheck } from './report-options.ts'
import { formatImageTagsTableCell, type PublishedImageView } from './publish-check.ts'

export interface TreeMismatchView {
  /** owner/name */
  readonly repository: string
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

export const treeMismatchMarkerPrefix = '<!-- catalog-bot:audit '

export interface BrokenCatalog {
  /** Directory of the catalog, or '' for the repository root. */
  readonly root: string
  /** The newest commit from outside catalog-bot when the breakage was found. */
  readonly since: CommitSha
  /** The first errors, one sentence each with its location. Not escaped. */
  readonly complaints: readonly string[]
  readonly more: number
}

export function formatBrokenBaseBranchMarker(branch: string): string {
  return `<!-- catalog-bot:broken-base ${encodeURIComponent(branch)} -->`
}

export function renderBrokenBaseBranchCheck(broken: readonly BrokenCatalog[]): ReportedCheck {
  const title = `This push broke ${formatCountWithNoun(broken.length, 'catalog')}`
  return createReportedCheck(
    'push',
    'failure',
    title,
    truncateText(broken.map(formatBrokenCatalog).join('\n\n')),
  )
}

/** Title and body. Equal input gives equal text. */
export function renderBrokenBaseBranchIssue(
  branch: string,
  broken: readonly BrokenCatalog[],
): { readonly title: string; readonly body: string } {
  return {
    title: `A push broke ${formatCountWithNoun(broken.length, 'catalog')}`,
    body: [
      formatBrokenBaseBranchMarker(branch),
      `These changes reached ${toCodeSpan(branch)} through a push or a manual merge, not through catalog-bot. The catalogs below were valid before these changes.`,
      truncateText(broken.map(formatBrokenCatalog).join('\n\n')),
      '### What to do\n\nOpen a pull request that fixes the catalog, or revert the push. Until then, catalog-bot does not merge a pull request that changes a broken catalog without fixing it. Pull requests for other catalogs are not affected.',
      '<sub>catalog-bot updates this text and closes the issue when every catalog is valid again.</sub>',
    ].join('\n\n'),
  }
}

/** Title and body of the closed issue, and the comment that closes it. */
export function renderFixedBaseBranchIssue(branch: string) {
  return {
    title: 'Every catalog is valid again',
    body: `${formatBrokenBaseBranchMarker(branch)}\n\nEvery catalog on ${toCodeSpan(branch)} that was broken by a push is valid again.`,
    comment: 'Every catalog is valid again, so catalog-bot closes this issue.',
    commentMarker: () => '<!-- catalog-bot:base-is-mended -->',
  }
}

function formatBrokenCatalog({ root, since, complaints, more }: BrokenCatalog): string {
  const lines = complaints.map((text) => `- ${escapeMarkdown(text, 500)}`)
  if (more > 0) lines.push(`- … and ${more} more`)
  return [
    `**${toCodeSpan(root === '' ? '.' : root)}**, broken by ${toCodeSpan(since.slice(0, 12))}:`,
    '',
    ...lines,
    '',
    `To list all errors, run ${toCodeSpan(`catalog-bot validate ${root === '' ? '.' : root}`)}.`,
  ].join('\n')
}

/** The hidden first line identifies the merge commit, because each merge has its own issue. */
export function formatTreeMismatchMarker({ commit }: Pick<TreeMismatchView, 'commit'>): string {
  return `${treeMismatchMarkerPrefix}${commit} -->`
}

/** Title and body. Escapes untrusted text. */
export function renderTreeMismatchIssue(
  mismatch: TreeMismatchView,
  revert: RevertPullRequestView,
): { readonly title: string; readonly body: string } {
  const { pull, branch, base, head, commit, tree, found, differs } = mismatch
  const name = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(branch) ? branch : 'a branch'
  return {
    title: `Merging into ${name} is frozen: verification of merged pull request ${pull} failed`,
    body: [
      formatTreeMismatchMarker(mismatch),
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
        `3. To unfreeze the branch, comment ${toCodeSpan(`/unfreeze ${branch} audit`)} on any open pull request, or run ${toCodeSpan(`catalog-bot merging unfreeze --repository ${mismatch.repository} --branch ${branch} --audit`)}.`,
      ].join('\n'),
    ].join('\n\n'),
  }
}

/** The issue for maintainers about a branch that differs from what catalog-bot checked. */
export function renderRevertPullRequest(
  { pull, branch, base }: TreeMismatchView,
  undone: number,
): { readonly title: string; readonly body: string; readonly message: string } {
  const title = `Restore ${branch} to its state before pull request ${pull}`
  const also =
    undone > 1
      ? `This also reverts ${undone - 1} other ${undone === 2 ? 'commit' : 'commits'} that were added to the branch after the merge of #${pull}.`
      : 'This reverts only that merge.'
  return {
    title: escapeIssueTitle(title),
    body: [
      `The branch ${toCodeSpan(branch)} does not match what catalog-bot checked when it merged #${pull}. Merging this pull request restores the files to their state at ${toCodeSpan(base)}. ${also}`,
      'catalog-bot does not merge this pull request. A maintainer must decide whether to merge it.',
    ].join('\n\n'),
    message: escapeIssueTitle(title),
  }
}

/** Branch names are arbitrary text, and a title must not contain mentions or references. */
const escapeIssueTitle = (text: string): string => text.replace(/[^A-Za-z0-9 ._/-]/g, '')

export const publishIssueMarker = '<!-- catalog-bot:not-published -->'

export interface PublishFailureView {
  readonly root: string
  readonly image: string
  readonly tags: readonly string[]
  /** Absent if the branch is unreadable. */
  readonly commit?: string | undefined
  /** ISO 8601. */
  readonly since: string
  readonly why: string
  /** `not-published`: users get an older catalog. `moved`: users get an image that catalog-bot did not build. */
  readonly kind: 'not-published' | 'moved'
}

/** Title and body. Equal failures give equal text, so that an unchanged issue is not updated. */
export function renderPublishIssue(failures: readonly PublishFailureView[]): {
  readonly title: string
  readonly body: string
} {
  const behind = failures.filter(({ kind }) => kind === 'not-published')
  const moved = failures.filter(({ kind }) => kind === 'moved')
  return {
    title:
      behind.length > 0
        ? `Merged but not published: ${behind.length} catalog ${behind.length === 1 ? 'image' : 'images'}`
        : `${moved.length} catalog ${moved.length === 1 ? 'image was' : 'images were'} changed outside catalog-bot`,
    body: [
      publishIssueMarker,
      ...(behind.length > 0
        ? [
            'These catalogs were merged but not published, so users still get the previous version.',
            renderFailureTable(behind),
            'catalog-bot retries at least every 30 minutes, and immediately when the catalog or the configuration changes. Check that the registry responds, that the credentials can push to it, and that a bot administrator allowed the target in `PUBLISH_TARGETS`.',
          ]
        : []),
      ...(moved.length > 0
        ? [
            'These tags were changed outside of catalog-bot. catalog-bot does not set them again until the catalog changes. To set a tag now, a maintainer can comment `/rollback TAG DIGEST` with the correct digest.',
            renderFailureTable(moved),
          ]
        : []),
      '<sub>catalog-bot updates this text and closes the issue when everything is published.</sub>',
    ].join('\n\n'),
  }
}

/** Title and body of the closed issue, and the comment that closes it. */
export const resolvedPublishIssue = {
  title: 'Every catalog is published',
  body: `${publishIssueMarker}\n\nEvery merged catalog is published.`,
  comment: 'Every catalog is published, so catalog-bot closes this issue.',
}

function renderFailureTable(failures: readonly PublishFailureView[]): string {
  const rows = failures
    .slice(0, 100)
    .map(
      ({ root, commit, since, why, ...image }) =>
        `| ${toCodeSpan(root === '' ? '.' : root)} | ${formatImageTagsTableCell(image)} | ${commit === undefined ? '' : toCodeSpan(commit.slice(0, 12))} | ${since} | ${escapeMarkdown(why, 400).replaceAll('|', '¦')} |`,
    )
  return ['| Catalog | Image | Commit | Since | Reason |', '|---|---|---|---|---|', ...rows].join('\n')
}

export function renderRollbackResult({
  image,
  tags,
  digest,
  isDone,
}: Pick<PublishedImageView, 'image' | 'tags'> & {
  readonly digest: string
  readonly isDone: boolean
}): string {
  const where = tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')
  return isDone
    ? `Rolled back ${where} to ${toCodeSpan(digest)}. The rollback remains in effect until the catalog changes on its branch. To select another image, comment ${toCodeSpan(`/rollback ${tags[0] ?? ''} DIGEST`)}.`
    : `Rollback failed: ${toCodeSpan(digest)} is no longer in the publish history of ${where}. No tags were changed. Choose a digest from the history page.`
}
