// GitHub URLs. Encodes untrusted parts.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

export interface PullPage {
  /** GitHub's base URL for people, `https://github.com`. */
  readonly web: string
  readonly repository: RepositoryName
  readonly pull: PullNumber
}

export function pullLink(page: PullPage, pull: PullNumber = page.pull): string {
  return `${home(page)}/pull/${pull}`
}

export function checksLink(page: PullPage): string {
  return `${pullLink(page)}/checks`
}

export function commitLink(page: PullPage, commit: CommitSha | string): string {
  return `${home(page)}/commit/${part(commit)}`
}

export function linesLink(
  page: PullPage,
  commit: CommitSha,
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
): string {
  const file = path.split('/').map(part).join('/')
  // GitHub renders these files without line numbers unless the source is requested.
  const plain = /\.(?:md|markdown|rst|adoc|svg|csv|tsv)$/i.test(path) ? '?plain=1' : ''
  return `${home(page)}/blob/${part(commit)}/${file}${plain}#L${first}${last > first ? `-L${last}` : ''}`
}

function home({ web, repository }: PullPage): string {
  return `${web}/${part(repository.owner)}/${part(repository.name)}`
}

/** Also encodes characters that end a Markdown link. */
function part(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
