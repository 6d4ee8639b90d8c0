import type { VerdictKind } from '../../gate/verdict.ts'
import { isoTime } from '../../findings/iso-time.ts'
import { markup, type Html } from '../html.ts'

/** `2026-11-22 10:00 UTC`. */
export const clockTime = (milliseconds: number): string =>
  `${isoTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`

const steps: readonly (readonly [seconds: number, one: string, more: string])[] = [
  [86_400, 'day', 'days'],
  [3600, 'hour', 'hours'],
  [60, 'minute', 'minutes'],
]

/** `3 hours`, `less than a minute`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000
  for (const [length, one, more] of steps)
    if (seconds >= length) {
      const count = Math.floor(seconds / length)
      return `${count} ${count === 1 ? one : more}`
    }
  return 'less than a minute'
}

function ago(at: number, now: number): string {
  return at > now + 60_000 ? `in ${duration(at - now)}` : `${duration(now - at)} ago`
}

export function time(at: number, now: number): Html {
  return markup`<time datetime="${isoTime(at)}"><span class="when">${ago(at, now)}</span> <span class="clock">${clockTime(at)}</span></time>`
}

/** Times close to now are not shown to the second. */
export const due = (at: number, now: number): Html | string =>
  at > now + 60_000 ? time(at, now) : 'in a moment'

interface StateWords {
  readonly word: string
  /** Shown with the color, for people who cannot distinguish colors. */
  readonly sign: string
  readonly tone: 'good' | 'calm' | 'bad' | 'unsure'
}

const verdicts: Readonly<Record<VerdictKind, StateWords>> = {
  merge: { word: 'ready to merge', sign: '✓', tone: 'good' },
  wait: { word: 'waits for people', sign: '⏳', tone: 'calm' },
  blocked: { word: 'blocked', sign: '✗', tone: 'bad' },
  unknown: { word: 'waits for answers', sign: '?', tone: 'unsure' },
}

const others = {
  merging: { word: 'merging now', sign: '↻', tone: 'good' },
  behind: { word: 'in the queue', sign: '≡', tone: 'good' },
  merged: { word: 'merged', sign: '✓', tone: 'good' },
  closed: { word: 'closed', sign: '–', tone: 'calm' },
  stopped: { word: 'stopped', sign: '■', tone: 'bad' },
} as const satisfies Readonly<Record<string, StateWords>>

export type ShownState = VerdictKind | keyof typeof others

export function state(shown: ShownState): Html {
  const { word, sign, tone } = wordsOf(shown)
  return markup`<span class="state ${tone}"><span aria-hidden="true">${sign}</span> ${word}</span>`
}

export const stateWord = (shown: ShownState): string => wordsOf(shown).word

function wordsOf(shown: ShownState): StateWords {
  return shown in others ? others[shown as keyof typeof others] : verdicts[shown as VerdictKind]
}

/** Shared, because creating one per number takes longer than rendering a page. */
const numbers = new Intl.NumberFormat('en')

export const count = (number: number, one: string, more = `${one}s`): string =>
  `${numbers.format(number)} ${number === 1 ? one : more}`

export function short(commit: string): string {
  return commit.slice(0, 12)
}

export function sentence(clause: string): string {
  const text = clause.trim()
  if (text === '') return ''
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
