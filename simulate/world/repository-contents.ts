// The repository contents of a run: catalogs, owner files, and configuration, each file with one line. This module
// writes them, and expected-state.ts parses them with code that catalog-bot does not share.
import { createHash } from 'node:crypto'

export const packageNames = ['foo', 'bar'] as const
export type PackageName = string

export const getCatalogPath = (name: PackageName): string => `catalog/${name}/catalog.json`
export const getExtraCatalogFilePath = (name: PackageName, part: number): string =>
  `catalog/${name}/extra-${part}.json`
export const getOwnersFilePath = (name: PackageName): string => `operators/${name}/ci.yaml`
export const botConfigPath = '.github/catalog-bot.yml'
export const maintainersFilePath = 'config.yaml'

/** The possible flaws of a catalog file. */
export const catalogFlaws = ['fork', 'dangling', 'missing-image', 'foreign-blob', 'broken'] as const
export type CatalogFlaw = (typeof catalogFlaws)[number]

export interface SimulatedBundle {
  readonly name: string
  readonly package: string
  readonly version: string
  readonly image: string
}

/** A bundle whose image name is derived from its contents. `isMissing`: no registry has the image. */
function createBundle(name: PackageName, version: number, isMissing = false): SimulatedBundle {
  const full = `${name}.v${version}.0.0`
  const digest = createHash('sha256').update(`${full} ${isMissing}`).digest('hex')
  const imageFolder = isMissing ? 'missing' : 'bundles'
  const image = `registry.example/${imageFolder}/${name}@sha256:${digest}`
  const bundle = { name: full, package: name, version: `${version}.0.0`, image }
  bundleByImageReference.set(image, bundle)
  return bundle
}

/** Images are addressed by content, so images from one run are the same in every other run. */
const bundleByImageReference = new Map<string, SimulatedBundle>()

/** The contents of a bundle image, as its catalog blob describes them. */
export function findBundleImageContents(image: string): object | undefined {
  const bundle = bundleByImageReference.get(image)
  return (
    bundle && {
      name: bundle.name,
      package: bundle.package,
      properties: [{ type: 'olm.package', value: { packageName: bundle.package, version: bundle.version } }],
      relatedImages: [{ name: '', image }],
    }
  )
}

export const isReferenceToMissingImage = (image: string): boolean =>
  image.startsWith('registry.example/missing/')

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

/** A package with this many versions, each of which replaces the previous one. */
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
 * A separate file with one more version, in a separate channel. Two such files with the same version are valid
 * individually, but not together.
 */
export function renderExtraCatalogFile(name: PackageName, part: number, version: number): string {
  const { name: full } = createBundle(name, version)
  return toJsonLine([
    toChannelBlob(name, `part-${part}`, [{ name: full }]),
    toBundleBlob(createBundle(name, version)),
  ])
}

export const renderOwnersFile = (owners: readonly string[]): string => `reviewers: [${owners.join(', ')}]\n`
export const renderMaintainersFile = (maintainers: readonly string[]): string =>
  `maintainers: [${maintainers.join(', ')}]\n`

/** Its members own everything that the team owns. */
export const packageOwnerTeam = { name: 'keepers', members: ['mia'] } as const

export const botConfigTextByVariant = {
  plain: undefined,
  'merging off': 'merge: {enabled: false}\n',
  /** A team owns one of the packages, too. */
  team: `owners: {packages: {bar: [coast/${packageOwnerTeam.name}]}}\n`,
  'confirm pushes': 'approvals: {confirmUnknownPushes: true}\n',
  unreadable: 'merge: {enabeld: true}\n',
} as const
export type BotConfigVariantName = keyof typeof botConfigTextByVariant
