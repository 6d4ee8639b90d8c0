// Formats GitHub URLs. Encodes untrusted parts.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'

export interface PullUrlParts {
  /** GitHub's base URL for people, `https://github.com`. */
  readonly web: string
  readonly repository: RepositoryName
  readonly pull: PullNumber
}

export function formatPullUrl(page: PullUrlParts, pull: PullNumber = page.pull): string {
  return `${formatRepositoryUrl(page)}/pull/${pull}`
}

export function formatChecksUrl(page: PullUrlParts): string {
  return `${formatPullUrl(page)}/checks`
}

export function formatCommitUrl(page: PullUrlParts, commit: CommitSha | string): string {
  return `${formatRepositoryUrl(page)}/commit/${encodeUrlComponentForMarkdown(commit)}`
}

export function formatLineRangeUrl(
  page: PullUrlParts,
  commit: CommitSha,
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
): string {
  const file = path.split('/').map(encodeUrlComponentForMarkdown).join('/')
  // GitHub renders these files without line numbers unless the URL requests the source.
  const plain = /\.(?:md|markdown|rst|adoc|svg|csv|tsv)$/i.test(path) ? '?plain=1' : ''
  return `${formatRepositoryUrl(page)}/blob/${encodeUrlComponentForMarkdown(commit)}/${file}${plain}#L${first}${last > first ? `-L${last}` : ''}`
}

function formatRepositoryUrl({ web, repository }: PullUrlParts): string {
  return `${web}/${encodeUrlComponentForMarkdown(repository.owner)}/${encodeUrlComponentForMarkdown(repository.name)}`
}

/** Also encodes characters that end a Markdown link. */
function encodeUrlComponentForMarkdown(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
