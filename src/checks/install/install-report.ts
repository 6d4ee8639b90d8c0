import type { RenderedObject } from '@catalog-bot/bundle/plain/rendering'
import type { BundleFormat } from '@catalog-bot/bundle/bundle-files'
import { truncateText } from '@catalog-bot/findings/printable'

interface RukPakProvisionerRequirement {
  readonly number: number
  readonly asks: string
  /**
   * `holds`: the simulation shows it. `cluster`: only a cluster can show it. `not asked`: not required for this format.
   */
  readonly told: 'holds' | 'cluster' | 'not asked'
  readonly says: string
}

/** RukPak's provisioner classes for the Bundle and the BundleDeployment. */
const provisionerClassesByBundleFormat: Readonly<
  Record<BundleFormat, { readonly bundle: string; readonly deployment: string }>
> = {
  'plain+v0': { bundle: 'core-rukpak-io-plain', deployment: 'core-rukpak-io-plain' },
  'registry+v1': { bundle: 'core-rukpak-io-registry', deployment: 'core-rukpak-io-plain' },
  'helm+v3': { bundle: 'core-rukpak-io-helm', deployment: 'core-rukpak-io-helm' },
}

const rukPakRequirementsNeedingCluster: readonly (readonly [number, string])[] = [
  [2, 'the provisioner acts only on objects of its class'],
  [4, 'the provisioner uses only declared condition types, reasons, and phases'],
  [5, 'the provisioner writes every condition type on each update (Unknown if undetermined)'],
  [6, 'the provisioner sets observedGeneration on the bundle'],
  [7, 'the provisioner sets contentURL and serves the content'],
  [8, 'the provisioner denies content to anonymous callers'],
  [9, 'the provisioner serves content to subjects with the bundle-reader ClusterRole'],
  [10, 'the provisioner sets activeBundle on the deployment'],
  [12, 'the provisioner ensures that a Bundle exists that matches the template'],
  [13, 'the provisioner proceeds only after the Bundle is unpacked'],
  [14, 'the provisioner removes superseded Bundles promptly'],
]

export interface InstallSummary {
  readonly package: string
  readonly channel: string
  /** The roots of the catalogs with this result. */
  readonly catalogs: readonly string[]
  readonly bundle?: string
  readonly installs: InstallVerdict
  readonly comesAlong: readonly string[]
  readonly acceptance: ChannelInstallResult['acceptance']
  readonly steps: readonly InstallStep[]
}

/** Limits for the check run. The command line shows everything. */
const installSummaryLimits = { remarks: 5, facts: 5, because: 3, text: 600 }

export type InstallVerdict = 'yes' | 'no' | 'unknown'

export interface InstallNote {
  /** `refused`: it does not install with these targets. `unknown`: the check is inconclusive. `warning`: it installs. */
  readonly kind: 'refused' | 'unknown' | 'warning'
  readonly says: string
  /** The installer's own message, if `says` summarizes it. */
  readonly detail?: string
  /** The fix on the command line. */
  readonly hint?: string
  readonly targets: readonly InstallTarget[]
  /** A finding already reports this. */
  readonly isShown?: true
}

export type InstallStepOutcome = 'passed' | 'warning' | 'failed' | 'unknown' | 'left out'

export interface InstallStep {
  readonly id:
    | 'catalog'
    | 'graph'
    | 'resolution'
    | 'head'
    | 'upgrades'
    | 'content'
    | 'unpacking'
    | 'validation'
    | 'rendering'
    | 'schemas'
    | 'crds'
    | 'running'
  readonly title: string
  readonly outcome: InstallStepOutcome
  readonly facts: readonly string[]
  readonly remarks: readonly InstallNote[]
}

export interface ChannelInstallResult {
  readonly channel: string
  readonly installs: InstallVerdict
  readonly bundle?: string
  readonly steps: readonly InstallStep[]
  readonly comesAlong: readonly {
    readonly name: string
    readonly package: string
    readonly channel: string
    readonly because: readonly string[]
  }[]
  readonly acceptance: readonly {
    readonly target: InstallTarget
    /** `other format`: the target does not support this kind of bundle. */
    readonly installs: InstallVerdict | 'other format'
    readonly because: readonly string[]
  }[]
  readonly wanted: readonly InstallTarget[]
  readonly provisioner: readonly RukPakProvisionerRequirement[]
  /** Objects that OLM v1's renderer creates for the bundle. */
  readonly objects: readonly RenderedObject[]
}

export interface InstallReport {
  readonly package: string
  readonly installs: InstallVerdict
  readonly channels: readonly ChannelInstallResult[]
}

/** Returns the worst result. A failure outranks unknown. An empty list is unknown. */
export function findWorstInstallVerdict(all: readonly InstallVerdict[]): InstallVerdict {
  return all.includes('no') ? 'no' : all.includes('unknown') || all.length === 0 ? 'unknown' : 'yes'
}

