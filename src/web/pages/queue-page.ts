// `/r/O/R` and `/r/O/R/merged`: open and merged pull requests with their status, merges in progress, and active freezes.
import { formatIsoTime } from '@catalog-bot/findings/printable'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { FreezeKind } from '../../policy/merge-freeze.ts'
import type { VerdictKind } from '../../policy/verdict.ts'
import type { VerdictReasonView } from '../../ports/status-page-store.ts'
import { htmlTemplate, emptyHtml, type Html, convertHtmlToString } from '../html.ts'
import { formatMergedPullsPageUrl, formatPullPageUrl, formatRepositoryPageUrl } from '../../report/urls.ts'
import {
  renderCard,
  renderDurationSince,
  renderFilterForm,
  renderRelativeTime,
  renderTable,
  renderViewLinks,
  formatCountWithNoun,
  renderFutureTime,
  formatTextAsSentence,
  renderPullState,
  formatPullState,
  renderTime,
  type PullDisplayState,
  shortenSha,
} from './page-elements.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'

export interface MergedPullsPageModel {
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

const maxDisplayedActors = 3
/** Resolver messages are longer than a row has room for. */
const maxReasonLength = 160

const getPullTitle = ({ title, pull }: { readonly title: string; readonly pull: number }): string =>
  title === '' ? `Pull request ${pull}` : title

/** The verdicts that the list can be filtered by, in the order of the links. */
export const queueFilterStates = ['merge', 'wait', 'blocked', 'unknown'] as const

/** The selection in the URL. Absent parts select everything. */
export interface QueueFilter {
  readonly state?: VerdictKind
  /** The login. Case does not matter. */
  readonly author?: string
  /** Part of the title or of the name of a changed package. Case does not matter. */
  readonly package?: string
  /** Only higher numbers: the next page. */
  readonly after?: number
}

export interface QueuedPullView {
  readonly pull: number
  readonly title: string
  readonly author?: string
  readonly baseRef: string
  readonly draft: boolean
  readonly state: PullDisplayState
  readonly since: number
  readonly openedAt: number
  readonly lookedAt: number
  readonly reasons: readonly VerdictReasonView[]
  readonly who: readonly string[]
  readonly behind?: number
}

export interface MergeFreezeView {
  readonly branch?: string
  readonly kind: FreezeKind
  readonly since: number
  readonly by: string
  readonly reason: string
  readonly pull?: number
  readonly tryAgainAt?: number
  readonly command: string
}

export interface RateLimitedJobView {
  readonly kind: 'train' | 'pull' | 'sweep' | 'scan'
  /** The waiting pull requests in the list. There might be others that catalog-bot has not read yet. */
  readonly pulls?: number
  readonly until: number
}

export interface QueuePageModel {
  readonly repository: RepositoryName
  readonly isPublic: boolean
  readonly url: string
  readonly filter: QueueFilter
  /** All open pull requests by verdict, regardless of the filter. */
  readonly counts: Readonly<Partial<Record<VerdictKind, number>>>
  readonly pulls: readonly QueuedPullView[]
  /** If more match: the last number on this page. */
  readonly next?: number | undefined
  /** Work that waits for GitHub's rate limit. */
  readonly limited: readonly RateLimitedJobView[]
  readonly isCut: boolean
  readonly merging: readonly {
    readonly pull: number
    readonly title?: string
    readonly author?: string
    readonly baseRef: string
    readonly since?: number
    readonly how: string
  }[]
  readonly stops: readonly MergeFreezeView[]
  readonly events: readonly {
    readonly at: number
    readonly step: 'stopped' | 'resumed'
    readonly kind: FreezeKind
    readonly branch?: string
    readonly by: string
    readonly reason: string
  }[]
}

/** `resumeToken`: the token that the resume form sends for a visitor who may end a stop. */
export function renderQueuePage(
  model: QueuePageModel,
  setting: PageRequestContext,
  resumeToken?: string,
): StatusPage {
  const { repository, stops, events } = model
  const { now } = setting
  const named = `${repository.owner}/${repository.name}`
  return {
    title: `Queue of ${named}`,
    tabs: { repository, current: 'queue' },
    crumbs: [],
    isLive: true,
    hasJson: true,
    body: htmlTemplate`${renderRateLimitNote(model, now)}${stops.map((stop) => renderMergeFreezeNote(stop, model, now, resumeToken))}
<h2>Merging now</h2>${renderRunningMerges(model, now)}
<h2>Open pull requests</h2>${renderQueueFilter(model)}${renderOpenPulls(model, now)}<p><a href="${model.url}">All pull requests on GitHub</a></p>${
      events.length === 0 ? emptyHtml : renderFreezeHistory(events, now)
    }`,
  }
}

function renderPullLink(repository: QueuePageModel['repository'], pull: number, title = ''): Html {
  return htmlTemplate`<a href="${formatPullPageUrl(repository, pull)}">#${pull}${title !== '' && ` ${title}`}</a>`
}

/** Pull requests that merge into one branch at the same time are one batch: catalog-bot pushes them together. */
function renderRunningMerges({ repository, merging }: QueuePageModel, now: number): Html {
  if (merging.length === 0) return htmlTemplate`<p class="faint">No merges are in progress.</p>`
  return htmlTemplate`${[
    ...Map.groupBy(merging, ({ baseRef, how }) => JSON.stringify([baseRef, how])).values(),
  ].map((batch) => {
    const [{ baseRef, how, since } = { baseRef: '', how: '' }] = batch
    return renderCard({
      tone: 'good',
      heading: htmlTemplate`${renderPullState('merging')} into <code>${baseRef}</code>`,
      body: htmlTemplate`<p class="meta">${batch.length > 1 ? `A batch of ${batch.length} pull requests, merged together ${how}` : `Merged ${how}`}${since !== undefined && htmlTemplate`, started ${renderRelativeTime(since, now)}`}</p><ol class="facts">${batch.map(
        ({ pull, title, author }) =>
          htmlTemplate`<li>${renderPullLink(repository, pull, title)}${author !== undefined && htmlTemplate` <span class="faint">by ${author}</span>`}</li>`,
      )}</ol>`,
    })
  })}`
}

function formatQueueUrl(repository: RepositoryName, filter: QueueFilter): string {
  const query = new URLSearchParams(
    Object.entries(filter).map(([name, value]) => [name, String(value)] as [string, string]),
  )
  return `${formatRepositoryPageUrl(repository)}${query.size === 0 ? '' : `?${query.toString()}`}`
}

function renderQueueFilter({ repository, filter, counts, isCut }: QueuePageModel): Html {
  const { after: _, state, ...search } = filter
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) return emptyHtml
  const views = [
    { label: `All ${total}`, to: formatQueueUrl(repository, search), isCurrent: state === undefined },
    ...queueFilterStates.map((one) => ({
      label: `${formatPullState(one)} ${counts[one] ?? 0}`,
      to: formatQueueUrl(repository, { ...search, state: one }),
      isCurrent: state === one,
    })),
  ]
  return htmlTemplate`${renderViewLinks('Pull requests by state', views)}${renderFilterForm(
    formatRepositoryPageUrl(repository),
    [
      { name: 'package', label: 'Package or title', value: filter.package ?? '' },
      { name: 'author', label: 'Author', value: filter.author ?? '' },
    ],
    { ...(state !== undefined && { state }) },
  )}${isCut && htmlTemplate`<p class="faint">Only the oldest pull requests are searched.</p>`}`
}

