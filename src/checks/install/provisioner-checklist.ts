// The fourteen requirements of RukPak's provisioner specification. Most concern a controller over time, which only a
// cluster can show.
import type { BundleFormat } from '../../bundle/bundle-files.ts'

export interface ProvisionerRequirement {
  readonly number: number
  readonly asks: string
  /**
   * `holds`: the simulation shows it. `cluster`: only a cluster can show it. `not asked`: not required of this format.
   */
  readonly told: 'holds' | 'cluster' | 'not asked'
  readonly says: string
}

/** RukPak's provisioner classes for the Bundle and the BundleDeployment. */
const provisionerClasses: Readonly<
  Record<BundleFormat, { readonly bundle: string; readonly deployment: string }>
> = {
  'plain+v0': { bundle: 'core-rukpak-io-plain', deployment: 'core-rukpak-io-plain' },
  'registry+v1': { bundle: 'core-rukpak-io-registry', deployment: 'core-rukpak-io-plain' },
  'helm+v3': { bundle: 'core-rukpak-io-helm', deployment: 'core-rukpak-io-helm' },
}

const clusterOnlyRequirements: readonly (readonly [number, string])[] = [
  [2, 'acts only on objects of its class'],
  [4, 'uses only the condition types, reasons and phases that are declared'],
  [5, 'writes every condition type each time, Unknown when it does not know'],
  [6, 'sets observedGeneration on the bundle'],
  [7, 'sets contentURL and serves the content'],
  [8, 'refuses the content to anonymous callers'],
  [9, 'gives the content to holders of the ClusterRole bundle-reader'],
  [10, 'sets activeBundle on the deployment'],
  [12, 'makes sure that a Bundle equal to its template exists'],
  [13, 'moves on only once that Bundle is unpacked'],
  [14, 'removes superseded Bundles soon'],
]

export function createProvisionerChecklist(format: BundleFormat): readonly ProvisionerRequirement[] {
  const { bundle, deployment } = provisionerClasses[format]
  const both = bundle === deployment ? bundle : `${bundle} and ${deployment}`
  const simulated: readonly ProvisionerRequirement[] = [
    { number: 1, asks: 'has a class name that is an RFC 1123 label', told: 'holds', says: both },
    bundle === deployment
      ? {
          number: 3,
          asks: 'may convert a bundle for another provisioner',
          told: 'not asked',
          says: `${bundle} takes ${format} from end to end`,
        }
      : {
          number: 3,
          asks: 'may convert a bundle for another provisioner',
          told: 'holds',
          says: `${bundle} turns ${format} into plain+v0, which ${deployment} applies`,
        },
    {
      number: 11,
      asks: 'takes every type of source, or says that it does not',
      told: 'cluster',
      says: 'here only the image source was tried',
    },
  ]
  const others = clusterOnlyRequirements.map(([number, asks]): ProvisionerRequirement => ({
    number,
    asks,
    told: 'cluster',
    says: 'only a cluster shows it',
  }))
  return [...simulated, ...others].sort((a, b) => a.number - b.number)
}
