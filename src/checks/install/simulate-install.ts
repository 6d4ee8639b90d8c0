// Simulates OLM's install steps for a package. `planInstallSimulation` lists the bundles to open; `evaluateInstall` evaluates
// their contents. Never reports success for something it could not check.
import type { BundleBlob, Catalog } from '@catalog-bot/fbc/facts/catalog'
import { validateCatalog, type CatalogVerdict } from '@catalog-bot/fbc/model/validate-catalog'
import type { BundleFormat } from '@catalog-bot/bundle/bundle-files'
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import {
  type ChannelInstallResult,
  type InstallReport,
  type InstallStep,
  type InstallVerdict,
  type InstallNote,
  findWorstInstallVerdict,
  createRukPakProvisionerChecklist,
  createInstallStep,
  installTargets,
  listInstallTargetsForFormat,
  type InstallTarget,
} from './install-report.ts'
import { createCatalogServerStep, type CatalogServerObservation } from './running-catalog.ts'
import {
  type BundleContentForInstall,
  type InstallSimulationDependencies,
  getRenderedBundleManifests,
} from './install-analysis.ts'
import { CatalogUnderTest, type ChannelInstallResolution } from './resolutions.ts'
import {
  createBundleContentSteps,
  type BundleWithInstallTargets,
  type InstallFindingClassifier,
} from './steps/content-steps.ts'
import {
  createUpgradeGraphStep,
  createChannelHeadInstallStep,
  createResolutionStep,
  createUpgradePathsStep,
} from './steps/resolution-steps.ts'
import type { CatalogChange, PullRequestChange, PackageChange } from '../../pull-request/change.ts'

export interface PackageInstallPlan {
  readonly catalog: CatalogChange
  readonly change: PackageChange
  readonly plan: InstallSimulationPlan
  readonly test: CatalogUnderTest
  readonly otherChannels: readonly string[]
}

interface InstallPlanningResult {
  readonly packages: readonly PackageInstallPlan[]
  readonly skippedCount: number
}

/**
 * Counted once per catalog. An update changes one package in about twelve catalogs. Each takes tens of milliseconds,
 * and the check has one minute.
 */
const maxChangedPackages = 60

const maxChannelsPerPackage = 6

/** Almost all channels of public catalogs have fewer versions. */
const maxVersionsPerChannel = 200

export const getOpmValidationResult = memoizePerObject((catalog: Catalog) =>
  validateCatalog(catalog, { profile: 'opm' }),
)

export const planInstallsOfChangedPackages = memoizePerObject(
  ({ catalogs }: PullRequestChange): InstallPlanningResult => {
    const changedPackages = catalogs.flatMap((catalog) =>
      catalog.packages
        .filter(({ name }) => catalog.result?.packages.some((blob) => blob.name === name))
        .map((change) => ({ catalog, change })),
    )
    const tests = new Map<CatalogChange, CatalogUnderTest>()
    const packages = changedPackages
      .slice(0, maxChangedPackages)
      .flatMap(({ catalog, change }): PackageInstallPlan[] => {
        const { base, result } = catalog
        if (!result) return []
        const options = { maxVersions: maxVersionsPerChannel }
        const test = getOrCreate(tests, catalog, () => new CatalogUnderTest(result, base, options))
        const { tested, others } = selectChannelsToTest(change, test)
        const request = {
          catalog: result,
          base,
          package: change.name,
          channels: tested,
          verdict: getOpmValidationResult(result),
        }
        return [{ catalog, change, plan: planInstallSimulation(request, test), test, otherChannels: others }]
      })
    return { packages, skippedCount: Math.max(0, changedPackages.length - maxChangedPackages) }
  },
)

export interface InstallRequest {
  readonly catalog: Catalog
  /** Upgrades start from its versions. Default: `catalog`. */
  readonly base?: Catalog | undefined
  readonly package: string
  readonly channels: readonly string[]
  /** opm's verdict on the catalog, if known. */
  readonly verdict?: Pick<CatalogVerdict, 'passed' | 'message'>
}

export interface InstallSimulationPlan {
  readonly request: InstallRequest
  readonly channels: readonly {
    readonly resolution: ChannelInstallResolution
    readonly bundles: readonly PlannedBundleInstall[]
  }[]
  /** The reason why opm does not serve the catalog. */
  readonly rejection?: string
  readonly bundlesToOpen: readonly BundleBlob[]
}

