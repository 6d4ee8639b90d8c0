// Simulates OLM's install steps for a package. `planInstall` lists the bundles to open; `judgeInstall` evaluates their
// contents. Never reports success for something it could not check.
import type { BundleBlob, Catalog } from '../../catalog/facts/catalog.ts'
import { validateCatalog, type CatalogVerdict } from '../../catalog/model/validate-catalog.ts'
import type { BundleFormat } from '../../bundle/bundle-files.ts'
import type { ChannelInstall, InstallReport, InstallStep, Installs, Remark } from './install-report.ts'
import { worstOf } from './install-report.ts'
import { provisionerChecklist } from './provisioner-checklist.ts'
import { runningStep, type RunningCatalog } from './running-catalog.ts'
import { renderedBundle } from './rendered-bundle.ts'
import { CatalogUnderTest, type ChannelResolution } from './resolutions.ts'
import type { BundleContent, Tools } from './bundle-content.ts'
import { contentSteps, type OpenedBundle, type WeighFinding } from './steps/content-steps.ts'
import { graphStep, headStep, resolutionStep, upgradesStep } from './steps/resolution-steps.ts'
import { step } from './steps/step.ts'
import { targets, targetsOf, type Target } from './targets.ts'

export interface InstallRequest {
  readonly catalog: Catalog
  /** Upgrades start from its versions. Default: `catalog`. */
  readonly base?: Catalog | undefined
  readonly package: string
  readonly channels: readonly string[]
  /** opm's verdict on the catalog, if known. */
  readonly verdict?: Pick<CatalogVerdict, 'passed' | 'message'>
}

export interface InstallPlan {
  readonly request: InstallRequest
  readonly channels: readonly {
    readonly resolution: ChannelResolution
    readonly bundles: readonly PlannedBundle[]
  }[]
  /** Why opm refuses to serve the catalog. */
  readonly refusal?: string
  readonly toOpen: readonly BundleBlob[]
}

export type PlannedBundle = Pick<OpenedBundle, 'blob' | 'targets'>

export interface JudgeOptions extends Tools {
  /** Targets that must install the bundle. Default: any target that takes its format. */
  readonly wanted: readonly Target[]
  readonly running?: RunningCatalog
  /** How the configuration weighs a finding. Default: unchanged. */
  readonly weigh?: WeighFinding
}

/** @throws Error if the catalog has no such package or channel. */
export function planInstall(request: InstallRequest, underTest?: CatalogUnderTest): InstallPlan {
  const { catalog, base, package: packageName } = request
  const test = underTest ?? new CatalogUnderTest(catalog, base)
  const verdict = request.verdict ?? validateCatalog(catalog, { profile: 'opm' })
  const channels = request.channels.map((channel) => {
    const resolution = test.resolveChannel(packageName, channel)
    return { resolution, bundles: bundlesIn(resolution, test, request) }
  })
  const opened = channels.flatMap(({ resolution: { oldHead }, bundles }) => [
    ...bundles.map(({ blob }) => blob),
    ...(oldHead ? [oldHead] : []),
  ])
  return {
    request,
    channels,
    ...(!verdict.passed && { refusal: verdict.message ?? 'opm refuses it' }),
    toOpen: [...new Set(opened)],
  }
}

/**
 * The bundle that each target installs, and new or changed companions. RukPak resolves nothing, so without an OLM v0
 * bundle it installs the head.
 */
function bundlesIn(
  { fresh, head, v1 }: ChannelResolution,
  test: CatalogUnderTest,
  { catalog, package: packageName }: InstallRequest,
): readonly PlannedBundle[] {
  const resolved = fresh.kind === 'installs'
  const root = resolved
    ? test.bundleOf(fresh.root)
    : catalog.bundles.find((blob) => blob.package === packageName && blob.name === head)
  const newest = v1.kind === 'resolved' ? v1.bundle : undefined
  const others = resolved ? fresh.companions.flatMap(({ entry }) => test.bundleOf(entry) ?? []) : []
  const installs = (target: Target) =>
    target === 'OLM v0' ? resolved : target !== 'OLM v1' || root === newest
  return [
    ...(root ? [{ blob: root, targets: targets.filter(installs) }] : []),
    ...(newest && newest !== root ? [{ blob: newest, targets: ['OLM v1'] as const }] : []),
    ...others
      .filter((blob) => !isSame(blob, test.bundleBefore(blob)))
      .map((blob) => ({ blob, targets: ['OLM v0'] as const })),
  ]
}

