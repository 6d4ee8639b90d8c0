// Addresses on GitHub, each opening what its words say. Made of commits and numbers; what others wrote is encoded.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

/** Where a pull request is seen by people. */
export interface PullPage {
  /** GitHub's own address for people, `https://github.com`. */
  readonly web: string
  readonly repository: RepositoryName
  readonly pull: PullNumber
}

export function pullLink(page: PullPage, pull: PullNumber = page.pull): string {
  return `${home(page)}/pull/${pull}`
}

/** All check runs of a pull request. */
export function checksLink(page: PullPage): string {
  return `${pullLink(page)}/checks`
}

export function commitLink(page: PullPage, commit: CommitSha | string): string {
  return `${home(page)}/commit/${part(commit)}`
}

/** The lines of a file in one commit. */
export function linesLink(
  page: PullPage,
  commit: CommitSha,
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
): string {
  const file = path.split('/').map(part).join('/')
  // What GitHub renders has no lines, unless its source is asked for.
  const plain = /\.(?:md|markdown|rst|adoc|svg|csv|tsv)$/i.test(path) ? '?plain=1' : ''
  return `${home(page)}/blob/${part(commit)}/${file}${plain}#L${first}${last > first ? `-L${last}` : ''}`
}

function home({ web, repository }: PullPage): string {
  return `${web}/${part(repository.owner)}/${part(repository.name)}`
}

/** Encoded, also where Markdown would end an address. */
function part(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