export type PlannedBundleInstall = Pick<BundleWithInstallTargets, 'blob' | 'targets'>

export interface InstallEvaluationOptions extends InstallSimulationDependencies {
  /** Targets that must install the bundle. Default: any target that supports its format. */
  readonly wanted: readonly InstallTarget[]
  readonly running?: CatalogServerObservation
  /** Applies the configured severity to a finding. Default: unchanged. */
  readonly classify?: InstallFindingClassifier
}

/** @throws Error if the catalog has no such package or channel. */
export function planInstallSimulation(
  request: InstallRequest,
  underTest?: CatalogUnderTest,
): InstallSimulationPlan {
  const { catalog, base, package: packageName } = request
  const test = underTest ?? new CatalogUnderTest(catalog, base)
  const verdict = request.verdict ?? validateCatalog(catalog, { profile: 'opm' })
  const channels = request.channels.map((channel) => {
    const resolution = test.resolveChannel(packageName, channel)
    return { resolution, bundles: planChannelBundleInstalls(resolution, test, request) }
  })
  const opened = channels.flatMap(({ resolution: { oldHead }, bundles }) => [
    ...bundles.map(({ blob }) => blob),
    ...(oldHead ? [oldHead] : []),
  ])
  return {
    request,
    channels,
    ...(!verdict.passed && { rejection: verdict.message ?? 'opm rejects it' }),
    bundlesToOpen: [...new Set(opened)],
  }
}

/**
 * The bundle that each target installs, and new or changed dependencies. RukPak does not resolve bundles, so it
 * installs the head if OLM v0 does not resolve a bundle.
 */
function planChannelBundleInstalls(
  { fresh, head, v1 }: ChannelInstallResolution,
  test: CatalogUnderTest,
  { catalog, package: packageName }: InstallRequest,
): readonly PlannedBundleInstall[] {
  const resolved = fresh.kind === 'installs'
  const root = resolved
    ? test.bundleOf(fresh.root)
    : catalog.bundles.find((blob) => blob.package === packageName && blob.name === head)
  const newest = v1.kind === 'resolved' ? v1.bundle : undefined
  const others = resolved ? fresh.companions.flatMap(({ entry }) => test.bundleOf(entry) ?? []) : []
  const installs = (target: InstallTarget) =>
    target === 'OLM v0' ? resolved : target !== 'OLM v1' || root === newest
  return [
    ...(root ? [{ blob: root, targets: installTargets.filter(installs) }] : []),
    ...(newest && newest !== root ? [{ blob: newest, targets: ['OLM v1'] as const }] : []),
    ...others
      .filter((blob) => blob.image === '' || blob.image !== test.bundleBefore(blob)?.image)
      .map((blob) => ({ blob, targets: ['OLM v0'] as const })),
  ]
}

export function evaluateInstall(
  plan: InstallSimulationPlan,
  contentOf: (blob: BundleBlob) => BundleContentForInstall,
  options: InstallEvaluationOptions,
): InstallReport {
  const channels = plan.channels.map(({ resolution, bundles }) =>
    evaluateChannelInstall(plan, resolution, bundles, contentOf, options),
  )
  return {
    package: plan.request.package,
    installs: findWorstInstallVerdict(channels.map(({ installs }) => installs)),
    channels,
  }
}

function evaluateChannelInstall(
  plan: InstallSimulationPlan,
  resolution: ChannelInstallResolution,
  bundles: readonly PlannedBundleInstall[],
  contentOf: (blob: BundleBlob) => BundleContentForInstall,
  options: InstallEvaluationOptions,
): ChannelInstallResult {
  const opened = bundles.map((one): BundleWithInstallTargets => ({ ...one, content: contentOf(one.blob) }))
  const { oldHead, fresh } = resolution
  const companions = fresh.kind === 'installs' ? fresh.companions : []
  const before = oldHead && { blob: oldHead, content: contentOf(oldHead) }
  const [root] = opened
  const content = root?.content.kind === 'bundle' ? root.content : undefined
  const known = content?.facts.format
  const steps = [
    createCatalogValidityStep(plan.rejection),
    createUpgradeGraphStep(resolution),
    createResolutionStep(resolution),
    createChannelHeadInstallStep(resolution),
    createUpgradePathsStep(resolution),
    ...createBundleContentSteps(opened, before, known, options),
    createCatalogServerStep(options.running, {
      catalog: plan.request.catalog,
      package: plan.request.package,
      channel: resolution.channel,
      head: resolution.head,
    }),
  ]
  const acceptance = installTargets.map((target) =>
    computeInstallVerdictForTarget(target, known, steps, opened),
  )
  const wanted =
    options.wanted.length > 0 ? options.wanted : listDefaultInstallTargets(known ?? 'registry+v1')
  const installs = findWorstInstallVerdict(
    acceptance
      .filter(({ target }) => wanted.includes(target))
      .map((row): InstallVerdict => (row.installs === 'other format' ? 'no' : row.installs)),
  )
  return {
    channel: resolution.channel,
    installs,
    ...(fresh.kind === 'installs' && { bundle: fresh.root.name }),
    steps,
    comesAlong: companions.map(({ entry: { name, package: its, channel }, because }) => ({
      name,
      package: its,
      channel,
      because,
    })),
    acceptance,
    wanted,
    provisioner: known ? createRukPakProvisionerChecklist(known) : [],
    objects:
      fresh.kind === 'installs' && content?.files ? getRenderedBundleManifests(content.files).objects : [],
  }
}