function renderOpenPulls({ repository, pulls, filter, counts, next }: QueuePageModel, now: number): Html {
  const isFiltered = Object.keys(filter).length > 0 && Object.keys(counts).length > 0
  const table = renderTable(
    {
      label: 'Open pull requests',
      columns: ['Pull request', 'State', 'Who acts next', 'Waiting'],
      empty: isFiltered
        ? 'No open pull requests match.'
        : 'No pull requests are open, or catalog-bot has not checked any of them yet.',
      isStacked: true,
    },
    pulls.map((pull) => [
      htmlTemplate`${renderPullLink(repository, pull.pull, pull.title)}<br /><span class="faint">${pull.author ?? 'a deleted account'} into ${pull.baseRef}${pull.draft && ', draft'}, opened ${renderRelativeTime(pull.openedAt, now)}</span>`,
      renderPullState(pull.state),
      htmlTemplate`${renderNextActor(repository, pull)}<br /><span class="faint">${formatQueuedPullWaitReason(pull)}</span>`,
      renderDurationSince(pull.since, now),
    ]),
  )
  return htmlTemplate`${table}${next !== undefined && htmlTemplate`<p><a rel="next" href="${formatQueueUrl(repository, { ...filter, after: next })}">Next page</a></p>`}`
}

function renderNextActor(repository: RepositoryName, { behind, who, state }: QueuedPullView): Html {
  if (behind !== undefined) return htmlTemplate`catalog-bot, after ${renderPullLink(repository, behind)}`
  const left = who.length - maxDisplayedActors
  const people = `${who.slice(0, maxDisplayedActors).join(', ')}${left > 0 ? ` and ${left} more` : ''}`
  return htmlTemplate`<strong>${who.length > 0 && state !== 'merging' ? people : formatNextActorLabel(state)}</strong>`
}

