// The check run and the issue for maintainers about a push from outside catalog-bot that broke catalogs.
import type { CommitSha } from '../pull-request/ids.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export interface BrokenCatalog {
  /** Directory of the catalog, or '' for the repository root. */
  readonly root: string
  /** The newest commit from outside catalog-bot when the breakage was found. */
  readonly since: CommitSha
  /** The first errors, one sentence each with its location. Not escaped. */
  readonly complaints: readonly string[]
  readonly more: number
}

export function formatBrokenBaseMarker(branch: string): string {
  return `<!-- catalog-bot:broken-base ${encodeURIComponent(branch)} -->`
}

export function renderBrokenBaseCheck(broken: readonly BrokenCatalog[]): ReportedCheck {
  return {
    name: `${checkNamePrefix}push`,
    status: 'completed',
    conclusion: 'failure',
    title: `This push broke ${formatCatalogCount(broken.length)}`,
    summary: broken.map(formatBrokenCatalog).join('\n\n').slice(0, 60_000),
    annotations: [],
  }
}

/** Title and body. Equal input gives equal text. */
export function renderBrokenBaseIssue(
  branch: string,
  broken: readonly BrokenCatalog[],
): { readonly title: string; readonly body: string } {
  return {
    title: `A push broke ${formatCatalogCount(broken.length)}`,
    body: [
      formatBrokenBaseMarker(branch),
      `These changes reached ${toCodeSpan(branch)} through a push or a manual merge, not through catalog-bot. The catalogs below were valid before.`,
      broken.map(formatBrokenCatalog).join('\n\n').slice(0, 55_000),
      '### What to do\n\nOpen a pull request that fixes the catalog, or revert the push. Until then, catalog-bot does not merge a pull request that changes a broken catalog without fixing it. Pull requests for other catalogs are not affected.',
      '<sub>catalog-bot updates this text and closes the issue when every catalog is valid again.</sub>',
    ].join('\n\n'),
  }
}

export function renderResolvedBrokenBaseIssue(branch: string): {
  readonly title: string
  readonly body: string
} {
  return {
    title: 'Every catalog is valid again',
    body: `${formatBrokenBaseMarker(branch)}\n\nEvery catalog on ${toCodeSpan(branch)} that was broken by a push is valid again.`,
  }
}

export const brokenBaseClosingComment = 'Every catalog is valid again, so catalog-bot closes this issue.'

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

function formatCatalogCount(catalogs: number): string {
  return `${catalogs} ${catalogs === 1 ? 'catalog' : 'catalogs'}`
}
