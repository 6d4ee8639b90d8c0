import type { VerdictKind } from '../../policy/verdict.ts'
import { formatIsoTime } from '@catalog-bot/findings/printable'
import { htmlTemplate, type Html } from '../html.ts'

/** `2026-11-22 10:00 UTC`. */
export const formatUtcMinute = (milliseconds: number): string =>
  `${formatIsoTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`

const durationUnits: readonly (readonly [seconds: number, one: string, more: string])[] = [
  [86_400, 'day', 'days'],
  [3600, 'hour', 'hours'],
  [60, 'minute', 'minutes'],
]

/** `3 hours`, `less than a minute`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000
  for (const [length, one, more] of durationUnits)
    if (seconds >= length) {
      const count = Math.floor(seconds / length)
      return `${count} ${count === 1 ? one : more}`
    }
  return 'less than a minute'
}

function formatRelativeTime(at: number, now: number): string {
  return at > now + 60_000 ? `in ${formatDuration(at - now)}` : `${formatDuration(now - at)} ago`
}

export function renderTime(at: number, now: number): Html {
  return htmlTemplate`<time datetime="${formatIsoTime(at)}"><span class="when">${formatRelativeTime(at, now)}</span> <span class="clock">${formatUtcMinute(at)}</span></time>`
}

/** Times close to now are not shown to the second. */
export const renderDueTime = (at: number, now: number): Html | string =>
  at > now + 60_000 ? renderTime(at, now) : 'in a moment'

interface PullStateLabel {
  readonly word: string
  /** Shown with the color, for people who cannot distinguish colors. */
  readonly sign: string
  readonly tone: 'good' | 'calm' | 'bad' | 'unsure'
}

const stateLabelByVerdict: Readonly<Record<VerdictKind, PullStateLabel>> = {
  merge: { word: 'ready to merge', sign: '✓', tone: 'good' },
  wait: { word: 'waiting for review', sign: '⏳', tone: 'calm' },
  blocked: { word: 'blocked', sign: '✗', tone: 'bad' },
  unknown: { word: 'inconclusive', sign: '?', tone: 'unsure' },
}

const nonVerdictStateLabels = {
  merging: { word: 'merging now', sign: '↻', tone: 'good' },
  behind: { word: 'in the queue', sign: '≡', tone: 'good' },
  merged: { word: 'merged', sign: '✓', tone: 'good' },
  closed: { word: 'closed', sign: '–', tone: 'calm' },
  stopped: { word: 'frozen', sign: '■', tone: 'bad' },
} as const satisfies Readonly<Record<string, PullStateLabel>>

export type PullDisplayState = VerdictKind | keyof typeof nonVerdictStateLabels

export function renderPullState(shown: PullDisplayState): Html {
  const { word, sign, tone } = getPullStateLabel(shown)
  return htmlTemplate`<span class="state ${tone}"><span aria-hidden="true">${sign}</span> ${word}</span>`
}

export const formatPullState = (shown: PullDisplayState): string => getPullStateLabel(shown).word

function getPullStateLabel(shown: PullDisplayState): PullStateLabel {
  return shown in nonVerdictStateLabels
    ? nonVerdictStateLabels[shown as keyof typeof nonVerdictStateLabels]
    : stateLabelByVerdict[shown as VerdictKind]
}

/** Shared, because creating one per number takes longer than rendering a page. */
const englishNumberFormat = new Intl.NumberFormat('en')

export const formatCountWithNoun = (number: number, one: string, more = `${one}s`): string =>
  `${englishNumberFormat.format(number)} ${number === 1 ? one : more}`

export function shortenSha(commit: string): string {
  return commit.slice(0, 12)
}

export function capitalizeAsSentence(clause: string): string {
  const text = clause.trim()
  if (text === '') return ''
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
