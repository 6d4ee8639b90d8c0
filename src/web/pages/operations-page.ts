// `/r/O/R/operations`: what is broken, how fast pull requests are merged, GitHub's limits, and published images.
import type { DailyPullTimes } from '../../ports/status-page-store.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { PublishedImageState } from '../../publish/publication-state.ts'
import { formatOperationsPageUrl } from '../../report/urls.ts'
import { htmlTemplate, type Html } from '../html.ts'
import { renderMarkdownLineAsText } from './markdown.ts'
import {
  formatCountWithNoun,
  formatDuration,
  formatNumber,
  formatTextAsSentence,
  renderCard,
  renderEmptyState,
  renderFold,
  renderFutureTime,
  renderLabel,
  renderPagination,
  renderPath,
  renderRelativeTime,
  renderTable,
  renderTime,
  shortenSha,
} from './page-elements.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'

/** Something that needs attention. Times are milliseconds since the epoch. */
export interface OperationsFailure {
  readonly title: string
  /** Untrusted text. */
  readonly text: string
  readonly since?: number
  /** When catalog-bot tries again. */
  readonly retryAt?: number
  /** The path of a page with details. */
  readonly to?: string
}

export interface RequestQuota {
  /** GitHub's name of the limit, such as `core`. */
  readonly resource: string
  readonly remaining: number
  readonly limit: number
}

export const publishedImageFields = ['digest', 'at', 'commit', 'packages', 'bundles'] as const

export interface PublishedImageView {
  /** With its first tag. */
  readonly image: string
  readonly branch: string
  /** The catalog's directory. */
  readonly root: string
  /** The image to which the tags point. */
  readonly current?: Pick<PublishedImageState, (typeof publishedImageFields)[number]>
  readonly rolledBackBy?: string
  /** Images that the command restores. */
  readonly others: readonly {
    readonly digest: string
    readonly at: number
    readonly command: string
    /** Markdown that describes what this image changed for users. */
    readonly changeLines: readonly string[]
  }[]
}

type DayOfPulls = Omit<DailyPullTimes, 'day'> & {
  /** `2026-11-22`. */
  readonly day: string
}

export interface OperationsPageModel {
  readonly repository: RepositoryName
  readonly failures: readonly OperationsFailure[]
  /** In order, without gaps. */
  readonly days: readonly DayOfPulls[]
  readonly requests: readonly RequestQuota[]
  /** On this page. */
  readonly images: readonly PublishedImageView[]
  readonly page: number
  readonly pages: number
}

export function renderOperationsPage(
  { repository, failures, days, requests, images, page, pages }: OperationsPageModel,
  { now }: PageRequestContext,
): StatusPage {
  const url = formatOperationsPageUrl(repository)
  const name = `${repository.owner}/${repository.name}`
  return {
    title: `Operations of ${name}`,
    tabs: { repository, current: 'operations' },
    crumbs: [{ label: 'operations', to: url }],
    hasJson: true,
    isLive: true,
    body: htmlTemplate`<h2>What is broken</h2>${
      failures.length === 0
        ? renderEmptyState('Nothing is broken.')
        : failures.map((failure) => renderFailure(failure, now))
    }
<h2>Pull requests in the last ${days.length} days</h2>${renderCharts(days)}
<h2>GitHub requests</h2>${renderTable(
      {
        label: 'GitHub requests',
        columns: ['Limit', 'Left'],
        empty: 'GitHub has not reported any rate limits to this instance yet.',
      },
      requests.map(({ resource, remaining, limit }) => [
        resource,
        htmlTemplate`${formatNumber(remaining)} of ${formatNumber(limit)} <meter aria-label="${`${resource} requests left`}" max="${limit}" low="${Math.floor(limit / 10)}" value="${remaining}"></meter>`,
      ]),
    )}
<h2>Published images</h2>${
      images.length === 0
        ? renderEmptyState('catalog-bot does not publish any images from this repository.')
        : images.map((image, at) => renderImage(image, `rollback-${at}`, now))
    }${renderPagination(url, {}, page, pages)}`,
  }
}

function renderFailure({ title, text, since, retryAt, to }: OperationsFailure, now: number): Html {
  return renderCard({
    tone: 'bad',
    heading: to === undefined ? title : htmlTemplate`<a href="${to}">${title}</a>`,
    body: htmlTemplate`<p>${formatTextAsSentence(text)}${retryAt !== undefined && htmlTemplate` catalog-bot retries ${renderFutureTime(retryAt, now)}.`}</p>${since !== undefined && htmlTemplate`<p class="meta">Since ${renderTime(since, now)}</p>`}`,
  })
}

