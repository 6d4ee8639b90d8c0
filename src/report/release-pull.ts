// Messages about bundle releases: the pull request, or why it was not opened. Names are untrusted.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { formatDescriptionLinesAsMarkdown, type DescriptionLine } from './describe-change.ts'
import { toCodeSpan, toCommitTitle, toSingleLineText, escapeMarkdown, renderMermaidBlock } from './escape.ts'
import { createReportedCheck, type ReportedCheck } from './report-options.ts'

export interface MergedBundleDirectory {
  readonly directory: string
  readonly version: string
}

export interface ReleasePullView extends MergedBundleDirectory {
  /** The name of the bundle, and its image by digest. */
  readonly name: string
  readonly image: string
  /** The commit that added the directory, and the pull request that merged it, if any. */
  readonly commit: CommitSha
  readonly pull: PullNumber | undefined
  readonly lines: readonly DescriptionLine[]
  readonly graph?: string | undefined
  /** Whether the bundle's settings allow merging automatically. */
  readonly isMergedByItself: boolean
}

/** GitHub rejects more than 65,536 characters. */
const maxPullRequestBodyLength = 60_000

export function formatReleaseTitle({ directory, version }: MergedBundleDirectory): string {
  return `Add ${toCommitTitle(`${directory} ${version}`, 150)} to the catalogs`
}

export function renderReleaseBody(release: ReleasePullView): string {
  const { directory, version, name, image, commit, pull, lines, graph, isMergedByItself } = release
  const from = pull === undefined ? `the commit ${toCodeSpan(commit.slice(0, 12))}` : `#${pull}`
  const paragraphs = [
    `This pull request adds the bundle ${toCodeSpan(name)} from ${from} to the templates listed in ${toCodeSpan(`operators/${directory}/${version}/release-config.yaml`)}, and to the catalogs rendered from these templates.`,
    `The bundle image is ${toCodeSpan(image, 500)}. catalog-bot verified that its content matches the directory.`,
    ...(isMergedByItself
      ? []
      : [
          `This pull request is a draft because ${toCodeSpan('release-config.yaml')} sets ${toCodeSpan('merge: false')}. To allow merging, mark the pull request as ready for review.`,
        ]),
    `### Changes\n\n${formatDescriptionLinesAsMarkdown(lines).join('\n')}`,
  ]
  const end =
    '<sub>catalog-bot opened this pull request and checks it like any other. If a change on the base branch affects this content, catalog-bot updates the pull request, unless someone else has pushed to it. If you do not want this release, close the pull request. catalog-bot does not reopen it.</sub>'
  const drawn =
    graph === undefined
      ? []
      : [`<details><summary>Upgrade graph</summary>\n\n${renderMermaidBlock(graph)}\n\n</details>`]
  const whole = [...paragraphs, ...drawn, end].join('\n\n')
  return whole.length <= maxPullRequestBodyLength
    ? whole
    : [...paragraphs, end].join('\n\n').slice(0, maxPullRequestBodyLength)
}

export function formatReleaseCommitMessage(
  release: MergedBundleDirectory & { readonly name: string; readonly image: string },
): string {
  return `${formatReleaseTitle(release)}\n\nAdds ${toCommitTitle(release.name, 300)} as ${toSingleLineText(release.image, 500)}.\n`
}

export type ReleasePullProblem =
  /** `reason`: the registry's last response. */
  | { readonly kind: 'late'; readonly image: string; readonly hours: number; readonly reason: string }
  | { readonly kind: 'refused'; readonly why: string }
  /** GitHub rejected the pull request. */
  | { readonly kind: 'not-opened'; readonly why: string }

export interface RenderedReleaseProblem {
  readonly title: string
  readonly text: string
}

export function renderReleaseProblem(
  { directory, version }: MergedBundleDirectory,
  news: ReleasePullProblem,
): RenderedReleaseProblem {
  const directoryLabel = toCodeSpan(`operators/${directory}/${version}`)
  switch (news.kind) {
    case 'late':
      return {
        title: 'A bundle image is not available yet',
        text: [
          `${directoryLabel} was merged ${news.hours} hours ago, but its image ${toCodeSpan(news.image, 500)} is not in the registry: ${escapeMarkdown(news.reason, 300)}. Therefore, catalog-bot has not opened the pull request that adds the bundle to the catalogs.`,
          'No action is needed from the author of this directory. Maintainers: check whether the image was built and pushed under this name. catalog-bot retries automatically for two weeks after the merge.',
        ].join('\n\n'),
      }
    case 'refused':
      return {
        title: 'A bundle was not released',
        text: [
          `catalog-bot did not open a pull request that adds ${directoryLabel} to the catalogs: ${escapeMarkdown(news.why, 1500)}.`,
          'Fix the problem on the base branch or in the registry. catalog-bot then opens the pull request automatically, for up to two weeks after the merge.',
        ].join('\n\n'),
      }
    case 'not-opened':
      return {
        title: 'A bundle was not released',
        text: `catalog-bot could not open the pull request that adds ${directoryLabel} to the catalogs: ${escapeMarkdown(news.why, 500)}. catalog-bot retries when the base branch changes.`,
      }
  }
}

/** For a commit without a pull request, so that the user who pushed the commit sees the result. */
export function renderReleaseCheck({ title, text }: RenderedReleaseProblem): ReportedCheck {
  return createReportedCheck('release', 'neutral', title, text)
}
