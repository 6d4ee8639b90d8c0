// The report of an install test, with a limited size. The renderer must escape it.
import type { InstallTarget, InstallVerdict } from '../install-report.ts'
import type { InstallMode } from './cluster-test-plan.ts'
import type { ClusterTestOutcome, ClusterTestEvent } from './cluster-test-state.ts'
import {
  getKubeConditions,
  getListAtPath,
  getStringAtPath,
  parseKubeTimestamp,
  type KubeObject,
} from './kube-object.ts'
import { truncateText } from '@catalog-bot/findings/printable'

export interface ClusterTestReport {
  readonly id: string
  readonly target: InstallTarget
  readonly package: string
  readonly channel: string
  readonly mode: InstallMode
  /** Bundle names in install order. The last one is the target of the change. */
  readonly steps: readonly string[]
  readonly namespace: string
  /** Whether its pods could connect only to the Kubernetes API, allowed ranges, and each other. */
  readonly isNetworkClosed?: true
  /** `Kubernetes v1.36.2` and other known facts. */
  readonly cluster: readonly string[]
  readonly outcome: ClusterTestOutcome
  readonly started: number
  readonly ended: number
  readonly events: readonly ClusterTestEvent[]
  /** Statuses, events, and the last log lines of failed objects. */
  readonly evidence: readonly ClusterTestEvidence[]
  readonly leftovers: readonly string[]
}

export interface ClusterTestEvidence {
  readonly title: string
  readonly lines: readonly string[]
}

/** Limits on lines, pods, and characters. Logs keep their last lines. */
export const clusterTestEvidenceLimits = { lines: 40, line: 500, logLines: 60, pods: 4, all: 40_000 } as const

export function collectConditionEvidence(objects: readonly KubeObject[]): readonly ClusterTestEvidence[] {
  return objects.flatMap((object): ClusterTestEvidence[] => {
    const lines = [
      ...formatKubeStatusLines(object),
      ...getKubeConditions(object).map(
        ({ type, status, reason, message }) =>
          `${type}=${status} ${reason}${message === '' ? '' : `: ${message}`}`,
      ),
      ...formatUnmetRequirementLines(object),
    ]
    return lines.length === 0
      ? []
      : [{ title: formatKubeObjectTitle(object), lines: truncateEvidenceLines(lines) }]
  })
}

/** The latest warnings. */
export function collectEventEvidence(events: readonly KubeObject[]): readonly ClusterTestEvidence[] {
  const lines = events
    .filter((event) => getStringAtPath(event, 'type') === 'Warning')
    .map((event) => ({
      at:
        parseKubeTimestamp(getStringAtPath(event, 'lastTimestamp')) ??
        parseKubeTimestamp(getStringAtPath(event, 'eventTime')) ??
        0,
      says: `${getStringAtPath(event, 'reason')} ${getStringAtPath(event, 'involvedObject', 'kind')}/${getStringAtPath(event, 'involvedObject', 'name')}: ${getStringAtPath(event, 'message')}`,
    }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ says }) => says)
  const distinct = [...new Set(lines)]
  return distinct.length === 0
    ? []
    : [
        {
          title: 'Cluster warnings',
          lines: truncateEvidenceLines(distinct.slice(-clusterTestEvidenceLimits.lines)),
        },
      ]
}

export function createLogEvidence(title: string, text: string): ClusterTestEvidence {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return {
    title,
    lines: truncateEvidenceLines(
      lines.slice(-clusterTestEvidenceLimits.logLines),
      clusterTestEvidenceLimits.logLines,
    ),
  }
}

/** Keeps the first entries, which matter most. */
export function truncateEvidence(evidence: readonly ClusterTestEvidence[]): readonly ClusterTestEvidence[] {
  let left: number = clusterTestEvidenceLimits.all
  return evidence.flatMap((one) => {
    const size = one.lines.reduce((sum, line) => sum + line.length, one.title.length)
    left -= size
    return left < 0 ? [] : [one]
  })
}

function truncateEvidenceLines(lines: readonly string[], maxLines: number = clusterTestEvidenceLimits.lines) {
  return lines
    .slice(0, maxLines)
    .map((line) => truncateText(redactSecrets(line), clusterTestEvidenceLimits.line))
}

/** Hides text that looks like a credential. */
function redactSecrets(text: string): string {
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

function formatKubeStatusLines(object: KubeObject): readonly string[] {
  const phase = getStringAtPath(object.status, 'phase')
  const reason = getStringAtPath(object.status, 'reason')
  const message = getStringAtPath(object.status, 'message')
  const connection = getStringAtPath(object.status, 'connectionState', 'lastObservedState')
  return [
    ...(phase === '' ? [] : [`phase ${phase} ${reason}${message === '' ? '' : `: ${message}`}`]),
    ...(connection === '' ? [] : [`connection ${connection}`]),
  ]
}

function formatUnmetRequirementLines({ status }: KubeObject): readonly string[] {
  return getListAtPath(status, 'requirementStatus')
    .filter((one) => getStringAtPath(one, 'status') !== 'Present')
    .map(
      (one) =>
        `requires ${getStringAtPath(one, 'kind')} ${getStringAtPath(one, 'name')}: ${getStringAtPath(one, 'status')} ${getStringAtPath(one, 'message')}`,
    )
}

const formatKubeObjectTitle = ({ kind, metadata: { name } }: KubeObject): string => `${kind} ${name}`

/** Combines the install tests of a package. The worst verdict wins, and unknown is worse than yes. */
export function combineClusterTestVerdicts(
  reports: readonly Pick<ClusterTestReport, 'outcome'>[],
): InstallVerdict {
  if (reports.some(({ outcome }) => outcome.verdict === 'does not install')) return 'no'
  return reports.length > 0 && reports.every(({ outcome }) => outcome.verdict === 'installs')
    ? 'yes'
    : 'unknown'
}
