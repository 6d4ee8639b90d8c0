// The check run and the maintainers' issue for a push outside the bot that broke catalogs.
import type { CommitSha } from '../change/ids.ts'
import { code, plain } from './escape.ts'
import { checkPrefix, type ReportedCheck } from './report.ts'

export interface BrokenCatalog {
  /** Directory of the catalog; '' for the repository itself. */
  readonly root: string
  /** The newest commit outside the bot when the break was found. */
  readonly since: CommitSha
  /** The first complaints, a sentence each with its place. Not escaped. */
  readonly complaints: readonly string[]
  readonly more: number
}

export function brokenBaseMarker(branch: string): string {
  return `<!-- catalog-bot:broken-base ${encodeURIComponent(branch)} -->`
}

export function brokenBaseCheck(broken: readonly BrokenCatalog[]): ReportedCheck {
  return {
    name: `${checkPrefix}push`,
    status: 'completed',
    conclusion: 'failure',
    title: `This push broke ${count(broken.length)}`,
    summary: broken.map(describe).join('\n\n').slice(0, 60_000),
    annotations: [],
  }
}

/** Title and body. Equal breaks give equal text. */
export function brokenBaseIssue(
  branch: string,
  broken: readonly BrokenCatalog[],
): { readonly title: string; readonly body: string } {
  return {
    title: `A push broke ${count(broken.length)}`,
    body: [
      brokenBaseMarker(branch),
      `The bot did not merge these changes into ${code(branch)}: somebody pushed them, or merged them by hand. The catalogs below were valid before.`,
      broken.map(describe).join('\n\n').slice(0, 55_000),
      '### What to do\n\nOpen a pull request that mends the catalog, or revert the push. Until then the bot does not merge pull requests that change such a catalog and leave it broken. Pull requests for other catalogs are not affected.',
      '<sub>The bot updates this text, and closes the issue when every catalog is valid again.</sub>',
    ].join('\n\n'),
  }
}

export function brokenBaseDone(branch: string): { readonly title: string; readonly body: string } {
  return {
    title: 'Every catalog is valid again',
    body: `${brokenBaseMarker(branch)}\n\nEvery catalog on ${code(branch)} that a push had broken is valid again.`,
  }
}

export const brokenBaseClosing = 'Every catalog is valid again. The bot closes the issue.'

function describe({ root, since, complaints, more }: BrokenCatalog): string {
  const lines = complaints.map((text) => `- ${plain(text, 500)}`)
  if (more > 0) lines.push(`- … and ${more} more`)
  return [
    `**${code(root === '' ? '.' : root)}**, broken by ${code(since.slice(0, 12))}:`,
    '',
    ...lines,
    '',
    `See all: ${code(`catalog-bot validate ${root === '' ? '.' : root}`)}`,
  ].join('\n')
}

function count(catalogs: number): string {
  return `${catalogs} ${catalogs === 1 ? 'catalog' : 'catalogs'}`
}