function renderFreezeHistory(events: QueuePageModel['events'], now: number): Html {
  return htmlTemplate`
<h2>Freeze history</h2>${renderTable(
    { label: 'Freeze history', columns: ['When', 'What', 'Branch', 'By', 'Why'], empty: '' },
    events.map(({ at, step, kind, branch, by, reason }) => [
      renderTime(at, now),
      htmlTemplate`${step === 'stopped' ? 'frozen' : 'unfrozen'}${kind !== 'frozen' && ` (${kind})`}`,
      branch ?? 'all branches',
      by,
      reason === '' ? htmlTemplate`<span class="faint">no reason given</span>` : reason,
    ]),
  )}`
}

/** The first reason. The page of the pull request has all of them in full. */
function formatQueuedPullWaitReason({ reasons, state }: QueuedPullView): string {
  const [first, ...more] = reasons
  if (first === undefined || state === 'merging') return 'all checks passed'
  const text =
    first.text.length > maxReasonLength
      ? `${first.text.slice(0, maxReasonLength).toWellFormed()}…`
      : formatTextAsSentence(first.text)
  return more.length > 0 ? `${text} And ${formatCountWithNoun(more.length, 'more reason')}.` : text
}

function formatNextActorLabel(shown: PullDisplayState): string {
  if (shown === 'blocked') return 'the author'
  return shown === 'wait' ? 'reviewers' : 'catalog-bot'
}

function renderRateLimitNote({ limited }: QueuePageModel, now: number): Html {
  if (limited.length === 0) return emptyHtml
  const formatWork = ({ kind, pulls = 0 }: RateLimitedJobView) =>
    ({
      train: 'merging',
      pull: pulls === 0 ? 'checking pull requests' : `checking ${formatCountWithNoun(pulls, 'pull request')}`,
      sweep: 'the sweep of all open pull requests',
      scan: 'the image scan',
    })[kind]
  return htmlTemplate`<div class="note tone-calm"><p>This installation has reached GitHub's rate limit. catalog-bot does the most important work first.</p><ul class="plain">${limited.map(
    (work) =>
      htmlTemplate`<li>${formatTextAsSentence(`${formatWork(work)} resumes`).slice(0, -1)} ${renderFutureTime(work.until, now)}.</li>`,
  )}</ul></div>`
}

