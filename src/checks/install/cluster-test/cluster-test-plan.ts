// The plan of one install test, fixed before its start. Nothing in it is a pull request's configuration.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { InstallTarget } from '../install-report.ts'
import { getBundleVersion } from '../../../pull-request/compare-blobs.ts'
import type { BundleContentForInstall } from '../install-analysis.ts'
import type { CatalogUnderTest, ChannelInstallResolution } from '../resolutions.ts'

/** The cluster adapter adds the remaining values, such as the expiry and a random id. */
export type PlannedClusterTest = Pick<
  ClusterTestPlan,
  'target' | 'package' | 'channel' | 'mode' | 'steps' | 'crds'
> & { readonly isUpgrade: boolean }

export interface SkippedClusterTest {
  readonly target: InstallTarget
  readonly channel: string
  readonly why: string
}

interface ClusterTestRequest {
  readonly package: string
  readonly resolution: ChannelInstallResolution
  readonly targets: readonly InstallTarget[]
  readonly test: CatalogUnderTest
  /** Returns undefined for a bundle that was not opened. */
  readonly contentOf: (blob: BundleBlob) => BundleContentForInstall | undefined
  readonly blobNamed: (name: string) => BundleBlob | undefined
}

export const clusterTestLabelKey = 'catalog-bot.io/trial'
export const expirationLabelKey = 'catalog-bot.io/expires'
/** CRDs that do not exist before the test. Clean-up can delete them if the test's bundles installed them. */
export const crdsAbsentBeforeTestAnnotation = 'catalog-bot.io/absent-before'

/** AllNamespaces, which users and OLM v1 use, then the mode with the smallest scope. */
const installModePreference = ['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace'] as const
export type InstallMode = (typeof installModePreference)[number]

export type ClusterTestCatalogSource = { readonly address: string } | { readonly image: string }

export interface ClusterTestPlan {
  /** Eight letters and digits that are part of every name and label of the test. */
  readonly id: string
  readonly target: InstallTarget
  readonly package: string
  readonly channel: string
  readonly mode: InstallMode
  readonly catalog: ClusterTestCatalogSource
  /** The previous catalog, for an upgrade. */
  readonly base?: ClusterTestCatalogSource
  /**
   * The first step installs, and later steps upgrade. OLM v0's InstallPlans must name exactly these bundles; OLM v1 and
   * RukPak install one bundle per step.
   */
  readonly steps: readonly ClusterTestStep[]
  readonly crds: readonly string[]
  /** Seconds since the epoch. After this time, any janitor can delete the test's objects. */
  readonly expires: number
  readonly pullSecret?: string
  /** The role of the installer for OLM v1 before 1.11. The bot administrator sets it. */
  readonly installerRole: string
  readonly quota: ClusterTestQuota
  /** Absent if the network is not restricted. */
  readonly network?: ClusterTestEgressAllowlist
}

/** The destinations that test pods can connect to, in addition to each other and cluster DNS. */
export interface ClusterTestEgressAllowlist {
  readonly api: readonly { readonly address: string; readonly ports: readonly number[] }[]
  /** Additional CIDR ranges that the bot administrator sets. */
  readonly reaches: readonly string[]
}

export interface ClusterTestStep {
  readonly root: string
  readonly version: string
  readonly names: readonly string[]
  /** Used for RukPak. */
  readonly image?: string
}

export interface ClusterTestQuota {
  readonly pods: number
  readonly cpu: string
  readonly memory: string
  readonly podSecurity: 'restricted' | 'baseline' | 'privileged'
}

export const defaultClusterTestQuota: ClusterTestQuota = {
  pods: 20,
  cpu: '4',
  memory: '4Gi',
  podSecurity: 'baseline',
}

const maxNamespaceNameLength = 63

/** A DNS label; replaces characters of the package name that are not allowed. */
export function toTestNamespaceName({ id, package: packageName }: Pick<ClusterTestPlan, 'id' | 'package'>) {
  const maxPackageLength = maxNamespaceNameLength - 'catalog-bot--'.length - id.length - '-target'.length
  const clean = packageName
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .slice(0, maxPackageLength)
    .replace(/^-+|-+$/g, '')
  return `catalog-bot-${clean === '' ? 'package' : clean}-${id}`
}

/** The name of cluster-scoped objects. RukPak allows up to 45 characters. */
export const toClusterScopedObjectName = ({ id }: Pick<ClusterTestPlan, 'id'>): string => `catalog-bot-${id}`

export const toTargetNamespaceName = (plan: Pick<ClusterTestPlan, 'id' | 'package'>): string =>
  `${toTestNamespaceName(plan)}-target`

/** Parses a list of names from an annotation or memory; returns no names for other data. */
export function parseJsonNameList(text: unknown): readonly string[] {
  const list: unknown = typeof text === 'string' ? tryParseJson(text) : undefined
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []
}

/**
 * Plans the install tests of a channel: a new installation and an upgrade. Skips packages that the simulation could
 * not resolve, because the simulation already reports the reason.
 */
export function planChannelClusterTests(request: ClusterTestRequest) {
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
    const steps = createClusterTestStepsForPackage(plans, request)
    tests.push({ ...common, steps, crds: listBundleCrdNames(plans.flat(), request), isUpgrade: true })
  }
  return tests
}

/** Omits plans that update only dependencies. */
function createClusterTestStepsForPackage(
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

function planSingleBundleTests(request: ClusterTestRequest, target: InstallTarget) {
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

function findBundleInstallMode(root: BundleBlob | undefined, { contentOf }: ClusterTestRequest) {
  const content = root && contentOf(root)
  // Most Operators support this mode, and OLM reports an error if this one does not.
  if (content?.kind !== 'bundle' || !content.facts.installModes) return 'AllNamespaces'
  const { installModes } = content.facts
  return installModePreference.find((mode) => installModes.includes(mode))
}

function listBundleCrdNames(names: readonly string[], { contentOf, blobNamed }: ClusterTestRequest) {
  const found = new Set<string>()
  for (const name of names) {
    const blob = blobNamed(name)
    const content = blob && contentOf(blob)
    if (content?.kind === 'bundle') for (const crd of content.facts.crds ?? []) found.add(crd.name)
  }
  return [...found].sort()
}
