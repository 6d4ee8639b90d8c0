// What one trial is to show, worked out before it begins: by the catalog and by whoever runs the cluster. Nothing of it is
// read from a pull request's configuration, and nothing in it is changed while it runs.
import type { Target } from '../targets.ts'

export const trialLabel = 'catalog-bot.io/trial'
export const expiresLabel = 'catalog-bot.io/expires'
/** CRDs that were not there before the trial: what clean-up may take away, if the trial's own bundles brought them. */
export const crdsAnnotation = 'catalog-bot.io/absent-before'

export type InstallMode = 'AllNamespaces' | 'OwnNamespace' | 'SingleNamespace' | 'MultiNamespace'

/** Where the cluster finds a catalog. */
export type CatalogAt = { readonly address: string } | { readonly image: string }

export interface TrialPlan {
  /** Eight letters and digits: in every name and on every object of the trial. */
  readonly id: string
  readonly target: Target
  readonly package: string
  readonly channel: string
  readonly mode: InstallMode
  readonly catalog: CatalogAt
  /** For an upgrade: the catalog as it was before. */
  readonly base?: CatalogAt
  /**
   * The bundles that each InstallPlan has to name, as the simulated resolution has them; the first is the install, those
   * after it the upgrades. OLM v1 and RukPak install one bundle a step.
   */
  readonly steps: readonly TrialStep[]
  /** CRDs that the bundles bring. */
  readonly crds: readonly string[]
  /** Seconds since the epoch after which the trial's objects are anybody's to remove. */
  readonly expires: number
  readonly pullSecret?: string
  /** For OLM v1 before 1.11: what its installer may do. The operator of the cluster says it. */
  readonly installerRole: string
  readonly quota: TrialQuota
  /** Absent: what runs there reaches whatever the cluster lets it. */
  readonly network?: TrialNetwork
}

/** What the pods of a trial may reach beside one another and the cluster's name service. */
export interface TrialNetwork {
  /** Where the cluster's API answers. */
  readonly api: readonly { readonly address: string; readonly ports: readonly number[] }[]
  /** In CIDR notation, whatever else the operator of the cluster lets them reach. */
  readonly reaches: readonly string[]
}

export interface TrialStep {
  /** The package's own bundle. */
  readonly root: string
  readonly version: string
  /** All of them. */
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

/** A DNS label: of the package's name only what may stand there. */
export function namespaceOf({ id, package: packageName }: Pick<TrialPlan, 'id' | 'package'>): string {
  const room = longestName - 'catalog-bot--'.length - id.length - '-target'.length
  const clean = packageName
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .slice(0, room)
    .replace(/^-+|-+$/g, '')
  return `catalog-bot-${clean === '' ? 'package' : clean}-${id}`
}

/** Of objects without a namespace. RukPak takes 45 characters. */
export const clusterNameOf = ({ id }: Pick<TrialPlan, 'id'>): string => `catalog-bot-${id}`

/** The other namespace of modes that need one. */
export const targetNamespaceOf = (plan: Pick<TrialPlan, 'id' | 'package'>): string =>
  `${namespaceOf(plan)}-target`

/** Users and OLM v1 install for all namespaces; of the others the one that leaves most of a cluster alone comes first. */
export function modeOf(supported: readonly string[]): InstallMode | undefined {
  return (['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace'] as const).find((mode) =>
    supported.includes(mode),
  )
}

/** A list of names, as it stands in an annotation or is remembered. What is none has no names. */
export function namesIn(text: unknown): readonly string[] {
  if (typeof text !== 'string') return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []
  } catch {
    return []
  }
}
