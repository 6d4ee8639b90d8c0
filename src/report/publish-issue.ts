// The issue for maintainers about merged but unpublished catalogs. catalog-bot updates the issue and closes it when all
// failures are fixed.
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { formatImageTagsTableCell } from './publish-check.ts'

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
}: {
  readonly image: string
  readonly tags: readonly string[]
  readonly digest: string
  readonly isDone: boolean
}): string {
  const where = tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')
  return isDone
    ? `Rolled back ${where} to ${toCodeSpan(digest)}. The rollback remains in effect until the catalog changes on its branch. To select another image, comment ${toCodeSpan(`/rollback ${tags[0] ?? ''} DIGEST`)}.`
    : `Rollback failed: ${toCodeSpan(digest)} is no longer in the publish history of ${where}. No tags were changed. Choose a digest from the history page.`
}
