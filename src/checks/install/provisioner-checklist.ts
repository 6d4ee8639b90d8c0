// The fourteen requirements of RukPak's provisioner specification. Most describe a controller's behavior over time,
// which only a cluster can show.
import type { BundleFormat } from '@catalog-bot/bundle/bundle-files'

export interface ProvisionerRequirement {
  readonly number: number
  readonly asks: string
  /**
   * `holds`: the simulation shows it. `cluster`: only a cluster can show it. `not asked`: not required for this format.
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
  [4, 'uses only declared condition types, reasons, and phases'],
  [5, 'writes every condition type on each update (Unknown if undetermined)'],
  [6, 'sets observedGeneration on the bundle'],
  [7, 'sets contentURL and serves the content'],
  [8, 'denies content to anonymous callers'],
  [9, 'serves content to subjects with the ClusterRole bundle-reader'],
  [10, 'sets activeBundle on the deployment'],
  [12, 'ensures that a Bundle matching its template exists'],
  [13, 'proceeds only after that Bundle is unpacked'],
  [14, 'removes superseded Bundles promptly'],
]

export function createProvisionerChecklist(format: BundleFormat): readonly ProvisionerRequirement[] {
  const { bundle, deployment } = provisionerClasses[format]
  const both = bundle === deployment ? bundle : `${bundle} and ${deployment}`
  const simulated: readonly ProvisionerRequirement[] = [
    { number: 1, asks: 'has an RFC 1123 label as its class name', told: 'holds', says: both },
    bundle === deployment
      ? {
          number: 3,
          asks: 'may convert a bundle for another provisioner',
          told: 'not asked',
          says: `${bundle} handles ${format} without conversion`,
        }
      : {
          number: 3,
          asks: 'may convert a bundle for another provisioner',
          told: 'holds',
          says: `${bundle} converts ${format} to plain+v0, which ${deployment} applies`,
        },
    {
      number: 11,
      asks: 'supports every source type or reports that it does not',
      told: 'cluster',
      says: 'only the image source was simulated',
    },
  ]
  const others = clusterOnlyRequirements.map(([number, asks]): ProvisionerRequirement => ({
    number,
    asks,
    told: 'cluster',
    says: 'only a cluster test can show this',
  }))
  return [...simulated, ...others].sort((a, b) => a.number - b.number)
}
