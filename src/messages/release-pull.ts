// Texts about releases: the pull request that adds a bundle to the catalogs, and messages where there is none. Names
// and reasons are untrusted.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import { formatChangeAsMarkdown, type DescriptionLine } from './describe-change.ts'
import { toCodeSpan, toOneLine, escapeMarkdown } from './escape.ts'
import { renderMermaidBlock } from './fenced-mermaid.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export interface MergedBundleDirectory {
  readonly directory: string
  readonly version: string
}

export interface ReleasePullView extends MergedBundleDirectory {
  /** The bundle's name, and its image by digest. */
  readonly name: string
  readonly image: string
  /** The commit that added the directory, and its merged pull request, if any. */
  readonly commit: CommitSha
  readonly pull: PullNumber | undefined
  readonly lines: readonly DescriptionLine[]
  readonly graph?: string | undefined
  /** Whether the bundle's settings allow merging automatically. */
  readonly isMergedByItself: boolean
}

/** GitHub refuses more than 65,536 characters. */
const maxTextLength = 60_000

export function formatReleaseTitle({ directory, version }: MergedBundleDirectory): string {
  return `Add ${toOneLine(`${directory} ${version}`, 150)} to the catalogs`
}

export function renderReleaseBody(release: ReleasePullView): string {
  const { directory, version, name, image, commit, pull, lines, graph, isMergedByItself } = release
  const from = pull === undefined ? `the commit ${toCodeSpan(commit.slice(0, 12))}` : `#${pull}`
  const paragraphs = [
    `This adds the bundle ${toCodeSpan(name)} of ${from} to the templates that ${toCodeSpan(`operators/${directory}/${version}/release-config.yaml`)} names, and to the catalogs that are rendered from them.`,
    `Its image is ${toCodeSpan(image, 500)}. The bot compared it with the directory: both say the same.`,
    ...(isMergedByItself
      ? []
      : [
          `It is a draft, because its ${toCodeSpan('release-config.yaml')} says ${toCodeSpan('merge: false')}. Mark it as ready when it may be merged.`,
        ]),
    `### What changes\n\n${formatChangeAsMarkdown(lines).join('\n')}`,
  ]
  const end =
    '<sub>The bot opened this pull request, and judges it like any other. It renews the branch when the base changes what is written here, as long as nobody else pushes to it. Close the pull request if you do not want the release: the bot does not open it again.</sub>'
  const drawn =
    graph === undefined
      ? []
      : [`<details><summary>Upgrade graph</summary>\n\n${renderMermaidBlock(graph)}\n\n</details>`]
  const whole = [...paragraphs, ...drawn, end].join('\n\n')
  return whole.length <= maxTextLength ? whole : [...paragraphs, end].join('\n\n').slice(0, maxTextLength)
}

export function formatReleaseCommitMessage(
  release: MergedBundleDirectory & { readonly name: string; readonly image: string },
): string {
  return `${formatReleaseTitle(release)}\n\nAdds ${toOneLine(release.name)} as ${toOneLine(release.image, 500)}.\n`
}

export type ReleaseProblem =
  /** `reason`: the registry's last answer. */
  | { readonly kind: 'late'; readonly image: string; readonly hours: number; readonly reason: string }
  | { readonly kind: 'refused'; readonly why: string }
  /** GitHub refused the pull request. */
  | { readonly kind: 'not-opened'; readonly why: string }

export interface ReleaseProblemView {
  readonly title: string
  readonly text: string
}

export function renderReleaseProblem(
  { directory, version }: MergedBundleDirectory,
  news: ReleaseProblem,
): ReleaseProblemView {
  const directoryLabel = toCodeSpan(`operators/${directory}/${version}`)
  switch (news.kind) {
    case 'late':
      return {
        title: 'The image of a bundle is not there yet',
        text: [
          `${directoryLabel} is merged, and its image ${toCodeSpan(news.image, 500)} is not in the registry after ${news.hours} hours: ${escapeMarkdown(news.reason, 300)}. So the bot has not opened the pull request that adds it to the catalogs.`,
          'This is not the fault of the author of the directory. Maintainers: see whether the image is built and pushed under this name. The bot asks again by itself, for two weeks after the merge.',
        ].join('\n\n'),
      }
    case 'refused':
      return {
        title: 'A bundle is not released',
        text: [
          `The bot does not open a pull request that adds ${directoryLabel} to the catalogs: ${escapeMarkdown(news.why, 1500)}.`,
          'When somebody mends that on the base branch, or in the registry, the bot opens it by itself, up to two weeks after the merge.',
        ].join('\n\n'),
      }
    case 'not-opened':
      return {
        title: 'A bundle is not released',
        text: `The bot could not open the pull request that adds ${directoryLabel} to the catalogs: ${escapeMarkdown(news.why, 500)}. It tries again when the base branch moves.`,
      }
  }
}

/** For a commit without a pull request, so that its pusher sees the result. */
export function renderReleaseCheck({ title, text }: ReleaseProblemView): ReportedCheck {
  return {
    name: `${checkNamePrefix}release`,
    status: 'completed',
    conclusion: 'neutral',
    title,
    summary: text,
    annotations: [],
  }
}
