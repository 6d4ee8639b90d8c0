// `/r/O/R/pull/N`: the history of one pull request. For a merged one, first explains why it was merged.
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { Severity } from '@catalog-bot/findings/finding'
import type { ApprovalView, VerdictReasonView, VerdictChange } from '../../ports/page-records.ts'
import { htmlTemplate, emptyHtml, type Html } from '../html.ts'
import { formatPullPageUrl, formatRepositoryPageUrl, formatRulePageUrl } from '../../report/urls.ts'
import {
  renderTable,
  formatCountWithNoun,
  renderFutureTime,
  formatDuration,
  formatTextAsSentence,
  shortenSha,
  renderPullState,
  renderTime,
  type PullDisplayState,
} from './page-elements.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'
import { renderMarkdownLineAsText } from './markdown.ts'

export interface FindingView {
  readonly rule: string
  readonly severity: Severity
  readonly what: string
  readonly fix: string
  readonly at?: string
  readonly overriddenBy?: string
}

export interface MergeExplanation {
  readonly commit: string
  readonly baseRef: string
  readonly base: string
  readonly head: string
  readonly begunAt: number
  readonly mergedAt: number
  /** The verdict of the merge. Absent if it has expired. */
  readonly verdict?: Pick<VerdictChange, 'checks' | 'reasons' | 'config'> & {
    readonly decidedAt: number
  }
  readonly approvals: readonly ApprovalView[]
  readonly published?: {
    readonly state: 'published' | 'pending' | 'failed'
    readonly lines: readonly string[]
  }
}

export interface PullPageModel {
  readonly repository: RepositoryName
  readonly pull: number
  readonly url: string
  readonly title: string
  readonly author?: string
  readonly state: PullDisplayState
  readonly draft: boolean
  readonly baseRef: string
  readonly head: string
  readonly since: number
  readonly openedAt: number
  readonly lookedAt: number
  readonly endedAt?: number
  readonly reasons: readonly VerdictReasonView[]
  readonly checks: readonly string[]
  readonly approvals: readonly ApprovalView[]
  readonly findings: readonly FindingView[]
  /** One line of Markdown each. */
  readonly changeLines: readonly string[]
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
  const named = `${repository.owner}/${repository.name}`
  return {
    title: `#${pull} ${title}`,
    tabs: { repository, current: 'queue' },
    crumbs: [
      { label: named, to: formatRepositoryPageUrl(repository) },
      { label: `#${pull}`, to: formatPullPageUrl(repository, pull) },
    ],
    hasJson: true,
    body: htmlTemplate`${renderPullSummary(model, setting.now)} ${merge === undefined ? renderMergeBlockersSection(model, setting.now) : renderMergeExplanation(merge, model, setting.now)} ${renderFindings(model)} ${
      model.changeLines.length === 0
        ? emptyHtml
        : htmlTemplate`
<h2>Changes</h2><ul class="facts">${model.changeLines.map((line) => htmlTemplate`<li>${renderMarkdownLineAsText(line)}</li>`)}</ul>`
    } ${renderCommandHistory(model)} ${renderVerdictHistory(model, setting.now)}`,
  }
}

function renderPullSummary(model: PullPageModel, now: number): Html {
  const { author, baseRef, head, openedAt, lookedAt, endedAt, since, url, draft } = model
  return htmlTemplate`
<dl>
<dt>State</dt><dd>${renderPullState(model.state)}${draft && ', draft'} since ${renderTime(endedAt ?? since, now)}</dd>
<dt>Author</dt><dd>${author ?? 'a deleted account'}</dd>
<dt>Branch</dt><dd><code>${baseRef}</code></dd>
<dt>Head</dt><dd><code>${shortenSha(head)}</code></dd>
<dt>Opened</dt><dd>${renderTime(openedAt, now)}</dd>
<dt>Last checked</dt><dd>${renderTime(lookedAt, now)}</dd>
<dt>On GitHub</dt><dd><a href="${url}">View the pull request</a></dd></dl>`
}

