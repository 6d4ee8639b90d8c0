// `/r/O/R/pull/N`: the history of one pull request. If the pull request was merged, the page first explains why.
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type {
  ApprovalView,
  MergedPullRecord,
  PullRecord,
  VerdictReasonView,
  VerdictChange,
} from '../../ports/status-page-store.ts'
import { htmlTemplate, emptyHtml, renderSourceLine, wrapSvgAsHtml, type Html } from '../html.ts'
import { formatPullPageUrl, formatRepositoryPageUrl, formatRulePageUrl } from '../../report/urls.ts'
import {
  formatCountWithNoun,
  formatDuration,
  formatTextAsSentence,
  renderCard,
  renderEmptyState,
  renderFacts,
  renderFold,
  renderFutureTime,
  renderFullText,
  renderPath,
  renderPullState,
  renderRelativeTime,
  renderTable,
  renderTime,
  shortenSha,
  shortenText,
  type PageTone,
  type PullDisplayState,
} from './page-elements.ts'
import { pullFields } from './queue-page.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'
import { renderMarkdownLineAsText } from './markdown.ts'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import type { UpgradeGraphChangeDrawing } from '../../pull-request/describe-change.ts'
import type { NextStep } from '../../report/next-steps.ts'

/** The page stays below 100 KiB. */
const maxFindingCards = 10
const maxAdvisoryFindings = 40
const maxDiffLines = 40
const maxTimelineReasons = 5
const openTimelineEntries = 5
const maxOpenChangeLines = 6
const maxListItemLength = 300

/** The fields of records that the page shows, also as JSON. */
export const findingFields = ['rule', 'severity', 'what', 'why', 'fix'] as const
export const mergeFields = ['commit', 'baseRef', 'base', 'head', 'begunAt', 'mergedAt'] as const
export const pullPageFields = [...pullFields, 'head', 'endedAt', 'reasons', 'checks', 'approvals'] as const

export interface FindingView extends Pick<Finding, (typeof findingFields)[number]> {
  /** Whether the merge waits for its fix. */
  readonly isBlocking: boolean
  /** `file:line` in the merge result. */
  readonly at?: string
  /** The line on GitHub. */
  readonly url?: string
  /** Lines of the file. `first` and `marked` are line numbers. */
  readonly excerpt?: { readonly first: number; readonly marked: number; readonly lines: readonly string[] }
  /** The suggested change as the body of a unified diff. */
  readonly diff?: readonly string[]
  /** The base branch has the same problem. */
  readonly isOnBase?: true
  readonly overriddenBy?: string
}

export interface MergeExplanation extends Pick<MergedPullRecord, (typeof mergeFields)[number]> {
  /** The verdict of the merge. Absent if it has expired. */
  readonly verdict?: Pick<VerdictChange, 'checks' | 'reasons' | 'config'> & { readonly decidedAt: number }
  readonly approvals: readonly ApprovalView[]
  readonly published?: {
    readonly state: 'published' | 'pending' | 'failed'
    readonly lines: readonly string[]
  }
}

export interface PullPageModel extends Pick<PullRecord, (typeof pullPageFields)[number]> {
  readonly repository: RepositoryName
  readonly pull: number
  readonly url: string
  readonly state: PullDisplayState
  /** The steps before the merge, in order, in Markdown. Absent if it is not open or nothing is recorded. */
  readonly steps?: readonly NextStep[]
  readonly findings: readonly FindingView[]
  /** One line of Markdown for each merge by other accounts since then. */
  readonly meanwhile?: readonly string[]
  /** A line of Markdown: the effect on users. */
  readonly summary?: string
  /** One line of Markdown each. */
  readonly changeLines: readonly string[]
  readonly drawings: readonly UpgradeGraphChangeDrawing[]
  readonly commands: readonly {
    readonly login: string
    readonly command: string
    readonly outcome: string
    readonly head: string
  }[]
  readonly merge?: MergeExplanation
  /** Newest first. */
  readonly history: readonly VerdictChange[]
  readonly waitsUntil?: { readonly at: number; readonly reason: string }
  /** Paused until then because GitHub's rate limit is reached. */
  readonly limitedUntil?: number
}

