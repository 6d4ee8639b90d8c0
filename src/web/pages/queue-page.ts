// `/r/O/R` and `/r/O/R/merged`: open pull requests with their status, running merges, active stops, and what was
// merged.
import { formatIsoTime } from '@catalog-bot/findings/printable'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { FreezeKind } from '../../policy/merge-freeze.ts'
import type { VerdictReasonView } from '../../ports/page-records.ts'
import { htmlTemplate, emptyHtml, type Html, convertHtmlToString } from '../html.ts'
import {
  formatCatalogsPageUrl,
  formatMergedPullsPageUrl,
  formatOverviewPageUrl,
  formatPullPageUrl,
  formatRepositoryPageUrl,
} from '../../report/urls.ts'
import {
  renderTable,
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

const getPullTitle = ({ title, pull }: { readonly title: string; readonly pull: number }): string =>
  title === '' ? `Pull request ${pull}` : title

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
  /** Listed pull requests that wait; more may exist that the bot has not seen yet. */
  readonly pulls?: number
  readonly until: number
}

export interface QueuePageModel {
  readonly repository: RepositoryName
  readonly isPublic: boolean
  readonly url: string
  readonly pulls: readonly QueuedPullView[]
  /** Work that waits for GitHub's rate limit. */
  readonly limited: readonly RateLimitedJobView[]
  readonly isCut: boolean
  readonly merging: readonly {
    readonly pull: number
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
  const { repository, pulls, merging, stops, events, isCut } = model
  const { now } = setting
  const named = `${repository.owner}/${repository.name}`
  const counts = Object.entries(Object.groupBy(pulls, (pull) => pull.state))
    .map(([shown, its]) => `${its.length} ${formatPullState(shown as PullDisplayState)}`)
    .join(', ')
  return {
    title: `Queue of ${named}`,
    tabs: { repository, current: 'queue' },
    crumbs: [{ label: named, to: formatRepositoryPageUrl(repository) }],
    hasJson: true,
    body: htmlTemplate`<ul class="links"><li><a href="${formatCatalogsPageUrl(repository)}">Catalogs</a></li><li><a href="${formatOverviewPageUrl(repository)}">Overview</a></li><li><a href="${formatMergedPullsPageUrl(repository)}">Merged</a></li><li><a href="${model.url}">On GitHub</a></li></ul>${renderRateLimitNote(model, now)}${stops.map((stop) => renderMergeFreezeNote(stop, model, now, resumeToken))}
<h2>Merging now</h2>${
      merging.length === 0
        ? htmlTemplate`<p class="faint">No merges are in progress.</p>`
        : htmlTemplate`<ul class="plain">${merging.map(
            ({ pull, baseRef, since, how }) =>
              htmlTemplate`<li>${renderPullState('merging')} ${renderPullLink(repository, pull)} into <code>${baseRef}</code>, ${how}${since !== undefined && htmlTemplate`, started ${renderTime(since, now)}`}</li>`,
          )}</ul>`
    }
<h2>Open pull requests</h2><p>${pulls.length === 0 ? emptyHtml : htmlTemplate`${formatCountWithNoun(pulls.length, 'pull request')}: ${counts}.`}${isCut && ' Only the oldest pull requests are shown.'}</p>${renderOpenPulls(model, now)} ${
      events.length === 0 ? emptyHtml : renderFreezeHistory(events, now)
    }`,
  }
}

function renderPullLink(repository: QueuePageModel['repository'], pull: number): Html {
  return htmlTemplate`<a href="${formatPullPageUrl(repository, pull)}">#${pull}</a>`
}

function renderOpenPulls({ repository, pulls }: QueuePageModel, now: number): Html {
  return renderTable(
    {
      label: 'Open pull requests',
      columns: ['Pull request', 'State', 'Since', 'Why', 'Next', 'Opened'],
      empty: 'No pull requests are open, or catalog-bot has not checked any of them yet.',
    },
    pulls.map((pull) => [
      htmlTemplate`${renderPullLink(repository, pull.pull)} ${pull.title}<br /><span class="faint">${pull.author ?? 'a deleted account'} into ${pull.baseRef}${pull.draft && ', draft'}</span>`,
      renderPullState(pull.state),
      renderTime(pull.since, now),
      renderQueuedPullWaitReasons(pull),
      pull.behind !== undefined
        ? htmlTemplate`after ${renderPullLink(repository, pull.behind)}`
        : pull.who.length > 0
          ? htmlTemplate`${pull.who.join(', ')}`
          : htmlTemplate`<span class="faint">${formatNextActorLabel(pull.state)}</span>`,
      renderTime(pull.openedAt, now),
    ]),
  )
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

function renderQueuedPullWaitReasons({ reasons }: QueuedPullView): Html {
  const [first, ...more] = reasons
  if (first === undefined) return htmlTemplate`<span class="faint">all checks passed</span>`
  return htmlTemplate`${formatTextAsSentence(first.text)}${more.length > 0 && htmlTemplate` <span class="faint">and ${formatCountWithNoun(more.length, 'more reason')}</span>`}`
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
      ? htmlTemplate`catalog-bot retries automatically${tryAgainAt !== undefined && htmlTemplate` ${renderTime(tryAgainAt, now)}`} and when the branch settings change.`
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
    crumbs: [
      ...(repository === undefined || named === undefined
        ? []
        : [{ label: named, to: formatRepositoryPageUrl(repository) }]),
      { label: 'merged', to: address },
    ],
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