function renderMergeExplanation(merge: MergeExplanation, { repository }: PullPageModel, now: number): Html {
  const { commit, baseRef, base, head, begunAt, mergedAt, verdict, approvals, published } = merge
  const before = (at: number) =>
    at <= mergedAt ? `${formatDuration(mergedAt - at)} before the merge` : 'after the merge'
  return htmlTemplate`
<h2>Why it was merged</h2><div class="note tone-good"><p>catalog-bot merged this pull request into <code>${baseRef}</code> as <code>${shortenSha(commit)}</code> ${renderTime(mergedAt, now)}.</p></div><ul class="facts">${
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

function renderReviewTimestamp(at: string, now: number, before: (at: number) => string): Html {
  const when = Date.parse(at)
  return Number.isFinite(when) ? htmlTemplate` ${renderTime(when, now)}, ${before(when)}` : emptyHtml
}

function renderMergeBlockersSection(model: PullPageModel, now: number): Html {
  const { reasons, checks, approvals, waitsUntil, limitedUntil } = model
  if (model.state === 'closed')
    return htmlTemplate`
<h2>Why it was not merged</h2><p>The pull request was closed, or it was merged outside catalog-bot. The last result before that is shown below.</p>${renderVerdictReasonList(reasons)}`
  return htmlTemplate`
<h2>${model.state === 'merge' || model.state === 'merging' || model.state === 'behind' ? 'Why it will be merged' : 'Why it has not been merged yet'}</h2>${limitedUntil !== undefined && htmlTemplate`<div class="note tone-calm"><p>This installation has reached GitHub's rate limit. catalog-bot will check this pull request again ${renderFutureTime(limitedUntil, now)}. The latest available result is shown below.</p></div>`}${renderVerdictReasonList(reasons)} ${waitsUntil && htmlTemplate`<div class="note tone-bad"><p>GitHub rejected the merge: ${formatTextAsSentence(waitsUntil.reason)} catalog-bot will try again ${renderTime(waitsUntil.at, now)}.</p></div>`}<h3>Checks</h3>${
    checks.length === 0
      ? htmlTemplate`<p class="faint">Not checked.</p>`
      : htmlTemplate`<ul class="facts">${checks.map((line) => htmlTemplate`<li>${line}</li>`)}</ul>`
  }<h3>Reviews</h3>${
    approvals.length === 0
      ? htmlTemplate`<p class="faint">No reviewer has approved or requested changes.</p>`
      : htmlTemplate`<ul class="facts">${approvals.map(
          ({ login, state: reported, commit, at }) =>
            htmlTemplate`<li><strong>${login}</strong> ${reported === 'approved' ? 'approved' : 'requested changes'}${commit !== null && htmlTemplate` at <code>${shortenSha(commit)}</code>`}${renderReviewTimestamp(at, now, () => '')}</li>`,
        )}</ul>`
  }`
}

function renderVerdictReasonList(reasons: readonly VerdictReasonView[]): Html {
  if (reasons.length === 0) return htmlTemplate`<p class="faint">No reason is recorded.</p>`
  return htmlTemplate`<ul class="facts">${reasons.map(
    ({ text, who }) =>
      htmlTemplate`<li>${formatTextAsSentence(text)}${who !== undefined && who.length > 0 && htmlTemplate` <span class="faint">${who.join(', ')}</span>`}</li>`,
  )}</ul>`
}

function renderFindings({ findings }: PullPageModel): Html {
  if (findings.length === 0) return emptyHtml
  return htmlTemplate`
<h2>Findings</h2>${renderTable(
    { label: 'Findings', columns: ['Rule', 'What', 'Where', 'What to do'], empty: '' },
    findings.map(({ rule, severity, what, fix, at, overriddenBy }) => [
      htmlTemplate`<a href="${formatRulePageUrl(rule)}">${rule}</a><br /><span class="${severity === 'error' ? 'bad' : 'unsure'}">${severity}</span>${overriddenBy !== undefined && htmlTemplate`<br /><span class="faint">overridden by ${overriddenBy}</span>`}`,
      what,
      at === undefined
        ? htmlTemplate`<span class="faint">the whole change</span>`
        : htmlTemplate`<code>${at}</code>`,
      fix,
    ]),
  )}`
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
  return htmlTemplate`
<h2>Verdict history</h2><p class="faint">Every change to the verdict, its reasons, or the commit, newest first (${formatCountWithNoun(history.length, 'entry', 'entries')}).</p>${renderTable(
    {
      label: 'Verdict history',
      columns: ['When', 'Verdict', 'Why', 'Checks', 'Head and base'],
      empty: 'No verdicts are recorded.',
    },
    history.map(({ at, verdict, reasons, checks, head, base, baseRef }) => [
      renderTime(at, now),
      renderPullState(verdict),
      htmlTemplate`<ul class="plain">${reasons.map(({ text }) => htmlTemplate`<li>${formatTextAsSentence(text)}</li>`)}</ul>`,
      htmlTemplate`<ul class="plain">${checks.map((line) => htmlTemplate`<li>${line}</li>`)}</ul>`,
      htmlTemplate`<code>${shortenSha(head)}</code> on <code>${baseRef}</code> <code>${shortenSha(base)}</code>`,
    ]),
  )}`
}
