// The install steps that need only the catalog: graph, resolution, and upgrades.
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import {
  type InstallStep,
  type InstallNote,
  createSkippedInstallStep,
  createInstallStep,
  listInstallTargetsForFormat,
} from '../install-report.ts'
import { doesUpgradePathEndAtChannelHead, type ChannelInstallResolution } from '../resolutions.ts'
import type { NamespaceResolution, ResolutionConflict } from '../resolve/resolve-namespace.ts'
import type { UpgradePath } from '../resolve/simulate-upgrades.ts'
import { formatTruncatedNameList } from '../../validation/upgrade/upgrade-rule.ts'

/** Only OLM v0 has Subscriptions and resolves. */
const olmV0OnlyInstallTargets = ['OLM v0'] as const
const olmV1OnlyInstallTargets = ['OLM v1'] as const
const registryV1InstallTargets = listInstallTargetsForFormat('registry+v1')

const rejectOn =
  (targets: InstallNote['targets']) =>
  (message: string): InstallNote => ({ kind: 'refused', says: message, targets })
const rejectOnOlmV0 = rejectOn(olmV0OnlyInstallTargets)
const rejectOnOlmV1 = rejectOn(olmV1OnlyInstallTargets)

const maxListedUnmetRequirements = 3

export function createUpgradeGraphStep({ channel, head, v1: newest }: ChannelInstallResolution): InstallStep {
  const remarks: InstallNote[] = []
  if (head === undefined)
    remarks.push(rejectOnOlmV0(`Channel ${quoteLikeGo(channel)} doesn't have exactly one head.`))
  const best = newest.bundle?.name
  if (head !== undefined && best !== undefined && best !== head)
    remarks.push({
      kind: 'warning',
      says: `OLM v0 installs the head, ${head}, but OLM v1 installs the highest version, ${best}.`,
      targets: olmV1OnlyInstallTargets,
    })
  return createInstallStep(
    'graph',
    'The channel has one head',
    head === undefined ? [] : [`The head is ${head}.`],
    remarks,
  )
}

export function createResolutionStep(resolution: ChannelInstallResolution): InstallStep {
  const { fresh, v1: newest } = resolution
  const remarks: InstallNote[] = []
  if (fresh.kind !== 'installs') remarks.push(...createResolutionFailureNotes(fresh, resolution))
  if (newest.kind === 'refused') remarks.push(createOlmV1RejectionNote(newest))
  const facts =
    fresh.kind === 'installs'
      ? [
          `OLM v0 installs ${fresh.root.name}.`,
          ...fresh.companions.map(
            ({ entry }) => `OLM v0 also installs its dependency ${entry.name} (package ${entry.package}).`,
          ),
        ]
      : []
  return createInstallStep('resolution', 'Dependencies resolve', facts, remarks)
}

const noBundleResolvesMessage = 'Nothing resolves.'

/** OLM silently installs an older version if the head's dependencies cannot be met. */
export function createChannelHeadInstallStep({
  head,
  fresh,
  channel,
}: ChannelInstallResolution): InstallStep {
  const title = 'New installations get the head'
  if (fresh.kind !== 'installs' || head === undefined)
    return createSkippedInstallStep('head', title, noBundleResolvesMessage)
  const message = `OLM v0 installs ${fresh.root.name} from channel ${quoteLikeGo(channel)}, not its head ${head}, because no catalog provides what the head requires.`
  return createInstallStep('head', title, [], fresh.root.name === head ? [] : [rejectOnOlmV0(message)])
}

export function createUpgradePathsStep(resolution: ChannelInstallResolution): InstallStep {
  const { head, upgrades, unreachable, stuckBefore, skippedVersions, v1Upgrade, oldHead } = resolution
  const arrived = upgrades.filter((path) => doesUpgradePathEndAtChannelHead(path, head))
  const hops = Math.max(0, ...arrived.map((path) => path.hops.length))
  const facts = [
    upgrades.length === 0
      ? 'There is no earlier version that can be installed.'
      : `${arrived.length} of ${upgrades.length} versions can be upgraded to the head${hops > 1 ? ` in at most ${hops} steps` : ''}.`,
    ...(unreachable.length > 0
      ? [
          unreachable.length === 1
            ? `${unreachable[0]} can't be installed, so upgrades from this version were not simulated.`
            : `${unreachable.length} versions can't be installed, so upgrades from these versions were not simulated.`,
        ]
      : []),
  ]
  const stuck = upgrades.filter((path) => !arrived.includes(path))
  const groups = Map.groupBy(stuck, ({ from, end }) => `${stuckBefore.has(from)} ${toUpgradeOutcomeKey(end)}`)
  const remarks = [...groups.values()].flatMap((paths) => {
    const found = createStuckUpgradeNotes(paths, resolution)
    if (!paths.every(({ from }) => stuckBefore.has(from))) return found
    return found.map((remark) => ({
      ...remark,
      kind: 'warning' as const,
      says: `${remark.says} The base branch has the same problem.`,
    }))
  })
  if (skippedVersions > 0)
    remarks.push({
      kind: 'unknown',
      says: `Upgrades from the ${skippedVersions} oldest versions were not simulated.`,
      targets: olmV0OnlyInstallTargets,
    })
  if (v1Upgrade?.kind === 'refused' && oldHead)
    remarks.push(rejectOnOlmV1(`OLM v1 can't upgrade from ${oldHead.name}: ${v1Upgrade.message}`))
  const title = 'Every installable version can be upgraded to the head'
  const isDone = upgrades.length > 0 || remarks.length > 0
  return isDone
    ? createInstallStep('upgrades', title, facts, remarks)
    : createSkippedInstallStep('upgrades', title, ...facts)
}