function renderMergeFreezeNote(
  stop: MergeFreezeView,
  { repository }: QueuePageModel,
  now: number,
  resumeToken: string | undefined,
): Html {
  const { branch, kind, since, by, reason, command, tryAgainAt, pull } = stop
  const where = branch === undefined ? 'in this repository' : htmlTemplate`on <code>${branch}</code>`
  const titleByKind = {
    frozen: htmlTemplate`Merging is frozen ${where} by ${by}`,
    audit: htmlTemplate`Merging is frozen ${where} because the branch does not match the merge result that catalog-bot checked`,
    refused: htmlTemplate`GitHub is rejecting merges ${where}`,
  }[kind]
  const button =
    resumeToken === undefined
      ? emptyHtml
      : htmlTemplate`<form method="post" action="${formatRepositoryPageUrl(repository)}/resume"> <input type="hidden" name="word" value="${resumeToken}" /><input type="hidden" name="kind" value="${kind}"/><input type="hidden" name="branch" value="${branch ?? ''}" /><p><button>${kind === 'refused' ? 'Try again now' : 'Unfreeze merging'}</button> <span class="faint">for maintainers only; catalog-bot verifies your role with GitHub</span></p></form>`
  return htmlTemplate`<div class="note tone-bad"><p><strong><span class="bad" aria-hidden="true">■</span> ${titleByKind}</strong> since ${renderTime(since, now)}.${pull !== undefined && htmlTemplate` It started with <a href="${formatPullPageUrl(repository, pull)}">#${pull}</a>.`}</p>${reason !== '' && htmlTemplate`<p>Why: ${formatTextAsSentence(reason)}</p>`}<p>${
    kind === 'refused'
      ? htmlTemplate`catalog-bot retries merging automatically${tryAgainAt !== undefined && htmlTemplate` ${renderTime(tryAgainAt, now)}`} and when the branch settings change.`
      : htmlTemplate`To unfreeze merging, a maintainer can comment <code>${command}</code> on ${branch === undefined ? 'any pull request in this repository' : 'a pull request that targets this branch'}.`
  }</p>${button}</div>`
}

export function renderMergedPullsPage(
  { repository, pulls, before }: MergedPullsPageModel,
  { now }: PageRequestContext,
): StatusPage {
  const named = repository && `${repository.owner}/${repository.name}`
  const address = formatMergedPullsPageUrl(repository)
  return {
    title: named === undefined ? 'Merged pull requests' : `Merged in ${named}`,
    ...(repository && { tabs: { repository, current: 'merged' as const } }),
    crumbs: [{ label: 'merged', to: address }],
    hasJson: true,
    feed: `${address}.atom`,
    body: htmlTemplate`${renderTable(
      {
        label: 'Merged pull requests',
        columns: [
          'Pull request',
          ...(named === undefined ? ['Repository'] : []),
          'Branch',
          'Commit',
          'Merged',
        ],
        empty: 'catalog-bot has not merged any pull requests here yet.',
      },
      pulls.map((one) => [
        htmlTemplate`<a href="${formatPullPageUrl(one.repository, one.pull)}">#${one.pull}</a> ${getPullTitle(one)}${one.author !== undefined && htmlTemplate`<br /><span class="faint">${one.author}</span>`}`,
        ...(named === undefined
          ? [
              htmlTemplate`<a href="${formatRepositoryPageUrl(one.repository)}">${one.repository.owner}/${one.repository.name}</a>`,
            ]
          : []),
        htmlTemplate`<code>${one.baseRef}</code>`,
        htmlTemplate`<code>${shortenSha(one.commit)}</code>`,
        renderTime(one.mergedAt, now),
      ]),
    )}${before !== undefined && htmlTemplate`<p><a href="${address}?before=${before}">Older</a></p>`}`,
  }
}

/** RFC 4287. Ids are stable while `publicUrl` stays the same; without one they are GitHub's addresses. */
export function renderMergedPullsFeed(
  { repository, pulls }: MergedPullsPageModel,
  { publicUrl, webUrl }: { readonly publicUrl: string | undefined; readonly webUrl: string },
  now: number,
): string {
  const page = formatMergedPullsPageUrl(repository)
  const toFeedUrl = (path: string) =>
    publicUrl === undefined ? `${webUrl}${path.replace(/^\/r(?=\/)|\/merged$/g, '')}` : `${publicUrl}${path}`
  const name = repository === undefined ? 'catalog-bot' : `${repository.owner}/${repository.name}`
  return `<?xml version="1.0" encoding="utf-8"?>\n${convertHtmlToString(
    htmlTemplate`<feed xmlns="http://www.w3.org/2005/Atom"><title>Merged: ${name}</title><id>${toFeedUrl(page)}</id><link rel="self" href="${publicUrl ?? ''}${page}.atom" /><link href="${toFeedUrl(page)}" /><updated>${formatIsoTime(pulls[0]?.mergedAt ?? now)}</updated>${pulls.map(
      (one) =>
        htmlTemplate`<entry><title>${one.repository.owner}/${one.repository.name}#${one.pull}: ${getPullTitle(one)}</title><id>${toFeedUrl(formatPullPageUrl(one.repository, one.pull))}</id><link href="${toFeedUrl(formatPullPageUrl(one.repository, one.pull))}" /><updated>${formatIsoTime(one.mergedAt)}</updated><author><name>${one.author ?? 'unknown'}</name></author><summary>Merged into ${one.baseRef} as ${one.commit}.</summary></entry>`,
    )}</feed>`,
  )}\n`
}
