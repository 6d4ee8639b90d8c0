// Plans the install tests of a channel: a new installation and an upgrade. Skips packages that the simulation could not
// resolve, because the simulation already reports the reason.
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import { getBundleVersion } from '../../../pull-request/package-blobs.ts'
import type { InstallBundleContent } from '../bundle-content.ts'
import type { CatalogUnderTest, ChannelInstallResolution } from '../resolutions.ts'
import type { InstallTarget } from '../install-targets.ts'
import {
  chooseInstallMode,
  type InstallMode,
  type ClusterTestPlan,
  type ClusterTestStep,
} from './cluster-test-plan.ts'

/** The cluster adapter adds the remaining values, such as the expiry and a random id. */
export type PlannedClusterTest = Pick<
  ClusterTestPlan,
  'target' | 'package' | 'channel' | 'mode' | 'steps' | 'crds'
> & {
  readonly isUpgrade: boolean
}

export interface SkippedClusterTest {
  readonly target: InstallTarget
  readonly channel: string
  readonly why: string
}

export interface ClusterTestRequest {
  readonly package: string
  readonly resolution: ChannelInstallResolution
  readonly targets: readonly InstallTarget[]
  readonly test: CatalogUnderTest
  /** Returns undefined for a bundle that was not opened. */
  readonly contentOf: (blob: BundleBlob) => InstallBundleContent | undefined
  readonly blobNamed: (name: string) => BundleBlob | undefined
}

export interface ClusterTestPlanningResult {
  readonly tests: readonly PlannedClusterTest[]
  readonly skipped: readonly SkippedClusterTest[]
}

export function planChannelClusterTests(request: ClusterTestRequest): ClusterTestPlanningResult {
  const tests: PlannedClusterTest[] = []
  const skipped: SkippedClusterTest[] = []
  for (const target of request.targets) {
    const planned = target === 'OLM v0' ? planOlmV0Tests(request) : planSingleBundleTests(request, target)
    if (typeof planned === 'string')
      skipped.push({ target, channel: request.resolution.channel, why: planned })
    else tests.push(...planned)
  }
  return { tests, skipped }
}

function planOlmV0Tests(request: ClusterTestRequest): readonly PlannedClusterTest[] | string {
  const { resolution, test, package: packageName } = request
  const { fresh, channel } = resolution
  if (fresh.kind !== 'installs') return 'the simulation did not resolve a bundle'
  const root = test.bundleOf(fresh.root)
  const names = [fresh.root.name, ...fresh.companions.map(({ entry }) => entry.name)]
  const mode = findBundleInstallMode(root, request)
  if (mode === undefined) return `${fresh.root.name} does not support any install mode`
  const common = { target: 'OLM v0', package: packageName, channel, mode } as const
  const freshStep: ClusterTestStep = {
    root: fresh.root.name,
    version: root ? getBundleVersion(root) : '',
    names,
  }
  const tests: PlannedClusterTest[] = [
    { ...common, steps: [freshStep], crds: listBundleCrdNames(names, request), isUpgrade: false },
  ]
  const plans = test.upgradePlans(packageName, channel)
  if (plans && plans.length > 1) {
    const steps = createRootPackageTestSteps(plans, request)
    tests.push({ ...common, steps, crds: listBundleCrdNames(plans.flat(), request), isUpgrade: true })
  }
  return tests
}

/** Omits plans that update only dependencies. */
function createRootPackageTestSteps(
  plans: readonly (readonly string[])[],
  { package: packageName, blobNamed }: ClusterTestRequest,
): readonly ClusterTestStep[] {
  let root = ''
  return plans.map((names) => {
    root = names.find((name) => blobNamed(name)?.package === packageName) ?? root
    const blob = blobNamed(root)
    return { root, version: blob ? getBundleVersion(blob) : '', names }
  })
}

function planSingleBundleTests(
  request: ClusterTestRequest,
  target: InstallTarget,
): readonly PlannedClusterTest[] | string {
  const { resolution, package: packageName } = request
  const { v1, v1Upgrade, oldHead, channel } = resolution
  if (v1.kind !== 'resolved') return v1.message
  const common = { target, package: packageName, channel, mode: 'AllNamespaces' } as const
  const step = (blob: BundleBlob): ClusterTestStep => ({
    root: blob.name,
    version: getBundleVersion(blob),
    names: [blob.name],
    image: blob.image,
  })
  const isRukPak = target !== 'OLM v1'
  if (isRukPak && !/@sha256:[0-9a-f]{64}$/.test(v1.bundle.image))
    return `${v1.bundle.name} does not specify its image by digest, so RukPak would not detect when the tag is moved to another image`
  const tests: PlannedClusterTest[] = [
    {
      ...common,
      steps: [step(v1.bundle)],
      crds: listBundleCrdNames([v1.bundle.name], request),
      isUpgrade: false,
    },
  ]
  const next = isRukPak ? v1.bundle : v1Upgrade?.kind === 'resolved' ? v1Upgrade.bundle : undefined
  if (oldHead && next && next.name !== oldHead.name)
    tests.push({
      ...common,
      steps: [step(oldHead), step(next)],
      crds: listBundleCrdNames([oldHead.name, next.name], request),
      isUpgrade: true,
    })
  return tests
}

function findBundleInstallMode(
  root: BundleBlob | undefined,
  { contentOf }: ClusterTestRequest,
): InstallMode | undefined {
  const content = root && contentOf(root)
  // Most Operators support this mode, and OLM reports an error if this one does not.
  if (content?.kind !== 'bundle' || !content.facts.installModes) return 'AllNamespaces'
  return chooseInstallMode(content.facts.installModes)
}

/** Lists the CRDs of the opened bundles. */
function listBundleCrdNames(
  names: readonly string[],
  { contentOf, blobNamed }: ClusterTestRequest,
): readonly string[] {
  const found = new Set<string>()
  for (const name of names) {
    const blob = blobNamed(name)
    const content = blob && contentOf(blob)
    if (content?.kind === 'bundle') for (const crd of content.facts.crds ?? []) found.add(crd.name)
  }
  return [...found].sort()
}
