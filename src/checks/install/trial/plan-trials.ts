// Plans the trials of a channel: a fresh install and an upgrade. Skips what the simulation could not resolve, because
// it already reports why.
import type { BundleBlob } from '../../../catalog/facts/catalog.ts'
import { bundleVersion } from '../../../change/package-blobs.ts'
import type { BundleContent } from '../bundle-content.ts'
import type { CatalogUnderTest, ChannelResolution } from '../resolutions.ts'
import type { Target } from '../targets.ts'
import { modeOf, type InstallMode, type TrialPlan, type TrialStep } from './trial-plan.ts'

/** The cluster's adapters, the clock and the random id complete the plan. */
export type PlannedTrial = Pick<TrialPlan, 'target' | 'package' | 'channel' | 'mode' | 'steps' | 'crds'> & {
  readonly isUpgrade: boolean
}

export interface NotTried {
  readonly target: Target
  readonly channel: string
  readonly why: string
}

export interface TrialRequest {
  readonly package: string
  readonly resolution: ChannelResolution
  readonly targets: readonly Target[]
  readonly test: CatalogUnderTest
  /** Undefined for a bundle that was not opened. */
  readonly contentOf: (blob: BundleBlob) => BundleContent | undefined
  readonly blobNamed: (name: string) => BundleBlob | undefined
}

export interface PlannedTrials {
  readonly trials: readonly PlannedTrial[]
  readonly notTried: readonly NotTried[]
}

export function planTrials(request: TrialRequest): PlannedTrials {
  const trials: PlannedTrial[] = []
  const notTried: NotTried[] = []
  for (const target of request.targets) {
    const planned = target === 'OLM v0' ? withOlmV0(request) : withOneBundle(request, target)
    if (typeof planned === 'string')
      notTried.push({ target, channel: request.resolution.channel, why: planned })
    else trials.push(...planned)
  }
  return { trials, notTried }
}

function withOlmV0(request: TrialRequest): readonly PlannedTrial[] | string {
  const { resolution, test, package: packageName } = request
  const { fresh, channel } = resolution
  if (fresh.kind !== 'installs') return 'nothing is resolved'
  const root = test.bundleOf(fresh.root)
  const names = [fresh.root.name, ...fresh.companions.map(({ entry }) => entry.name)]
  const mode = modeFor(root, request)
  if (mode === undefined) return `${fresh.root.name} supports no install mode`
  const common = { target: 'OLM v0', package: packageName, channel, mode } as const
  const freshStep: TrialStep = { root: fresh.root.name, version: root ? bundleVersion(root) : '', names }
  const trials: PlannedTrial[] = [
    { ...common, steps: [freshStep], crds: crdsOf(names, request), isUpgrade: false },
  ]
  const plans = test.upgradePlans(packageName, channel)
  if (plans && plans.length > 1) {
    const steps = rootedSteps(plans, request)
    trials.push({ ...common, steps, crds: crdsOf(plans.flat(), request), isUpgrade: true })
  }
  return trials
}

/** Drops plans that update only companions. */
function rootedSteps(
  plans: readonly (readonly string[])[],
  { package: packageName, blobNamed }: TrialRequest,
): readonly TrialStep[] {
  let root = ''
  return plans.map((names) => {
    root = names.find((name) => blobNamed(name)?.package === packageName) ?? root
    const blob = blobNamed(root)
    return { root, version: blob ? bundleVersion(blob) : '', names }
  })
}

function withOneBundle(request: TrialRequest, target: Target): readonly PlannedTrial[] | string {
  const { resolution, package: packageName } = request
  const { v1, v1Upgrade, oldHead, channel } = resolution
  if (v1.kind !== 'resolved') return v1.message
  const common = { target, package: packageName, channel, mode: 'AllNamespaces' } as const
  const step = (blob: BundleBlob): TrialStep => ({
    root: blob.name,
    version: bundleVersion(blob),
    names: [blob.name],
    image: blob.image,
  })
  const isRukPak = target !== 'OLM v1'
  if (isRukPak && !/@sha256:[0-9a-f]{64}$/.test(v1.bundle.image))
    return `${v1.bundle.name} names no image by its digest: RukPak would not notice another one behind a tag`
  const trials: PlannedTrial[] = [
    { ...common, steps: [step(v1.bundle)], crds: crdsOf([v1.bundle.name], request), isUpgrade: false },
  ]
  const next = isRukPak ? v1.bundle : v1Upgrade?.kind === 'resolved' ? v1Upgrade.bundle : undefined
  if (oldHead && next && next.name !== oldHead.name)
    trials.push({
      ...common,
      steps: [step(oldHead), step(next)],
      crds: crdsOf([oldHead.name, next.name], request),
      isUpgrade: true,
    })
  return trials
}

function modeFor(root: BundleBlob | undefined, { contentOf }: TrialRequest): InstallMode | undefined {
  const content = root && contentOf(root)
  // Most Operators support it, and OLM reports it if this one does not.
  if (content?.kind !== 'bundle' || !content.facts.installModes) return 'AllNamespaces'
  return modeOf(content.facts.installModes)
}

/** From opened bundles, and from the catalog's data for the others. */
function crdsOf(names: readonly string[], { contentOf, blobNamed }: TrialRequest): readonly string[] {
  const found = new Set<string>()
  for (const name of names) {
    const blob = blobNamed(name)
    const content = blob && contentOf(blob)
    if (content?.kind === 'bundle') for (const crd of content.facts.crds ?? []) found.add(crd.name)
  }
  return [...found].sort()
}
