// The plan of one install test, fixed before the test starts. Security: nothing in it comes from the configuration in a
// pull request.
import type { InstallTarget } from '../install-targets.ts'

export const clusterTestLabelKey = 'catalog-bot.io/trial'
export const expirationLabelKey = 'catalog-bot.io/expires'
/** CRDs that do not exist before the test. Clean-up can delete them if the test's bundles installed them. */
export const initiallyAbsentCrdsAnnotation = 'catalog-bot.io/absent-before'

export type InstallMode = 'AllNamespaces' | 'OwnNamespace' | 'SingleNamespace' | 'MultiNamespace'

export type TestCatalogSource = { readonly address: string } | { readonly image: string }

export interface ClusterTestPlan {
  /** Eight letters and digits that are part of every name and label of the test. */
  readonly id: string
  readonly target: InstallTarget
  readonly package: string
  readonly channel: string
  readonly mode: InstallMode
  readonly catalog: TestCatalogSource
  /** The previous catalog, for an upgrade. */
  readonly base?: TestCatalogSource
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
  readonly network?: ClusterTestAllowedEgress
}

/** The destinations that test pods can connect to, in addition to each other and cluster DNS. */
export interface ClusterTestAllowedEgress {
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
export function toTestNamespaceName({
  id,
  package: packageName,
}: Pick<ClusterTestPlan, 'id' | 'package'>): string {
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

/** Prefers AllNamespaces, which users and OLM v1 use, then the mode with the smallest scope. */
export function chooseInstallMode(supported: readonly string[]): InstallMode | undefined {
  return (['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace'] as const).find((mode) =>
    supported.includes(mode),
  )
}

/** Parses a list of names from an annotation or memory; returns no names for other data. */
export function parseJsonNameList(text: unknown): readonly string[] {
  if (typeof text !== 'string') return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []
  } catch {
    return []
  }
}
