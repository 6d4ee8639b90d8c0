// The install steps that need only the catalog: graph, resolution and upgrades.
import { quote } from '../../../go/text.ts'
import type { InstallStep, InstallRemark } from '../install-report.ts'
import { isEndingAt, type ChannelResolution } from '../resolutions.ts'
import type { Resolution } from '../resolve/resolve-namespace.ts'
import type { UpgradePath } from '../resolve/simulate-upgrades.ts'
import { listTargetsForFormat } from '../install-targets.ts'
import { createSkippedStep, createStep } from './create-step.ts'

/** Only OLM v0 has Subscriptions and resolves. */
const v0Targets = ['OLM v0'] as const
const v1Targets = ['OLM v1'] as const
const registryV1Targets = listTargetsForFormat('registry+v1')

/** Upgrade paths with the same end are grouped; larger groups name only the first few. */
const maxNamedPaths = 8

export function createGraphStep({ channel, head, v1: newest }: ChannelResolution): InstallStep {
  const remarks: InstallRemark[] = []
  if (head === undefined)
    remarks.push({
      kind: 'refused',
      says: `channel ${quote(channel)} has no single head`,
      targets: v0Targets,
    })
  const best = newest.bundle?.name
  if (head !== undefined && best !== undefined && best !== head)
    remarks.push({
      kind: 'warning',
      says: `OLM v0 installs the head, ${head}, and OLM v1 the highest version, ${best}`,
      targets: v1Targets,
    })
  return createStep(
    'graph',
    'The channel has one head',
    head === undefined ? [] : [`the head is ${head}`],
    remarks,
  )
}

export function createResolutionStep({ fresh, v1: newest }: ChannelResolution): InstallStep {
  const remarks: InstallRemark[] = []
  if (fresh.kind !== 'installs') remarks.push(...createFailureRemarks(fresh, ''))
  if (newest.kind === 'refused')
    remarks.push({ kind: 'refused', says: `OLM v1: ${newest.message}`, targets: v1Targets })
  const facts =
    fresh.kind === 'installs'
      ? [
          `OLM v0 installs ${fresh.root.name}`,
          ...fresh.companions.map(({ entry }) => `with it comes ${entry.name} (package ${entry.package})`),
        ]
      : []
  return createStep('resolution', 'It resolves', facts, remarks)
}

/** OLM silently takes an older version if the head's dependencies cannot be met. */
export function createHeadStep({ head, fresh, channel }: ChannelResolution): InstallStep {
  const title = 'The head is what gets installed'
  if (fresh.kind !== 'installs' || head === undefined)
    return createSkippedStep('head', title, 'nothing is resolved')
  if (fresh.root.name === head) return createStep('head', title, [], [])
  return createStep(
    'head',
    title,
    [],
    [
      {
        kind: 'refused',
        says: `OLM v0 installs ${fresh.root.name} from channel ${quote(channel)}, not its head ${head}: what the head requires cannot be met`,
        targets: v0Targets,
      },
    ],
  )
}

export function createUpgradesStep({
  head,
  upgrades,
  unreachable,
  stuckBefore,
  skippedVersions,
  v1Upgrade,
  oldHead,
}: ChannelResolution): InstallStep {
  const arrived = upgrades.filter((path) => isEndingAt(path, head))
  const hops = Math.max(0, ...arrived.map((path) => path.hops.length))
  const facts = [
    upgrades.length === 0
      ? 'no version could have been installed before'
      : `${arrived.length} of ${upgrades.length} versions reach the head${hops > 1 ? `, in ${hops} steps at most` : ''}`,
    ...(unreachable.length > 0
      ? [`left out, for they cannot be installed: ${formatSomeNames(unreachable)}`]
      : []),
  ]
  const stuck = upgrades.filter((path) => !arrived.includes(path))
  const groups = Map.groupBy(stuck, ({ from, end }) => `${stuckBefore.has(from)} ${toEndKey(end)}`)
  const remarks = [...groups.values()].flatMap((paths) => {
    const found = createStuckRemarks(paths, head)
    if (!paths.every(({ from }) => stuckBefore.has(from))) return found
    return found.map((remark) => ({ ...remark, kind: 'warning' as const, says: `${remark.says}, as before` }))
  })
  if (skippedVersions > 0)
    remarks.push({
      kind: 'unknown',
      says: `the ${skippedVersions} oldest versions were too many to try`,
      targets: v0Targets,
    })
  if (v1Upgrade?.kind === 'refused' && oldHead)
    remarks.push({
      kind: 'refused',
      says: `OLM v1, from ${oldHead.name}: ${v1Upgrade.message}`,
      targets: v1Targets,
    })
  const title = 'Every version that could be installed is upgraded to the head'
  const isDone = upgrades.length > 0 || remarks.length > 0
  return isDone
    ? createStep('upgrades', title, facts, remarks)
    : createSkippedStep('upgrades', title, ...facts)
}

function createStuckRemarks(
  paths: readonly UpgradePath[],
  head: string | undefined,
): readonly InstallRemark[] {
  const [first] = paths
  if (first === undefined) return []
  const from = formatSomeNames(paths.map((path) => path.from))
  const { end } = first
  if (end.kind === 'settled')
    return [
      {
        kind: 'refused',
        says: `from ${from} OLM v0 stays at ${end.at}: nothing leads from there to ${head ?? 'a head'}`,
        targets: v0Targets,
      },
    ]
  if (end.kind === 'circle')
    return [
      { kind: 'refused', says: `from ${from} the upgrades go round without an end`, targets: v0Targets },
    ]
  return createFailureRemarks(end, `from ${from}: `)
}

function createFailureRemarks(
  failure: Exclude<Resolution, { readonly kind: 'resolved' }>,
  before: string,
): readonly InstallRemark[] {
  switch (failure.kind) {
    case 'not satisfiable':
      return [
        {
          kind: 'refused',
          says: `${before}OLM v0 cannot resolve it: ${failure.chain.join('; ')}`,
          targets: v0Targets,
        },
      ]
    case 'error':
      return [
        { kind: 'refused', says: `${before}OLM v0 resolves nothing: ${failure.message}`, targets: v0Targets },
      ]
    case 'unknown':
      return [{ kind: 'unknown', says: `${before}${failure.reason}`, targets: registryV1Targets }]
  }
}

function toEndKey(end: UpgradePath['end']): string {
  switch (end.kind) {
    case 'settled':
      return `settled ${end.at}`
    case 'not satisfiable':
    case 'error':
      return `${end.kind} ${end.message}`
    case 'unknown':
      return `unknown ${end.reason}`
    case 'circle':
      return 'circle'
  }
}

function formatSomeNames(names: readonly string[]): string {
  if (names.length <= maxNamedPaths) return names.join(', ')
  return `${names.slice(0, maxNamedPaths - 1).join(', ')} and ${names.length - maxNamedPaths + 1} more`
}