/** The result of a simulated install, shortened for the check run. */
export function summarizeInstall(
  packageName: string,
  catalog: string,
  channel: ChannelInstallResult,
): InstallSummary {
  const { comesAlong, acceptance, steps, bundle, installs } = channel
  return {
    package: packageName,
    channel: channel.channel,
    catalogs: [catalog],
    ...(bundle !== undefined && { bundle }),
    installs,
    comesAlong: comesAlong.map(({ name, package: its }) =>
      truncateInstallSummaryText(`${name} (package ${its})`),
    ),
    acceptance: acceptance.map((row) => ({
      ...row,
      because: truncateInstallSummaryTexts(row.because, installSummaryLimits.because),
    })),
    steps: steps.map((step) => ({
      ...step,
      facts: truncateInstallSummaryTexts(step.facts, installSummaryLimits.facts),
      remarks: selectTopInstallNotes(step.remarks),
    })),
  }
}

/** Merges equal results of several catalogs, in the order of the first. */
export function mergeInstallSummaries(summaries: readonly InstallSummary[]): readonly InstallSummary[] {
  const alike = Map.groupBy(summaries, ({ catalogs: _, ...rest }) => JSON.stringify(rest))
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    return first ? [{ ...first, catalogs: same.flatMap(({ catalogs }) => catalogs) }] : []
  })
}

function selectTopInstallNotes(remarks: readonly InstallNote[]): readonly InstallNote[] {
  const order = { refused: 0, unknown: 1, warning: 2 }
  return remarks
    .toSorted((a, b) => order[a.kind] - order[b.kind])
    .slice(0, installSummaryLimits.remarks)
    .map(({ detail: _, hint: __, ...remark }) => ({
      ...remark,
      says: truncateInstallSummaryText(remark.says),
    }))
}

function truncateInstallSummaryTexts(items: readonly string[], count: number) {
  const more = items.length - count
  const shown = items.slice(0, count).map(truncateInstallSummaryText)
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])]
}

const truncateInstallSummaryText = (text: string): string => truncateText(text, installSummaryLimits.text)

/** RukPak's fourteen requirements. Most describe a controller's behavior, which only a cluster can show. */
export function createRukPakProvisionerChecklist(
  format: BundleFormat,
): readonly RukPakProvisionerRequirement[] {
  const { bundle, deployment } = provisionerClassesByBundleFormat[format]
  const both = bundle === deployment ? bundle : `${bundle} and ${deployment}`
  const simulated: readonly RukPakProvisionerRequirement[] = [
    { number: 1, asks: 'the class name of the provisioner is an RFC 1123 label', told: 'holds', says: both },
    {
      number: 3,
      asks: 'the provisioner may convert a bundle for another provisioner',
      ...(bundle === deployment
        ? { told: 'not asked', says: `${bundle} handles ${format} without conversion` }
        : { told: 'holds', says: `${bundle} converts ${format} to plain+v0, which ${deployment} applies` }),
    },
    {
      number: 11,
      asks: 'the provisioner supports every source type, or reports that it does not',
      told: 'cluster',
      says: 'only the image source was simulated',
    },
  ]
  const others = rukPakRequirementsNeedingCluster.map(([number, asks]): RukPakProvisionerRequirement => ({
    number,
    asks,
    told: 'cluster',
    says: 'only a cluster test can check this requirement',
  }))
  return [...simulated, ...others].sort((a, b) => a.number - b.number)
}

/** Creates a step whose outcome is its worst remark. Omits remarks that apply to no target. */
export function createInstallStep(
  id: InstallStep['id'],
  title: string,
  facts: readonly string[],
  found: readonly InstallNote[],
): InstallStep {
  const remarks = found.filter(({ targets }) => targets.length > 0)
  const kinds = new Set(remarks.map(({ kind }) => kind))
  const outcome = kinds.has('unknown') ? 'unknown' : kinds.has('warning') ? 'warning' : 'passed'
  return { id, title, outcome: kinds.has('refused') ? 'failed' : outcome, facts, remarks }
}

/** A step that was not checked. It never counts as a pass. */
export function createSkippedInstallStep(
  id: InstallStep['id'],
  title: string,
  ...facts: readonly string[]
): InstallStep {
  return { id, title, outcome: 'left out', facts, remarks: [] }
}

export const installTargets = ['OLM v0', 'OLM v1', 'RukPak plain', 'RukPak registry', 'RukPak helm'] as const
export type InstallTarget = (typeof installTargets)[number]

const bundleFormatByInstallTarget: Readonly<Record<InstallTarget, BundleFormat>> = {
  'OLM v0': 'registry+v1',
  'OLM v1': 'registry+v1',
  'RukPak plain': 'plain+v0',
  'RukPak registry': 'registry+v1',
  'RukPak helm': 'helm+v3',
}

/** Returns no targets for an unknown format. */
export function listInstallTargetsForFormat(format: BundleFormat | undefined): readonly InstallTarget[] {
  return installTargets.filter((target) => bundleFormatByInstallTarget[target] === format)
}

/** Parses a name from the configuration or command line, such as `olm-v0`. */
export function parseInstallTargetId(text: string): InstallTarget | undefined {
  return installTargets.find((target) => toInstallTargetId(target) === text)
}

export const installTargetIds: readonly string[] = installTargets.map((target) => toInstallTargetId(target))

function toInstallTargetId(target: InstallTarget): string {
  return target.toLowerCase().replace(' ', '-')
}