function renderCharts(days: readonly DayOfPulls[]): Html {
  const formatMs = (milliseconds: number | undefined) =>
    milliseconds === undefined ? '–' : formatDuration(milliseconds)
  return htmlTemplate`<div class="charts">${[
    renderChart('Merges per day', days, ({ merges }) => merges, String),
    renderChart(
      'Median time from opening a pull request to merging it',
      days,
      ({ medianMergeMs }) => medianMergeMs,
      formatMs,
    ),
    renderChart(
      'Median time from opening a pull request to the first verdict',
      days,
      ({ medianVerdictMs }) => medianVerdictMs,
      formatMs,
    ),
  ]}</div>${renderFold(
    'days',
    'As a table',
    renderTable(
      {
        label: 'Pull requests by day',
        columns: ['Day', '#Merges', '#Opening to merge', '#First verdicts', '#Opening to first verdict'],
        empty: '',
      },
      days
        .toReversed()
        .map(({ day, merges, medianMergeMs, verdicts, medianVerdictMs }) => [
          day,
          merges,
          formatMs(medianMergeMs),
          verdicts,
          formatMs(medianVerdictMs),
        ]),
    ),
  )}`
}

const [chartWidth, chartHeight, chartTop] = [320, 96, 20]

function renderChart(
  title: string,
  days: readonly DayOfPulls[],
  getValue: (day: DayOfPulls) => number | undefined,
  format: (value: number) => string,
): Html {
  const values = days.map((day) => getValue(day) ?? 0)
  const highest = Math.max(...values)
  const first = days[0]?.day ?? ''
  const last = days.at(-1)?.day ?? ''
  const step = chartWidth / days.length
  const summary = `${title}, ${first} to ${last}: ${highest === 0 ? 'no data' : `at most ${format(highest)}, on ${days[values.indexOf(highest)]?.day ?? ''}`}`
  const renderBar = (value: number, at: number): Html => {
    const height = Math.max(2, Math.round((value / highest) * chartHeight))
    return htmlTemplate`<rect x="${(at * step + 1).toFixed(1)}" y="${chartTop + chartHeight - height}" width="${(step - 2).toFixed(1)}" height="${height}" fill="currentColor"><title>${days[at]?.day ?? ''}: ${format(value)}</title></rect>`
  }
  const bottom = chartTop + chartHeight
  return htmlTemplate`<figure><figcaption>${title}</figcaption><svg class="chart" role="img" aria-label="${summary}" viewBox="0 0 ${chartWidth} ${bottom + 18}" font-size="12" fill="currentColor"><text x="0" y="13">${highest === 0 ? 'no data' : format(highest)}</text><path d="M0 ${chartTop}H${chartWidth}M0 ${bottom}H${chartWidth}" stroke="currentColor" opacity=".25"/><g class="bars">${values.map((value, at) => value > 0 && renderBar(value, at))}</g><text x="0" y="${bottom + 15}">${first.slice(5)}</text><text x="${chartWidth}" y="${bottom + 15}" text-anchor="end">${last.slice(5)}</text></svg></figure>`
}

function renderImage(
  { image, branch, root, current, rolledBackBy, others }: PublishedImageView,
  foldId: string,
  now: number,
): Html {
  return renderCard({
    tone: rolledBackBy === undefined ? 'calm' : 'unsure',
    heading: htmlTemplate`${renderPath(image)}${rolledBackBy !== undefined && htmlTemplate` ${renderLabel('unsure', `rolled back by ${rolledBackBy}`)}`}`,
    body: htmlTemplate`<p class="meta">Catalog <code>${root === '' ? '/' : root}</code> on <code>${branch}</code></p><p>${
      current === undefined
        ? 'No image has been published yet.'
        : htmlTemplate`<code title="${current.digest}">${current.digest.slice(0, 19)}</code> of commit <code>${shortenSha(current.commit)}</code>, published ${renderTime(current.at, now)}${current.bundles !== undefined && htmlTemplate`, with ${formatCountWithNoun(current.packages ?? 0, 'package')} and ${formatCountWithNoun(current.bundles, 'version')}`}`
    }</p>${
      others.length > 0 &&
      renderFold(
        foldId,
        'Roll back',
        htmlTemplate`<p>To restore an image, a maintainer adds one of these commands as a new comment to a pull request for <code>${branch}</code>.</p><ul>${others.map(
          ({ at, command, changeLines }) =>
            htmlTemplate`<li>Published ${renderRelativeTime(at, now)}:<pre tabindex="0"><code>${command}</code></pre>${changeLines.length > 0 && htmlTemplate`<p class="faint">This image changed:</p><ul>${changeLines.map((line) => htmlTemplate`<li>${renderMarkdownLineAsText(line)}</li>`)}</ul>`}</li>`,
        )}</ul>`,
      )
    }`,
  })
}
