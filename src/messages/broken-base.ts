// The check run and the maintainers' issue for a push outside the bot that broke catalogs.
import type { CommitSha } from '../change/ids.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export interface BrokenCatalog {
  /** Directory of the catalog; '' for the repository itself. */
  readonly root: string
  /** The newest commit outside the bot when the break was found. */
  readonly since: CommitSha
  /** The first complaints, a sentence each with its place. Not escaped. */
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

/** Title and body. Equal breaks give equal text. */
export function renderBrokenBaseIssue(
  branch: string,
  broken: readonly BrokenCatalog[],
): { readonly title: string; readonly body: string } {
  return {
    title: `A push broke ${formatCatalogCount(broken.length)}`,
    body: [
      formatBrokenBaseMarker(branch),
      `The bot did not merge these changes into ${toCodeSpan(branch)}: somebody pushed them, or merged them by hand. The catalogs below were valid before.`,
      broken.map(formatBrokenCatalog).join('\n\n').slice(0, 55_000),
      '### What to do\n\nOpen a pull request that mends the catalog, or revert the push. Until then the bot does not merge pull requests that change such a catalog and leave it broken. Pull requests for other catalogs are not affected.',
      '<sub>The bot updates this text, and closes the issue when every catalog is valid again.</sub>',
    ].join('\n\n'),
  }
}

export function renderBrokenBaseResolved(branch: string): { readonly title: string; readonly body: string } {
  return {
    title: 'Every catalog is valid again',
    body: `${formatBrokenBaseMarker(branch)}\n\nEvery catalog on ${toCodeSpan(branch)} that a push had broken is valid again.`,
  }
}

export const brokenBaseClosingComment = 'Every catalog is valid again. The bot closes the issue.'

function formatBrokenCatalog({ root, since, complaints, more }: BrokenCatalog): string {
  const lines = complaints.map((text) => `- ${escapeMarkdown(text, 500)}`)
  if (more > 0) lines.push(`- … and ${more} more`)
  return [
    `**${toCodeSpan(root === '' ? '.' : root)}**, broken by ${toCodeSpan(since.slice(0, 12))}:`,
    '',
    ...lines,
    '',
    `See all: ${toCodeSpan(`catalog-bot validate ${root === '' ? '.' : root}`)}`,
  ].join('\n')
}

function formatCatalogCount(catalogs: number): string {
  return `${catalogs} ${catalogs === 1 ? 'catalog' : 'catalogs'}`
}