function createStuckUpgradeNotes(
  paths: readonly UpgradePath[],
  resolution: ChannelInstallResolution,
): readonly InstallNote[] {
  const [first] = paths
  if (first === undefined) return []
  const from = formatTruncatedNameList(paths.map((path) => path.from))
  const { end } = first
  if (end.kind === 'settled')
    return [
      rejectOnOlmV0(
        `Upgrades from ${from} stop at ${end.at}, because no edge leads from ${end.at} to ${resolution.head ?? 'a head'}.`,
      ),
    ]
  if (end.kind === 'circle') return [rejectOnOlmV0(`Upgrades from ${from} form a cycle.`)]
  return createResolutionFailureNotes(end, resolution, from)
}

/** `from`: the installed versions, if an upgrade fails. */
function createResolutionFailureNotes(
  failure: Exclude<NamespaceResolution, { readonly kind: 'resolved' }>,
  resolution: ChannelInstallResolution,
  from?: string,
): readonly InstallNote[] {
  switch (failure.kind) {
    case 'not satisfiable':
      return [
        {
          kind: 'refused',
          says: formatResolutionConflict(failure.cause, resolution, from),
          detail: failure.chain.join('; '),
          ...(failure.cause.kind === 'unmet' && {
            hint: 'To add a catalog that contains the requirement, use --beside DIR.',
          }),
          targets: olmV0OnlyInstallTargets,
        },
      ]
    case 'error': {
      const failed = from === undefined ? 'resolve the channel' : `upgrade from ${from}`
      return [rejectOnOlmV0(`OLM v0 can't ${failed}: ${failure.message}`)]
    }
    case 'unknown': {
      const upgrade = from === undefined ? '' : `Upgrades from ${from} could not be simulated: `
      return [{ kind: 'unknown', says: `${upgrade}${failure.reason}`, targets: registryV1InstallTargets }]
    }
  }
}

function formatResolutionConflict(
  cause: ResolutionConflict,
  { package: packageName, channel }: ChannelInstallResolution,
  from: string | undefined,
): string {
  const failed =
    from === undefined
      ? `No version of ${packageName} in channel ${channel} can be installed from this catalog`
      : `Upgrades of ${packageName} from ${from} in channel ${channel} fail`
  switch (cause.kind) {
    case 'unmet':
      return `${failed}: ${formatUnmetRequirements(cause, packageName)}.`
    case 'exclusive':
      return `${failed}, because the required bundles conflict with each other: ${cause.text}.`
    case 'other':
      return `${failed}, because the requirements conflict with each other.`
  }
}

function formatUnmetRequirements(
  { candidates, unmet }: Extract<ResolutionConflict, { readonly kind: 'unmet' }>,
  packageName: string,
): string {
  const byRequirement = Map.groupBy(unmet, ({ requirement }) => requirement)
  const [only] = byRequirement
  const isDirect = candidates.every((name) => unmet.some(({ bundle }) => bundle === name))
  if (isDirect && only !== undefined && byRequirement.size === 1) {
    const [newest = '', ...older] = candidates.map((name) => stripPackageNamePrefix(name, packageName))
    if (older.length === 0) return `${newest} needs ${only[0]}, which nothing in the catalog provides`
    return `all ${candidates.length} versions (${older.at(-1)} to ${newest}) need ${only[0]}, which nothing in the catalog provides`
  }
  const parts = [...byRequirement].slice(0, maxListedUnmetRequirements).map(([requirement, bundles]) => {
    const [first] = bundles
    const names = stripPackageNamePrefix(first?.bundle ?? '', packageName)
    return bundles.length === 1
      ? `${names} needs ${requirement}`
      : `${names} and ${bundles.length - 1} more need ${requirement}`
  })
  const more = byRequirement.size - parts.length
  return `${parts.join(', ')}${more > 0 ? `, and ${more} more requirements are unmet` : ''}. Nothing in the catalog satisfies ${byRequirement.size === 1 ? 'this requirement' : 'these requirements'}`
}

/** `v1.2.0` of `foo.v1.2.0`. */
function stripPackageNamePrefix(bundle: string, packageName: string): string {
  return bundle.startsWith(`${packageName}.`) ? bundle.slice(packageName.length + 1) : bundle
}

function createOlmV1RejectionNote({
  bundle,
  message,
  dependency,
}: Extract<ChannelInstallResolution['v1'], { readonly kind: 'refused' }>): InstallNote {
  if (bundle === undefined || dependency === undefined)
    return rejectOnOlmV1(`OLM v1 can't find a bundle to install: ${message}`)
  return {
    kind: 'refused',
    says: `OLM v1 doesn't install ${bundle.name}, because OLM v1 doesn't support dependencies (${dependency}).`,
    detail: message,
    targets: olmV1OnlyInstallTargets,
  }
}

function toUpgradeOutcomeKey(end: UpgradePath['end']): string {
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
