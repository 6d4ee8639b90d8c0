// The install steps that need only the catalog: graph, resolution and upgrades.
import { quote } from '../../../go/text.ts'
import type { InstallStep, Remark } from '../install-report.ts'
import { endsAt, type ChannelResolution } from '../resolutions.ts'
import type { Resolution } from '../resolve/resolve.ts'
import type { UpgradePath } from '../resolve/walk-upgrades.ts'
import { targetsOf } from '../targets.ts'
import { leftOut, step } from './step.ts'

/** Only OLM v0 has Subscriptions and resolves. */
const v0 = ['OLM v0'] as const
const v1 = ['OLM v1'] as const
const all = targetsOf('registry+v1')

/** Upgrade paths with the same end are grouped; larger groups name only the first few. */
const mostNamed = 8

export function graphStep({ channel, head, v1: newest }: ChannelResolution): InstallStep {
  const remarks: Remark[] = []
  if (head === undefined)
    remarks.push({ kind: 'refused', says: `channel ${quote(channel)} has no single head`, targets: v0 })
  const best = newest.bundle?.name
  if (head !== undefined && best !== undefined && best !== head)
    remarks.push({
      kind: 'warning',
      says: `OLM v0 installs the head, ${head}, and OLM v1 the highest version, ${best}`,
      targets: v1,
    })
  return step('graph', 'The channel has one head', head === undefined ? [] : [`the head is ${head}`], remarks)
}

export function resolutionStep({ fresh, v1: newest }: ChannelResolution): InstallStep {
  const remarks: Remark[] = []
  if (fresh.kind !== 'installs') remarks.push(...failureRemarks(fresh, ''))
  if (newest.kind === 'refused')
    remarks.push({ kind: 'refused', says: `OLM v1: ${newest.message}`, targets: v1 })
  const facts =
    fresh.kind === 'installs'
      ? [
          `OLM v0 installs ${fresh.root.name}`,
          ...fresh.companions.map(({ entry }) => `with it comes ${entry.name} (package ${entry.package})`),
        ]
      : []
  return step('resolution', 'It resolves', facts, remarks)
}

/** OLM silently takes an older version if the head's dependencies cannot be met. */
export function headStep({ head, fresh, channel }: ChannelResolution): InstallStep {
  const title = 'The head is what gets installed'
  if (fresh.kind !== 'installs' || head === undefined) return leftOut('head', title, 'nothing is resolved')
  if (fresh.root.name === head) return step('head', title, [], [])
  return step(
    'head',
    title,
    [],
    [
      {
        kind: 'refused',
        says: `OLM v0 installs ${fresh.root.name} from channel ${quote(channel)}, not its head ${head}: what the head requires cannot be met`,
        targets: v0,
      },
    ],
  )
}

export function upgradesStep({
  head,
  upgrades,
  unreachable,
  stuckBefore,
  untried,
  v1Upgrade,
  oldHead,
}: ChannelResolution): InstallStep {
  const arrived = upgrades.filter((path) => endsAt(path, head))
  const hops = Math.max(0, ...arrived.map((path) => path.hops.length))
  const facts = [
    upgrades.length === 0
      ? 'no version could have been installed before'
      : `${arrived.length} of ${upgrades.length} versions reach the head${hops > 1 ? `, in ${hops} steps at most` : ''}`,
    ...(unreachable.length > 0 ? [`left out, for they cannot be installed: ${someOf(unreachable)}`] : []),
  ]
  const stuck = upgrades.filter((path) => !arrived.includes(path))
  const groups = Map.groupBy(stuck, ({ from, end }) => `${stuckBefore.has(from)} ${endKey(end)}`)
  const remarks = [...groups.values()].flatMap((paths) => {
    const found = stuckRemarks(paths, head)
    if (!paths.every(({ from }) => stuckBefore.has(from))) return found
    return found.map((remark) => ({ ...remark, kind: 'warning' as const, says: `${remark.says}, as before` }))
  })
  if (untried > 0)
    remarks.push({
      kind: 'unknown',
      says: `the ${untried} oldest versions were too many to try`,
      targets: v0,
    })
  if (v1Upgrade?.kind === 'refused' && oldHead)
    remarks.push({ kind: 'refused', says: `OLM v1, from ${oldHead.name}: ${v1Upgrade.message}`, targets: v1 })
  const title = 'Every version that could be installed is upgraded to the head'
  const isDone = upgrades.length > 0 || remarks.length > 0
  return isDone ? step('upgrades', title, facts, remarks) : leftOut('upgrades', title, ...facts)
}

function stuckRemarks(paths: readonly UpgradePath[], head: string | undefined): readonly Remark[] {
  const [first] = paths
  if (first === undefined) return []
  const from = someOf(paths.map((path) => path.from))
  const { end } = first
  if (end.kind === 'settled')
    return [
      {
        kind: 'refused',
        says: `from ${from} OLM v0 stays at ${end.at}: nothing leads from there to ${head ?? 'a head'}`,
        targets: v0,
      },
    ]
  if (end.kind === 'circle')
    return [{ kind: 'refused', says: `from ${from} the upgrades go round without an end`, targets: v0 }]
  return failureRemarks(end, `from ${from}: `)
}

function failureRemarks(
  failure: Exclude<Resolution, { readonly kind: 'resolved' }>,
  before: string,
): readonly Remark[] {
  switch (failure.kind) {
    case 'not satisfiable':
      return [
        {
          kind: 'refused',
          says: `${before}OLM v0 cannot resolve it: ${failure.chain.join('; ')}`,
          targets: v0,
        },
      ]
    case 'error':
      return [{ kind: 'refused', says: `${before}OLM v0 resolves nothing: ${failure.message}`, targets: v0 }]
    case 'unknown':
      return [{ kind: 'unknown', says: `${before}${failure.reason}`, targets: all }]
  }
}

function endKey(end: UpgradePath['end']): string {
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

function someOf(names: readonly string[]): string {
  if (names.length <= mostNamed) return names.join(', ')
  return `${names.slice(0, mostNamed - 1).join(', ')} and ${names.length - mostNamed + 1} more`
}