function isSame(now: BundleBlob, before: BundleBlob | undefined): boolean {
  return now.image !== '' && now.image === before?.image
}

export function judgeInstall(
  plan: InstallPlan,
  contentOf: (blob: BundleBlob) => BundleContent,
  options: JudgeOptions,
): InstallReport {
  const channels = plan.channels.map(({ resolution, bundles }) =>
    judgeChannel(plan, resolution, bundles, contentOf, options),
  )
  return {
    package: plan.request.package,
    installs: worstOf(channels.map(({ installs }) => installs)),
    channels,
  }
}

function judgeChannel(
  plan: InstallPlan,
  resolution: ChannelResolution,
  bundles: readonly PlannedBundle[],
  contentOf: (blob: BundleBlob) => BundleContent,
  options: JudgeOptions,
): ChannelInstall {
  const opened = bundles.map((one): OpenedBundle => ({ ...one, content: contentOf(one.blob) }))
  const { oldHead, fresh } = resolution
  const before = oldHead && { blob: oldHead, content: contentOf(oldHead) }
  const [root] = opened
  const known = formatOf(root?.content)
  const steps = [
    catalogStep(plan.refusal),
    graphStep(resolution),
    resolutionStep(resolution),
    headStep(resolution),
    upgradesStep(resolution),
    ...contentSteps(opened, before, known, options),
    runningStep(options.running, {
      catalog: plan.request.catalog,
      package: plan.request.package,
      channel: resolution.channel,
      head: resolution.head,
    }),
  ]
  const acceptance = targets.map((target) => acceptanceOf(target, known, steps, opened))
  const wanted = options.wanted.length > 0 ? options.wanted : usualTargets(known ?? 'registry+v1')
  const installs = worstOf(
    acceptance
      .filter(({ target }) => wanted.includes(target))
      .map((row): Installs => (row.installs === 'other format' ? 'no' : row.installs)),
  )
  return {
    channel: resolution.channel,
    installs,
    ...(fresh.kind === 'installs' && { bundle: fresh.root.name }),
    steps,
    comesAlong:
      fresh.kind === 'installs'
        ? fresh.companions.map(({ entry: { name, package: its, channel }, because }) => ({
            name,
            package: its,
            channel,
            because,
          }))
        : [],
    acceptance,
    wanted,
    provisioner: known ? provisionerChecklist(known) : [],
    objects: fresh.kind === 'installs' ? objectsOf(root?.content) : [],
  }
}

function formatOf(content: BundleContent | undefined): BundleFormat | undefined {
  return content?.kind === 'bundle' ? content.facts.format : undefined
}

/** Only RukPak takes formats other than registry+v1. */
function usualTargets(format: BundleFormat): readonly Target[] {
  return format === 'registry+v1' ? ['OLM v0'] : targetsOf(format)
}

/** Yes only if this target installs the bundle, takes its format, and the bundle was opened. */
function acceptanceOf(
  target: Target,
  known: BundleFormat | undefined,
  steps: readonly InstallStep[],
  opened: readonly OpenedBundle[],
): ChannelInstall['acceptance'][number] {
  if (known && !targetsOf(known).includes(target)) return { target, installs: 'other format', because: [] }
  const remarks = steps.flatMap((step) => step.remarks).filter((remark) => remark.targets.includes(target))
  const because = (kind: Remark['kind']) => [
    ...new Set(remarks.filter((remark) => remark.kind === kind).map(({ says }) => says)),
  ]
  const refused = because('refused')
  if (refused.length > 0) return { target, installs: 'no', because: refused }
  const its = opened.filter((bundle) => bundle.targets.includes(target))
  const open = [
    ...because('unknown'),
    ...(its.length === 0 ? [`no bundle was found that ${target} would install, so none was opened`] : []),
    ...its
      .filter(({ content }) => content.kind === 'bundle' && !targetsOf(content.facts.format).includes(target))
      .map(({ blob }) => `${blob.name}: its format is none that ${target} takes`),
  ]
  return open.length > 0
    ? { target, installs: 'unknown', because: open }
    : { target, installs: 'yes', because: [] }
}

function objectsOf(content: BundleContent | undefined) {
  return content?.kind === 'bundle' && content.files ? renderedBundle(content.files).objects : []
}

function catalogStep(refusal: string | undefined): InstallStep {
  return step(
    'catalog',
    'The catalog is served',
    [],
    [
      ...(refusal === undefined
        ? []
        : [{ kind: 'refused' as const, says: `opm does not serve the catalog: ${refusal}`, targets }]),
    ],
  )
}
