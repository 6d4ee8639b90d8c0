// The report of a trial, of bounded size. The renderer must escape it.
import type { Target } from '../targets.ts'
import type { InstallMode } from './trial-plan.ts'
import type { TrialOutcome } from './trial-outcome.ts'
import type { TrialEvent } from './trial-state.ts'
import { conditionsOf, listAt, textAt, timeOf, type KubeObject } from './kube-object.ts'

export interface TrialReport {
  readonly id: string
  readonly target: Target
  readonly package: string
  readonly channel: string
  readonly mode: InstallMode
  /** In install order; the last one is the goal of the change. */
  readonly steps: readonly string[]
  readonly namespace: string
  /** Whether its pods could reach only the cluster's API, allowed ranges and one another. */
  readonly isNetworkClosed?: true
  /** `Kubernetes v1.36.2` and other known facts. */
  readonly cluster: readonly string[]
  readonly outcome: TrialOutcome
  readonly started: number
  readonly ended: number
  readonly events: readonly TrialEvent[]
  /** Statuses, events and ends of logs of failed objects. */
  readonly evidence: readonly Evidence[]
  readonly leftovers: readonly string[]
}

export interface Evidence {
  readonly title: string
  readonly lines: readonly string[]
}

/** Numbers of lines and pods, and characters; logs keep their last lines. */
export const evidenceLimits = { lines: 40, line: 500, logLines: 60, pods: 4, all: 40_000 } as const

export function conditionEvidence(objects: readonly KubeObject[]): readonly Evidence[] {
  return objects.flatMap((object): Evidence[] => {
    const lines = [
      ...statusLines(object),
      ...conditionsOf(object).map(
        ({ type, status, reason, message }) =>
          `${type}=${status} ${reason}${message === '' ? '' : `: ${message}`}`,
      ),
      ...requirementLines(object),
    ]
    return lines.length === 0 ? [] : [{ title: titleOf(object), lines: cut(lines) }]
  })
}

/** The latest warnings. */
export function eventEvidence(events: readonly KubeObject[]): readonly Evidence[] {
  const lines = events
    .filter((event) => textAt(event, 'type') === 'Warning')
    .map((event) => ({
      at: timeOf(textAt(event, 'lastTimestamp')) ?? timeOf(textAt(event, 'eventTime')) ?? 0,
      says: `${textAt(event, 'reason')} ${textAt(event, 'involvedObject', 'kind')}/${textAt(event, 'involvedObject', 'name')}: ${textAt(event, 'message')}`,
    }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ says }) => says)
  const distinct = [...new Set(lines)]
  return distinct.length === 0
    ? []
    : [{ title: 'Warnings of the cluster', lines: cut(distinct.slice(-evidenceLimits.lines)) }]
}

export function logEvidence(title: string, text: string): Evidence {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return { title, lines: cut(lines.slice(-evidenceLimits.logLines), evidenceLimits.logLines) }
}

/** Keeps the first entries, which matter most. */
export function withinLimit(evidence: readonly Evidence[]): readonly Evidence[] {
  let left: number = evidenceLimits.all
  return evidence.flatMap((one) => {
    const size = one.lines.reduce((sum, line) => sum + line.length, one.title.length)
    left -= size
    return left < 0 ? [] : [one]
  })
}

function cut(lines: readonly string[], most: number = evidenceLimits.lines): readonly string[] {
  return lines.slice(0, most).map((line) => {
    const clean = withoutSecrets(line)
    return clean.length <= evidenceLimits.line
      ? clean
      : `${clean.slice(0, evidenceLimits.line).toWellFormed()}…`
  })
}

/** Hides text that looks like a credential. */
function withoutSecrets(text: string): string {
  return text
    .replace(/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, '[token]')
    .replace(
      /\b(authorization|bearer|basic|password|passwd|secret|token|api[-_]?key)(["']?\s*[:=]\s*["']?|\s+)([^\s"',;]{6,})/gi,
      '$1$2[hidden]',
    )
    .replace(
      /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
      '[private key]',
    )
    .replace(/(:\/\/)[^\s/@:]+:[^\s/@]+@/g, '$1[hidden]@')
}

function statusLines(object: KubeObject): readonly string[] {
  const phase = textAt(object.status, 'phase')
  const reason = textAt(object.status, 'reason')
  const message = textAt(object.status, 'message')
  const connection = textAt(object.status, 'connectionState', 'lastObservedState')
  return [
    ...(phase === '' ? [] : [`phase ${phase} ${reason}${message === '' ? '' : `: ${message}`}`]),
    ...(connection === '' ? [] : [`connection ${connection}`]),
  ]
}

function requirementLines({ status }: KubeObject): readonly string[] {
  return listAt(status, 'requirementStatus')
    .filter((one) => textAt(one, 'status') !== 'Present')
    .map(
      (one) =>
        `requires ${textAt(one, 'kind')} ${textAt(one, 'name')}: ${textAt(one, 'status')} ${textAt(one, 'message')}`,
    )
}

const titleOf = ({ kind, metadata: { name } }: KubeObject): string => `${kind} ${name}`
