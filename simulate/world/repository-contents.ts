// What lies in the repository of a run: catalogs, owner files and configuration, each file of one line. Written here, and read
// back by expected-state.ts, which shares nothing with what the bot reads them with.
import { createHash } from 'node:crypto'

export const packageNames = ['foo', 'bar'] as const
export type PackageName = string

export const getCatalogPath = (name: PackageName): string => `catalog/${name}/catalog.json`
export const getExtraCatalogFilePath = (name: PackageName, part: number): string =>
  `catalog/${name}/extra-${part}.json`
export const getOwnersPath = (name: PackageName): string => `operators/${name}/ci.yaml`
export const configPath = '.github/catalog-bot.yml'
export const maintainersPath = 'config.yaml'

/** What can be wrong with a catalog file. */
export const catalogFlaws = ['fork', 'dangling', 'missing-image', 'foreign-blob', 'broken'] as const
export type CatalogFlaw = (typeof catalogFlaws)[number]

export interface SimulatedBundle {
  readonly name: string
  readonly package: string
  readonly version: string
  readonly image: string
}

/** A bundle, whose image is named by what the bundle is. `isMissing`: no registry has it. */
function createBundle(name: PackageName, version: number, isMissing = false): SimulatedBundle {
  const full = `${name}.v${version}.0.0`
  const digest = createHash('sha256').update(`${full} ${isMissing}`).digest('hex')
  const imageFolder = isMissing ? 'missing' : 'bundles'
  const image = `registry.example/${imageFolder}/${name}@sha256:${digest}`
  const bundle = { name: full, package: name, version: `${version}.0.0`, image }
  bundleByImage.set(image, bundle)
  return bundle
}

/** Images are found by their content: what was built in one run is the same in every other. */
const bundleByImage = new Map<string, SimulatedBundle>()

/** What a bundle image holds, as its catalog blob would say it. */
export function findBundleContent(image: string): object | undefined {
  const bundle = bundleByImage.get(image)
  return (
    bundle && {
      name: bundle.name,
      package: bundle.package,
      properties: [{ type: 'olm.package', value: { packageName: bundle.package, version: bundle.version } }],
      relatedImages: [{ name: '', image }],
    }
  )
}

export const isMissingImage = (image: string): boolean => image.startsWith('registry.example/missing/')

function toBundleBlob({ name, package: of, version, image }: SimulatedBundle): object {
  return {
    schema: 'olm.bundle',
    name,
    package: of,
    image,
    properties: [{ type: 'olm.package', value: { packageName: of, version } }],
    relatedImages: [{ name: '', image }],
  }
}

function toChannelBlob(of: PackageName, name: string, entries: readonly object[]): object {
  return { schema: 'olm.channel', package: of, name, entries }
}

const toJsonLine = (blobs: readonly object[]): string =>
  `${blobs.map((blob) => JSON.stringify(blob)).join(' ')}\n`

/** A package with so many versions, each replacing the one before. */
export function renderCatalog(name: PackageName, versions: number, flaw?: CatalogFlaw): string {
  const numbers = Array.from({ length: versions }, (_, at) => at + 1)
  const full = (version: number) => `${name}.v${version}.0.0`
  const entries = numbers.map((version) => ({
    name: full(version),
    ...(version > 1 && !(flaw === 'fork' && version === versions) && { replaces: full(version - 1) }),
  }))
  const dangling = flaw === 'dangling' ? [{ name: full(versions + 1), replaces: full(versions) }] : []
  const blobs = [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    toChannelBlob(name, 'stable', [...entries, ...dangling]),
    ...numbers.map((version) =>
      toBundleBlob(createBundle(name, version, flaw === 'missing-image' && version === versions)),
    ),
    ...(flaw === 'foreign-blob'
      ? [toChannelBlob(packageNames.find((other) => other !== name) ?? name, 'taken', [{ name: full(1) }])]
      : []),
  ]
  const text = toJsonLine(blobs)
  return flaw === 'broken' ? text.slice(0, -12) : text
}

/**
 * A file of its own with one version more, in a channel of its own. Two such files of the same version are valid alone, and
 * not together.
 */
export function renderExtraCatalogFile(name: PackageName, part: number, version: number): string {
  const { name: full } = createBundle(name, version)
  return toJsonLine([
    toChannelBlob(name, `part-${part}`, [{ name: full }]),
    toBundleBlob(createBundle(name, version)),
  ])
}

export const renderOwners = (owners: readonly string[]): string => `reviewers: [${owners.join(', ')}]\n`
export const renderMaintainers = (maintainers: readonly string[]): string =>
  `maintainers: [${maintainers.join(', ')}]\n`

/** Its members own what it owns. */
export const ownerTeam = { name: 'keepers', members: ['mia'] } as const

export const configTextByVariant = {
  plain: undefined,
  'merging off': 'merge: {enabled: false}\n',
  /** A team owns one of the packages, too. */
  team: `owners: {packages: {bar: [coast/${ownerTeam.name}]}}\n`,
  'confirm pushes': 'approvals: {confirmUnknownPushes: true}\n',
  unreadable: 'merge: {enabeld: true}\n',
} as const
export type ConfigVariantName = keyof typeof configTextByVariant
