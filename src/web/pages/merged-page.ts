// `/merged`: what the bot merged, newest first, also as an Atom feed.
import type { RepositoryName } from '../../change/snapshot.ts'
import { isoTime } from '../../findings/iso-time.ts'
import { markup, render } from '../html.ts'
import { mergedAddress, pullAddress, repositoryAddress } from './addresses.ts'
import { table, type Setting, type StatusPage } from './frame.ts'
import { short, time } from './words.ts'

export interface MergedModel {
  readonly repository?: RepositoryName
  readonly pulls: readonly {
    readonly repository: RepositoryName
    readonly pull: number
    readonly title: string
    readonly author?: string
    readonly baseRef: string
    readonly commit: string
    readonly mergedAt: number
  }[]
  readonly before?: number
}

export function mergedPage({ repository, pulls, before }: MergedModel, { now }: Setting): StatusPage {
  const named = repository && `${repository.owner}/${repository.name}`
  const address = mergedAddress(repository)
  return {
    title: named === undefined ? 'Merged pull requests' : `Merged in ${named}`,
    crumbs: [
      ...(repository === undefined || named === undefined
        ? []
        : [{ words: named, to: repositoryAddress(repository) }]),
      { words: 'merged', to: address },
    ],
    hasJson: true,
    feed: `${address}.atom`,
    body: markup`${table(
      {
        label: 'Merged pull requests',
        columns: [
          'Pull request',
          ...(named === undefined ? ['Repository'] : []),
          'Branch',
          'Commit',
          'Merged',
        ],
        empty: 'The bot has merged nothing here yet.',
      },
      pulls.map((one) => [
        markup`<a href="${pullAddress(one.repository, one.pull)}">#${one.pull}</a> ${titleOf(one)}${one.author !== undefined && markup`<br /><span class="faint">${one.author}</span>`}`,
        ...(named === undefined
          ? [
              markup`<a href="${repositoryAddress(one.repository)}">${one.repository.owner}/${one.repository.name}</a>`,
            ]
          : []),
        markup`<code>${one.baseRef}</code>`,
        markup`<code>${short(one.commit)}</code>`,
        time(one.mergedAt, now),
      ]),
    )}${before !== undefined && markup`<p><a href="${address}?before=${before}">Older</a></p>`}`,
  }
}

const titleOf = ({ title, pull }: { readonly title: string; readonly pull: number }): string =>
  title === '' ? `Pull request ${pull}` : title

/** RFC 4287. Ids are stable while `publicUrl` stays the same; without one they are GitHub's addresses. */
export function mergedFeed(
  { repository, pulls }: MergedModel,
  { publicUrl, webUrl }: { readonly publicUrl: string | undefined; readonly webUrl: string },
  now: number,
): string {
  const page = mergedAddress(repository)
  const at = (path: string) =>
    publicUrl === undefined ? `${webUrl}${path.replace(/^\/r(?=\/)|\/merged$/g, '')}` : `${publicUrl}${path}`
  const name = repository === undefined ? 'catalog-bot' : `${repository.owner}/${repository.name}`
  return `<?xml version="1.0" encoding="utf-8"?>\n${render(
    markup`<feed xmlns="http://www.w3.org/2005/Atom"><title>Merged: ${name}</title><id>${at(page)}</id><link rel="self" href="${publicUrl ?? ''}${page}.atom" /><link href="${at(page)}" /><updated>${isoTime(pulls[0]?.mergedAt ?? now)}</updated>${pulls.map(
      (one) =>
        markup`<entry><title>${one.repository.owner}/${one.repository.name}#${one.pull}: ${titleOf(one)}</title><id>${at(pullAddress(one.repository, one.pull))}</id><link href="${at(pullAddress(one.repository, one.pull))}" /><updated>${isoTime(one.mergedAt)}</updated><author><name>${one.author ?? 'unknown'}</name></author><summary>Merged into ${one.baseRef} as ${one.commit}.</summary></entry>`,
    )}</feed>`,
  )}\n`
}