export function renderPullPage(model: PullPageModel, setting: PageRequestContext): StatusPage {
  const { repository, pull, title, merge } = model
  const { now } = setting
  return {
    title: `#${pull} ${title}`,
    heading: htmlTemplate`${title} <span class="number">#${pull}</span>`,
    tabs: { repository, current: 'queue' },
    crumbs: [{ label: `#${pull}`, to: formatPullPageUrl(repository, pull) }],
    isLive: true,
    hasJson: true,
    body: htmlTemplate`<div class="columns"><div>${renderNextSteps(model, now)}${merge === undefined ? emptyHtml : renderMergeExplanation(merge, model, now)}${renderFindings(model)}${renderCatalogChange(model)}${renderCommandHistory(model)}${renderVerdictHistory(model, now)}</div><aside aria-label="Details">${renderPullFacts(model, now)}</aside></div>`,
  }
}

const toneByState: Readonly<Partial<Record<PullDisplayState, PageTone>>> = {
  blocked: 'bad',
  unknown: 'unsure',
  merge: 'good',
  merging: 'good',
  behind: 'good',
  merged: 'good',
}

/** The state, and who must take which step. */
function renderNextSteps(model: PullPageModel, now: number): Html {
  const {
    state,
    steps = [],
    meanwhile = [],
    since,
    endedAt,
    reasons,
    draft,
    merge,
    limitedUntil,
    waitsUntil,
  } = model
  const [first, ...others] = steps
  const isOpen = merge === undefined && state !== 'closed' && state !== 'merged'
  const shownReasons =
    isOpen && first !== undefined ? reasons.filter(({ code }) => code !== 'findings') : reasons
  return htmlTemplate`<div class="note next tone-${toneByState[state] ?? 'calm'}"><p>${renderPullState(state)}${draft && ', draft'}${merge === undefined && htmlTemplate` <span class="faint">since ${renderRelativeTime(endedAt ?? since, now)}</span>`}</p>${
    isOpen && first !== undefined
      ? htmlTemplate`<h2>${renderMarkdownLineAsText(first.headline.replace(/^[^\p{L}`*]+/u, ''))}</h2><p>${renderStepActor(first, model)} ${renderMarkdownLineAsText(first.what)}</p>${
          others.length > 0 &&
          htmlTemplate`<p>Then:</p><ul class="facts">${others.map((step) => htmlTemplate`<li>${renderStepActor(step, model)} ${renderMarkdownLineAsText(step.what)}</li>`)}</ul>`
        }`
      : merge !== undefined
        ? htmlTemplate`<p>catalog-bot merged this pull request into <code>${merge.baseRef}</code> as <code>${shortenSha(merge.commit)}</code> ${renderTime(merge.mergedAt, now)}.</p>`
        : state === 'closed' &&
          htmlTemplate`<p>The pull request was closed, or it was merged outside catalog-bot. The last result before that is shown below.</p>`
  }${limitedUntil !== undefined && htmlTemplate`<p>This installation has reached GitHub's rate limit. catalog-bot will check this pull request again ${renderFutureTime(limitedUntil, now)}. The latest available result is shown below.</p>`}${
    waitsUntil &&
    htmlTemplate`<p>GitHub rejected the merge: ${formatTextAsSentence(waitsUntil.reason)} catalog-bot will try again ${renderTime(waitsUntil.at, now)}.</p>`
  }${isOpen && meanwhile.map((line) => htmlTemplate`<p>${renderMarkdownLineAsText(line)}</p>`)}${merge === undefined && shownReasons.length > 0 && renderVerdictReasonList(shownReasons)}</div>`
}

/** `you` is the author. */
function renderStepActor({ who }: NextStep, { author }: PullPageModel): Html {
  return htmlTemplate`<strong>${who === 'you' ? (author ?? 'The author') : renderMarkdownLineAsText(who)}:</strong>`
}

function renderVerdictReasonList(reasons: readonly VerdictReasonView[]): Html {
  return htmlTemplate`<ul class="facts">${reasons.map(
    ({ text, who = [] }, at) =>
      htmlTemplate`<li>${shortenText(formatTextAsSentence(text))}${who.length > 0 && htmlTemplate` <span class="faint">${who.join(', ')}</span>`}${renderFullText(`reason-${at}`, text)}</li>`,
  )}</ul>`
}

function renderPullFacts(model: PullPageModel, now: number): Html {
  const { author, baseRef, head, openedAt, lookedAt, url, checks, approvals } = model
  return htmlTemplate`${renderFacts([
    ['Author', author ?? 'a deleted account'],
    ['Branch', htmlTemplate`<code>${baseRef}</code>`],
    ['Head', htmlTemplate`<code>${shortenSha(head)}</code>`],
    ['Opened', renderRelativeTime(openedAt, now)],
    ['Last checked', renderRelativeTime(lookedAt, now)],
    ['On GitHub', htmlTemplate`<a href="${url}">View the pull request</a>`],
  ])}<h2>Checks</h2>${
    checks.length === 0
      ? htmlTemplate`<p class="faint">Not checked.</p>`
      : htmlTemplate`<ul class="plain">${checks.map(renderCheckLine)}</ul>`
  }<h2>Reviews</h2>${
    approvals.length === 0
      ? htmlTemplate`<p class="faint">No reviewer has approved or requested changes.</p>`
      : htmlTemplate`<ul class="plain">${approvals.map(
          ({ login, state, at, commit }) =>
            htmlTemplate`<li><strong>${login}</strong> ${state === 'approved' ? 'approved' : 'requested changes'}${commit !== null && htmlTemplate` at <code>${shortenSha(commit)}</code>`}${renderReviewTimestamp(at, now)}</li>`,
        )}</ul>`
  }`
}

/** A line such as `validation: 1 error`, with a sign and a color. */
function renderCheckLine(line: string): Html {
  const [check = '', result = ''] = line.split(/: (.*)/s)
  const [sign, tone] = result.startsWith('passed')
    ? ['✓', 'good']
    : /^\d+ errors?(?!.*not required)/.test(result)
      ? ['✗', 'bad']
      : ['•', 'calm']
  return htmlTemplate`<li><span class="${tone}" aria-hidden="true">${sign}</span> <strong>${check}</strong> ${result}</li>`
}

function renderMergeExplanation(merge: MergeExplanation, { repository }: PullPageModel, now: number): Html {
  const { base, head, begunAt, mergedAt, verdict, approvals, published } = merge
  const before = (at: number) =>
    at <= mergedAt ? `${formatDuration(mergedAt - at)} before the merge` : 'after the merge'
  return htmlTemplate`
<h2>Why it was merged</h2><ul class="facts">${
    verdict === undefined
      ? htmlTemplate`<li>The verdict is no longer available.</li>`
      : htmlTemplate`<li>All required checks passed: ${verdict.checks.join('; ')}.</li><li>The verdict applies only to head <code>${shortenSha(head)}</code> on base <code>${shortenSha(base)}</code> with ${verdict.config === 'default' ? 'the default configuration' : htmlTemplate`the configuration <code>${shortenSha(verdict.config)}</code>`}.</li><li>catalog-bot reached this verdict ${renderTime(verdict.decidedAt, now)}, ${before(verdict.decidedAt)}. It checked the head, base, approvals, and freezes again immediately before the merge.</li>`
  } ${
    approvals.length === 0
      ? htmlTemplate`<li>No reviews were recorded. The ownership check explains which changes do not need another person's approval.</li>`
      : approvals.map(
          ({ login, state: reported, commit: of, at }) =>
            htmlTemplate`<li>${reported === 'approved' ? htmlTemplate`Approved by <strong>${login}</strong>` : htmlTemplate`<strong>${login}</strong> requested changes`}${of !== null && htmlTemplate` for <code>${shortenSha(of)}</code>`}${renderReviewTimestamp(at, now, before)}.</li>`,
        )
  }<li>Merge verification: the commit on the branch has the parents and the tree that were checked. Otherwise, catalog-bot would not have recorded the merge, and <a href="${formatRepositoryPageUrl(repository)}">merging into the branch would be frozen</a>.</li><li>The merge took ${formatDuration(mergedAt - begunAt)} from decision to completion.</li>${
    published === undefined
      ? htmlTemplate`<li>Images: no publication is recorded. Either catalog-bot does not publish images for this branch, or publishing has not started yet.</li>`
      : htmlTemplate`<li>Images: ${{ published: 'published', pending: 'being published', failed: htmlTemplate`<strong class="bad">could not be published</strong>` }[published.state]}.${
          published.lines.length > 0 &&
          htmlTemplate`<ul>${published.lines.map((line) => htmlTemplate`<li>${renderMarkdownLineAsText(line)}</li>`)}</ul>`
        }</li>`
  }</ul>`
}

function renderReviewTimestamp(at: string, now: number, before?: (at: number) => string): Html {
  const when = Date.parse(at)
  return Number.isFinite(when)
    ? htmlTemplate` ${renderTime(when, now)}${before && `, ${before(when)}`}`
    : emptyHtml
}

/** Errors that block the merge are cards, grouped by what fixes them. The others are folded. */
function renderFindings({ findings, merge }: PullPageModel): Html {
  const blocking = findings.filter(({ isBlocking }) => isBlocking && merge === undefined)
  const advisory = findings.filter((finding) => !blocking.includes(finding))
  const groups = [...Map.groupBy(blocking, ({ rule, fix }) => JSON.stringify([rule, fix])).values()]
  return htmlTemplate`${
    groups.length > 0 &&
    htmlTemplate`<h2>To fix</h2>${groups.slice(0, maxFindingCards).map(renderFindingCard)}${groups.length > maxFindingCards && htmlTemplate`<p>And ${formatCountWithNoun(groups.length - maxFindingCards, 'more error')}. The check runs on GitHub list them.</p>`}`
  }${
    advisory.length > 0 &&
    renderFold(
      'advisory',
      `${formatCountWithNoun(advisory.length, 'finding')} that ${advisory.length === 1 ? 'does' : 'do'} not block the merge`,
      renderTable(
        { label: 'Other findings', columns: ['Finding', 'What to do'], empty: '', isStacked: true },
        advisory
          .slice(0, maxAdvisoryFindings)
          .map((finding, at) => [
            htmlTemplate`${shortenText(finding.what)}${at < maxFindingCards && renderFullText(`advisory-${at}`, finding.what)}<br /><span class="faint">${renderFindingMeta(finding)}</span>`,
            shortenText(finding.fix),
          ]),
      ),
    )
  }`
}

function renderFindingCard(group: readonly FindingView[], at: number): Html {
  const [first, ...others] = group
  if (first === undefined) return emptyHtml
  const { what, why, fix, excerpt, diff, isOnBase } = first
  return renderCard({
    tone: 'bad',
    heading: shortenText(formatTextAsSentence(what)),
    body: htmlTemplate`<p class="meta">${renderFindingMeta(first)}</p>${renderFullText(`what-${at}`, what)}${excerpt && renderExcerpt(excerpt)}<p><strong>Fix:</strong> ${shortenText(fix)}</p>${renderFullText(`fix-${at}`, fix)}${diff && renderDiff(diff)}${isOnBase === true && htmlTemplate`<p>The base branch has the same error, so this pull request did not cause it.</p>`}${
      others.length > 0 &&
      renderFold(
        `also-${at}`,
        `${formatCountWithNoun(others.length, 'more error')} with the same fix`,
        htmlTemplate`<ul class="facts">${others.slice(0, maxAdvisoryFindings).map((other) => htmlTemplate`<li>${other.what !== what && truncateText(other.what)} <span class="faint">${renderFindingMeta(other)}</span></li>`)}</ul>`,
      )
    }${why !== '' && renderFold(`why-${at}`, 'Why it matters', htmlTemplate`<p>${why}</p>`)}`,
  })
}

/** The position, the rule, and the severity unless it blocks. */
function renderFindingMeta({ rule, at, url, severity, isBlocking, overriddenBy }: FindingView): Html {
  const location = at === undefined ? 'the entire change' : renderPath(at)
  return htmlTemplate`${url === undefined ? location : htmlTemplate`<a href="${url}">${location}</a>`} · <a href="${formatRulePageUrl(rule)}">${rule}</a>${!isBlocking && htmlTemplate` · ${severity}`}${overriddenBy !== undefined && ` · overridden by ${overriddenBy}`}`
}

function renderExcerpt({ first, marked, lines }: NonNullable<FindingView['excerpt']>): Html {
  return htmlTemplate`<pre class="diff" tabindex="0" aria-label="Source lines"><code>${lines.map(
    (line, at) =>
      htmlTemplate`<span${first + at === marked && htmlTemplate` class="mark"`}><span class="n">${first + at}</span>${renderSourceLine(line)}</span>`,
  )}</code></pre>`
}

function renderDiff(lines: readonly string[]): Html {
  return htmlTemplate`<pre class="diff" tabindex="0" aria-label="Suggested change"><code>${lines
    .slice(0, maxDiffLines)
    .map(
      (line) =>
        htmlTemplate`<span${line.startsWith('+') ? htmlTemplate` class="add"` : line.startsWith('-') && htmlTemplate` class="del"`}>${renderSourceLine(line)}</span>`,
    )}</code></pre>`
}

function renderCatalogChange({ summary, changeLines, drawings }: PullPageModel): Html {
  if (changeLines.length === 0 && summary === undefined) return emptyHtml
  const list = htmlTemplate`<ul class="facts">${changeLines.map((line) => htmlTemplate`<li${line.startsWith(' ') && htmlTemplate` class="sub"`}>${renderMarkdownLineAsText(line)}</li>`)}</ul>`
  return htmlTemplate`<h2>What changes for users</h2>${summary !== undefined && htmlTemplate`<p>${renderMarkdownLineAsText(summary)}</p>`}${
    changeLines.length > maxOpenChangeLines ? renderFold('changes', 'All changes', list) : list
  }${drawings.map(
    ({ catalogs, drawing }) =>
      htmlTemplate`<figure><div class="scroll graph" tabindex="0" role="region" aria-label="Changed upgrade graph of ${drawing.package}">${wrapSvgAsHtml(drawSvg(drawing))}</div><figcaption class="faint">The changed upgrade graph of ${drawing.package} in ${catalogs.slice(0, maxOpenChangeLines).join(', ')}</figcaption></figure>`,
  )}`
}

function truncateText(text: string): string {
  return text.length > maxListItemLength ? `${text.slice(0, maxListItemLength).toWellFormed()}…` : text
}

function renderCommandHistory({ commands }: PullPageModel): Html {
  if (commands.length === 0) return emptyHtml
  return htmlTemplate`
<h2>Commands</h2>${renderTable(
    { label: 'Commands', columns: ['Command', 'By', 'Result', 'Head'], empty: '' },
    commands.map(({ login, command, outcome, head }) => [
      htmlTemplate`<code>/${command}</code>`,
      login,
      outcome,
      htmlTemplate`<code>${shortenSha(head)}</code>`,
    ]),
  )}`
}

function renderVerdictHistory({ history }: PullPageModel, now: number): Html {
  const entries = history.map(
    ({ at, verdict, reasons, checks, head, base, baseRef }, index) =>
      htmlTemplate`<li>${renderPullState(verdict)} <span class="faint">${renderTime(at, now)}${head !== history[index + 1]?.head && htmlTemplate` · head <code>${shortenSha(head)}</code> on <code>${baseRef}</code> <code>${shortenSha(base)}</code>`}</span>${
        reasons.length > 0 &&
        htmlTemplate`<ul class="plain">${reasons.slice(0, maxTimelineReasons).map(({ text }) => htmlTemplate`<li>${truncateText(formatTextAsSentence(text))}</li>`)}</ul>`
      }<div class="faint">${checks.join(' · ')}</div></li>`,
  )
  const renderTimeline = (its: readonly Html[]) => htmlTemplate`<ol class="timeline">${its}</ol>`
  return htmlTemplate`
<h2>Timeline</h2>${
    entries.length === 0
      ? renderEmptyState('No verdicts are recorded.')
      : renderTimeline(entries.slice(0, openTimelineEntries))
  }${entries.length > openTimelineEntries && renderFold('timeline', `${formatCountWithNoun(entries.length - openTimelineEntries, 'earlier entry', 'earlier entries')}`, renderTimeline(entries.slice(openTimelineEntries)))}`
}