/** Only RukPak supports formats other than registry+v1. */
function listDefaultInstallTargets(format: BundleFormat): readonly InstallTarget[] {
  return format === 'registry+v1' ? ['OLM v0'] : listInstallTargetsForFormat(format)
}

/** Returns yes only if this target installs the bundle and supports its format, and the bundle was opened. */
function computeInstallVerdictForTarget(
  target: InstallTarget,
  known: BundleFormat | undefined,
  steps: readonly InstallStep[],
  opened: readonly BundleWithInstallTargets[],
): ChannelInstallResult['acceptance'][number] {
  if (known && !listInstallTargetsForFormat(known).includes(target))
    return { target, installs: 'other format', because: [] }
  const remarks = steps.flatMap((step) => step.remarks).filter((remark) => remark.targets.includes(target))
  const because = (kind: InstallNote['kind']) => [
    ...new Set(remarks.filter((remark) => remark.kind === kind).map(({ says }) => says)),
  ]
  const rejections = because('refused')
  if (rejections.length > 0) return { target, installs: 'no', because: rejections }
  const its = opened.filter((bundle) => bundle.targets.includes(target))
  const open = [
    ...because('unknown'),
    ...(its.length === 0 ? [`catalog-bot found no bundle that ${target} would install.`] : []),
    ...its
      .filter(
        ({ content }) =>
          content.kind === 'bundle' && !listInstallTargetsForFormat(content.facts.format).includes(target),
      )
      .map(({ blob }) => `${target} does not support the bundle format of ${blob.name}.`),
  ]
  return open.length > 0
    ? { target, installs: 'unknown', because: open }
    : { target, installs: 'yes', because: [] }
}

function createCatalogValidityStep(rejection: string | undefined): InstallStep {
  const message = `opm does not serve the catalog: ${rejection}`
  const note = { kind: 'refused', says: message, targets: installTargets } as const
  const notes = rejection === undefined ? [] : [note]
  return createInstallStep('catalog', 'opm can serve the catalog', [], notes)
}

function selectChannelsToTest({ name, bundles, channels }: PackageChange, test: CatalogUnderTest) {
  const all = test.channelsOf(name) ?? []
  const added = new Set([...bundles.added, ...bundles.changed].map((bundle) => bundle.name))
  const heads = new Set(
    channels.changed.filter(({ head }) => head.before !== head.after).map((channel) => channel.name),
  )
  const differing = new Set([...channels.added, ...channels.changed.map((channel) => channel.name)])
  const rank = ({ name: its, isDefault, entries }: (typeof all)[number]) => {
    if (isDefault) return 0
    if (heads.has(its) || channels.added.includes(its)) return 1
    return differing.has(its) || entries.some((entry) => added.has(entry.name)) ? 2 : 3
  }
  const ranked = all
    .filter((channel) => rank(channel) < 3)
    .toSorted((a, b) => rank(a) - rank(b))
    .map((channel) => channel.name)
  return { tested: ranked.slice(0, maxChannelsPerPackage), others: ranked.slice(maxChannelsPerPackage) }
}

export function isBundleAddedOrChanged({ change }: PackageInstallPlan, { package: its, name }: BundleBlob) {
  const { added, changed } = change.bundles
  return its === change.name && [...added, ...changed].some((bundle) => bundle.name === name)
}
