// Texts about releases: the pull request that adds a bundle to the catalogs, and messages where there is none. Names
// and reasons are untrusted.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import { changeAsMarkdown, type Line } from './describe-change.ts'
import { code, oneLine, plain } from './escape.ts'
import { fencedMermaid } from './fenced-mermaid.ts'
import { checkPrefix, type ReportedCheck } from './report.ts'

export interface MergedDirectory {
  readonly directory: string
  readonly version: string
}

export interface ToldRelease extends MergedDirectory {
  /** The bundle's name, and its image by digest. */
  readonly name: string
  readonly image: string
  /** The commit that added the directory, and its merged pull request, if any. */
  readonly commit: CommitSha
  readonly pull: PullNumber | undefined
  readonly lines: readonly Line[]
  readonly graph?: string | undefined
  /** Whether the bundle's settings allow merging automatically. */
  readonly isMergedByItself: boolean
}

/** GitHub refuses more than 65,536 characters. */
const maxText = 60_000

export function releaseTitle({ directory, version }: MergedDirectory): string {
  return `Add ${oneLine(`${directory} ${version}`, 150)} to the catalogs`
}

export function releaseBody(release: ToldRelease): string {
  const { directory, version, name, image, commit, pull, lines, graph, isMergedByItself } = release
  const from = pull === undefined ? `the commit ${code(commit.slice(0, 12))}` : `#${pull}`
  const paragraphs = [
    `This adds the bundle ${code(name)} of ${from} to the templates that ${code(`operators/${directory}/${version}/release-config.yaml`)} names, and to the catalogs that are rendered from them.`,
    `Its image is ${code(image, 500)}. The bot compared it with the directory: both say the same.`,
    ...(isMergedByItself
      ? []
      : [
          `It is a draft, because its ${code('release-config.yaml')} says ${code('merge: false')}. Mark it as ready when it may be merged.`,
        ]),
    `### What changes\n\n${changeAsMarkdown(lines).join('\n')}`,
  ]
  const end =
    '<sub>The bot opened this pull request, and judges it like any other. It renews the branch when the base changes what is written here, as long as nobody else pushes to it. Close the pull request if you do not want the release: the bot does not open it again.</sub>'
  const drawn =
    graph === undefined
      ? []
      : [`<details><summary>Upgrade graph</summary>\n\n${fencedMermaid(graph)}\n\n</details>`]
  const whole = [...paragraphs, ...drawn, end].join('\n\n')
  return whole.length <= maxText ? whole : [...paragraphs, end].join('\n\n').slice(0, maxText)
}

export function releaseCommitMessage(
  release: MergedDirectory & { readonly name: string; readonly image: string },
): string {
  return `${releaseTitle(release)}\n\nAdds ${oneLine(release.name)} as ${oneLine(release.image, 500)}.\n`
}

export type ReleaseNews =
  /** `reason`: the registry's last answer. */
  | { readonly kind: 'late'; readonly image: string; readonly hours: number; readonly reason: string }
  | { readonly kind: 'refused'; readonly why: string }
  /** GitHub refused the pull request. */
  | { readonly kind: 'not-opened'; readonly why: string }

export interface ToldNews {
  readonly title: string
  readonly text: string
}

export function releaseNews({ directory, version }: MergedDirectory, news: ReleaseNews): ToldNews {
  const what = code(`operators/${directory}/${version}`)
  switch (news.kind) {
    case 'late':
      return {
        title: 'The image of a bundle is not there yet',
        text: [
          `${what} is merged, and its image ${code(news.image, 500)} is not in the registry after ${news.hours} hours: ${plain(news.reason, 300)}. So the bot has not opened the pull request that adds it to the catalogs.`,
          'This is not the fault of the author of the directory. Maintainers: see whether the image is built and pushed under this name. The bot asks again by itself, for two weeks after the merge.',
        ].join('\n\n'),
      }
    case 'refused':
      return {
        title: 'A bundle is not released',
        text: [
          `The bot does not open a pull request that adds ${what} to the catalogs: ${plain(news.why, 1500)}.`,
          'When somebody mends that on the base branch, or in the registry, the bot opens it by itself, up to two weeks after the merge.',
        ].join('\n\n'),
      }
    case 'not-opened':
      return {
        title: 'A bundle is not released',
        text: `The bot could not open the pull request that adds ${what} to the catalogs: ${plain(news.why, 500)}. It tries again when the base branch moves.`,
      }
  }
}

/** For a commit without a pull request, so that its pusher sees the result. */
export function releaseCheck({ title, text }: ToldNews): ReportedCheck {
  return {
    name: `${checkPrefix}release`,
    status: 'completed',
    conclusion: 'neutral',
    title,
    summary: text,
    annotations: [],
  }
}
