// The maintainers' issue for merged but unpublished catalogs. The bot edits it in place and closes it when all failures
// are fixed.
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { formatImageCell } from './publish-check.ts'

export const publishIssueMarker = '<!-- catalog-bot:not-published -->'

export interface PublishFailureView {
  readonly root: string
  readonly image: string
  readonly tags: readonly string[]
  /** Absent where the branch is unreadable. */
  readonly commit?: string | undefined
  /** ISO 8601. */
  readonly since: string
  readonly why: string
  /** `not-published`: users get an older catalog. `moved`: users get an image that the bot did not build. */
  readonly kind: 'not-published' | 'moved'
}

/** Title and body. Equal failures give equal text, so that an unchanged issue is not written. */
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
        : `${moved.length} catalog ${moved.length === 1 ? 'image was' : 'images were'} changed by somebody else`,
    body: [
      publishIssueMarker,
      ...(behind.length > 0
        ? [
            'These catalogs are merged, and users do not get them: the bot cannot publish their images.',
            renderFailureTable(behind),
            'The bot goes on trying, at least every half hour, and at once when the catalog or the configuration changes. It needs: a registry that answers, credentials that may push there, and the permission of whoever runs the App (`PUBLISH_TARGETS`).',
          ]
        : []),
      ...(moved.length > 0
        ? [
            'Somebody else moved tags that the bot keeps. It leaves them as they are until the catalog changes, or a maintainer comments `/rollback TAG DIGEST` with the digest that they should have.',
            renderFailureTable(moved),
          ]
        : []),
      '<sub>The bot updates this text, and closes the issue when everything is published.</sub>',
    ].join('\n\n'),
  }
}

export function renderPublishIssueResolved(): { readonly title: string; readonly body: string } {
  return {
    title: 'Every catalog is published',
    body: `${publishIssueMarker}\n\nEvery merged catalog is published.`,
  }
}

export const publishIssueClosingComment = 'Every catalog is published. The bot closes the issue.'

function renderFailureTable(failures: readonly PublishFailureView[]): string {
  const rows = failures
    .slice(0, 100)
    .map(
      ({ root, commit, since, why, ...image }) =>
        `| ${toCodeSpan(root === '' ? '.' : root)} | ${formatImageCell(image)} | ${commit === undefined ? '' : toCodeSpan(commit.slice(0, 12))} | ${since} | ${escapeMarkdown(why, 400).replaceAll('|', '¦')} |`,
    )
  return ['| catalog | image | commit | since | why |', '|---|---|---|---|---|', ...rows].join('\n')
}
