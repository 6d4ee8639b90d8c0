// The plan of one trial, fixed before it begins. Security: nothing in it comes from a pull request's configuration.
import type { Target } from '../targets.ts'

export const trialLabel = 'catalog-bot.io/trial'
export const expiresLabel = 'catalog-bot.io/expires'
/** CRDs absent before the trial; clean-up may delete them if the trial's bundles brought them. */
export const crdsAnnotation = 'catalog-bot.io/absent-before'

export type InstallMode = 'AllNamespaces' | 'OwnNamespace' | 'SingleNamespace' | 'MultiNamespace'

export type CatalogAt = { readonly address: string } | { readonly image: string }

export interface TrialPlan {
  /** Eight letters and digits, part of every name and label of the trial. */
  readonly id: string
  readonly target: Target
  readonly package: string
  readonly channel: string
  readonly mode: InstallMode
  readonly catalog: CatalogAt
  /** The old catalog, for an upgrade. */
  readonly base?: CatalogAt
  /**
   * The first step installs, later ones upgrade. OLM v0's InstallPlans must name exactly these bundles; OLM v1 and
   * RukPak install one bundle per step.
   */
  readonly steps: readonly TrialStep[]
  readonly crds: readonly string[]
  /** Seconds since the epoch. After it, any janitor may delete the trial's objects. */
  readonly expires: number
  readonly pullSecret?: string
  /** For OLM v1 before 1.11: the installer's role, which the cluster's operator sets. */
  readonly installerRole: string
  readonly quota: TrialQuota
  /** Absent: the network is not restricted. */
  readonly network?: TrialNetwork
}

/** What trial pods may reach besides one another and the cluster's name service. */
export interface TrialNetwork {
  readonly api: readonly { readonly address: string; readonly ports: readonly number[] }[]
  /** Further ranges in CIDR notation, set by the cluster's operator. */
  readonly reaches: readonly string[]
}

export interface TrialStep {
  readonly root: string
  readonly version: string
  readonly names: readonly string[]
  /** For RukPak. */
  readonly image?: string
}

export interface TrialQuota {
  readonly pods: number
  readonly cpu: string
  readonly memory: string
  readonly podSecurity: 'restricted' | 'baseline' | 'privileged'
}

export const usualQuota: TrialQuota = { pods: 20, cpu: '4', memory: '4Gi', podSecurity: 'baseline' }

const longestName = 63

/** A DNS label; replaces characters of the package name that are not allowed. */
export function namespaceOf({ id, package: packageName }: Pick<TrialPlan, 'id' | 'package'>): string {
  const room = longestName - 'catalog-bot--'.length - id.length - '-target'.length
  const clean = packageName
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .slice(0, room)
    .replace(/^-+|-+$/g, '')
  return `catalog-bot-${clean === '' ? 'package' : clean}-${id}`
}

/** For cluster-scoped objects. RukPak allows 45 characters. */
export const clusterNameOf = ({ id }: Pick<TrialPlan, 'id'>): string => `catalog-bot-${id}`

export const targetNamespaceOf = (plan: Pick<TrialPlan, 'id' | 'package'>): string =>
  `${namespaceOf(plan)}-target`

/** Prefers AllNamespaces, which users and OLM v1 use, then the mode with the smallest scope. */
export function modeOf(supported: readonly string[]): InstallMode | undefined {
  return (['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace'] as const).find((mode) =>
    supported.includes(mode),
  )
}

/** Parses a list of names from an annotation or memory; returns no names for other data. */
export function namesIn(text: unknown): readonly string[] {
  if (typeof text !== 'string') return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []
  } catch {
    return []
  }
}
