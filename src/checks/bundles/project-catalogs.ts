// The future catalogs of packages, from bundle directories and `updateGraph` or from templates and release settings.
import type { BundleUpgradeMetadata } from '@catalog-bot/bundle/bundle-upgrade-metadata'
import {
  deriveChannels,
  type UpdateGraphBundle,
  type UpdateGraphMode,
} from '@catalog-bot/fbc/graph/derive-channels'
import { compareVersions, parseVersion } from '@catalog-bot/fbc/versions/version'
import type { WritableCatalog } from '@catalog-bot/fbc/write/writable-catalog'
import type { Location } from '@catalog-bot/findings/finding'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { addBundleToTemplate, type BundleReleaseInput } from '@catalog-bot/fbc/template/amend-template'
import { createRenderedBundleLookup, type RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import { renderTemplate, getTemplateImages } from '@catalog-bot/fbc/template/render-template'
import { parseTemplateDocument } from '@catalog-bot/fbc/template/template-document'
import {
  computePostReleaseCatalogChanges,
  type PostReleaseCatalog,
  type BundleImageNameFormatter,
  type PackageDirectoryState,
} from './post-release-catalog.ts'
import {
  ciYamlSchema,
  parsePackageSettings,
  listAddedAndModifiedBundles,
  releaseConfigSchema,
  type PackageCiYaml,
  hasUpdateGraphModeChange,
  findUpdateGraphMode,
  parseCiYaml,
} from './package-settings.ts'
import { findAlreadyRenderedBundles } from '../validation/templates/template-bundles.ts'

export interface LoadedTemplate {
  /** Absent for a new template. */
  readonly bytes?: Uint8Array
  readonly isTooLarge?: true
  /** The package's base catalogs that this template renders. */
  readonly known: readonly Catalog[]
}

type TemplateCatalogMapping = NonNullable<PackageCiYaml['fbc']>['catalog_mapping'][number]

interface TemplateUpdateForBundle extends Omit<BundleReleaseInput, 'package' | 'image'> {
  readonly template: string
  readonly bundle: RenderedBundle
  readonly version: string
  readonly at: PostReleaseCatalog['at']
}

/**
 * Empty if the change touches neither a bundle nor the graph mode, if templates define the catalogs, or if the
 * directories are too large.
 */
export function computeCatalogsFromDirectories(
  sources: PackageDirectoryState,
  imageOf: BundleImageNameFormatter,
): readonly PostReleaseCatalog[] {
  const { directory, touched, bundles, published, ciYaml, ciYamlBefore } = sources
  // An unreadable ci.yaml is reported elsewhere.
  const graphMode = findUpdateGraphMode(ciYaml)
  const isOtherGraph = hasUpdateGraphModeChange(sources)
  if (!graphMode || !bundles || !published || (touched.length === 0 && !isOtherGraph)) return []
  // The catalogs contain bundles without directories, so the directories don't show all edges.
  if (sources.catalogs.size > 0) return []
  const modeBefore = isOtherGraph ? (findUpdateGraphMode(ciYamlBefore) ?? graphMode) : graphMode
  const before = buildCatalogFromBundleDirectories(directory, published, { graphMode: modeBefore, imageOf })
  const after = buildCatalogFromBundleDirectories(directory, bundles, { graphMode, imageOf })
  const present = listAddedAndModifiedBundles(sources)
  const at = present[0] ? findBundleFieldLocations(present[0]) : findUpdateGraphLocation(sources)
  // A package without bundles has no catalog.
  if (!after || !at) return []
  return [
    {
      directory,
      kind: 'directories',
      catalogs: [graphMode],
      changes: computePostReleaseCatalogChanges([graphMode], before, after),
      at,
      images: present.flatMap(({ bundle, facts }) =>
        facts.name && bundle.kind === 'added'
          ? [{ name: facts.name.text, image: imageOf(directory, bundle.version) }]
          : [],
      ),
    },
  ]
}

function findBundleFieldLocations({
  bundle,
  facts,
}: ReturnType<typeof listAddedAndModifiedBundles>[number]): PostReleaseCatalog['at'] | undefined {
  const within = ({ at }: { readonly at: Location }): Location => ({
    ...at,
    file: `${bundle.root}/${at.file}`,
  })
  const { name, replaces, version } = facts
  const whole = name ?? version
  return whole && { whole: within(whole), ...(replaces && { edges: within(replaces) }) }
}

/** The graph setting in ci.yaml, if the change touches only that. */
function findUpdateGraphLocation({ ciYaml }: PackageDirectoryState): PostReleaseCatalog['at'] | undefined {
  return ciYaml?.isTouched === true
    ? { whole: parsePackageSettings(ciYaml, ciYamlSchema).locationOf(['updateGraph']) }
    : undefined
}

function buildCatalogFromBundleDirectories(
  directory: string,
  bundles: ReadonlyMap<string, BundleUpgradeMetadata>,
  { graphMode, imageOf }: { readonly graphMode: UpdateGraphMode; readonly imageOf: BundleImageNameFormatter },
): WritableCatalog | undefined {
  const placed = [...bundles].flatMap(([folder, facts]): (UpdateGraphBundle & { folder: string })[] => {
    const { name, version, channels, replaces, skips, skipRange } = facts
    if (!name || !version) return []
    return [
      {
        folder,
        name: name.text,
        version: version.text,
        channels: channels.map(({ text }) => text),
        replaces: replaces?.text,
        skips: skips.map(({ text }) => text),
        skipRange: skipRange?.text,
      },
    ]
  })
  // validate-bundle-directories.ts reports duplicate names.
  const distinct = [...new Map(placed.map((one) => [one.name, one])).values()]
  if (distinct.length === 0) return undefined
  const its = [...bundles.values()].find((facts) => facts.package)?.package?.text ?? directory
  const channels = deriveChannels(its, distinct, graphMode)
  const listed = new Set(channels.flatMap(({ entries }) => (entries ?? []).map(({ name }) => name)))
  return {
    packages: [{ schema: 'olm.package', name: its, defaultChannel: chooseDefaultChannel(bundles) }],
    channels,
    // A bundle that a newer patch skips is in no channel.
    bundles: distinct
      .filter(({ name }) => listed.has(name))
      .map(({ name, version, folder }) => ({
        schema: 'olm.bundle',
        name,
        package: its,
        image: imageOf(directory, folder),
        properties: [{ type: 'olm.package', value: { packageName: its, version } }],
      })),
    deprecations: [],
    others: [],
  }
}

/** The highest version's setting, else a channel of the lowest version, which stays the same when bundles are added. */
function chooseDefaultChannel(bundles: ReadonlyMap<string, BundleUpgradeMetadata>): string {
  const named = [...bundles.values()].flatMap(({ version, defaultChannel }) => {
    const read = parseVersion(version?.text ?? '')
    return defaultChannel && read.ok ? [{ version: read.value, channel: defaultChannel.text }] : []
  })
  const highest = named.sort((a, b) => compareVersions(a.version, b.version)).at(-1)
  if (highest) return highest.channel
  const lowest = [...bundles.values()]
    .flatMap(({ version, channels }) => {
      const read = parseVersion(version?.text ?? '')
      return read.ok && channels[0] ? [{ version: read.value, channel: channels[0].text }] : []
    })
    .sort((a, b) => compareVersions(a.version, b.version))[0]
  return lowest?.channel ?? ''
}

/** The templates referenced by touched releases, with their catalogs. */
export function listTemplatesUsedByReleases(
  sources: PackageDirectoryState,
): readonly TemplateCatalogMapping[] {
  const { fbc } = parseCiYaml(sources) ?? {}
  if (fbc?.enabled !== true) return []
  const named = new Set(listTemplateUpdatesForBundles(sources).map(({ template }) => template))
  return fbc.catalog_mapping.filter(({ template_name: name }) => named.has(name))
}

/** One result per template. Applies all releases in the change that reference it, in order. */
export function computeCatalogsFromTemplates(
  sources: PackageDirectoryState,
  read: ReadonlyMap<string, LoadedTemplate>,
  imageOf: BundleImageNameFormatter,
): readonly PostReleaseCatalog[] {
  return listTemplatesUsedByReleases(sources).flatMap((mapping) => {
    const template = read.get(mapping.template_name)
    return template ? computeCatalogsFromTemplate(sources, mapping, template, imageOf) : []
  })
}

function listTemplateUpdatesForBundles(sources: PackageDirectoryState): readonly TemplateUpdateForBundle[] {
  return [...sources.touched, ...(sources.configured ?? [])].flatMap(({ root, version, rendered }) => {
    const config = sources.releaseConfigs.find(({ path }) => path.startsWith(`${root}/`))
    const name = rendered?.blob.name
    if (!config || !rendered || name === undefined) return []
    const { value, locationOf } = parsePackageSettings(config, releaseConfigSchema)
    return (value?.catalog_templates ?? []).map((entry, index): TemplateUpdateForBundle => {
      const path = ['catalog_templates', index]
      const edge = (['replaces', 'skipRange', 'skips'] as const).find((key) => entry[key] !== undefined)
      return {
        template: entry.template_name,
        name,
        version,
        bundle: rendered,
        channels: entry.channels,
        replaces: entry.replaces,
        skips: entry.skips,
        skipRange: entry.skipRange,
        at: {
          whole: locationOf([...path, 'template_name']),
          ...(edge !== undefined && { edges: locationOf([...path, edge]) }),
        },
      }
    })
  })
}

function computeCatalogsFromTemplate(
  sources: PackageDirectoryState,
  { template_name: template, type, catalog_names: catalogs }: TemplateCatalogMapping,
  { bytes, isTooLarge, known }: LoadedTemplate,
  imageOf: BundleImageNameFormatter,
): readonly PostReleaseCatalog[] {
  const { directory } = sources
  const releases = listTemplateUpdatesForBundles(sources).filter((release) => release.template === template)
  const [first] = releases
  if (!first) return []
  const common = { directory, kind: 'template' as const, catalogs, at: first.at, changes: [], images: [] }
  const unknown = (why: string) => [
    { ...common, unknown: `the rendered output of the template ${template} (${why})` },
  ]
  if (isTooLarge === true) return unknown('the template is too large')
  const bundles = new Map<string, RenderedBundle>(
    findAlreadyRenderedBundles(bytes ? parseTemplateSchemaName(bytes) : '', { known }),
  )
  const names = new Set([...bundles.values()].map(({ blob }) => blob.name))
  // Skips bundles that the catalogs already contain.
  const added = releases.filter(({ name }) => !names.has(name))
  if (added.length === 0) return []
  const source = createRenderedBundleLookup(
    bundles,
    (reference) => `the catalogs do not contain ${reference} yet`,
  )
  const base = bytes && getTemplateImages(bytes)
  if (base && !base.ok) return unknown(base.error)
  const hadBundles = bytes !== undefined && base?.ok === true && base.value.length > 0
  const rendered = hadBundles ? renderTemplate(bytes, source) : undefined
  if (rendered && !rendered.ok) return unknown(rendered.error)
  let amended = bytes
  for (const release of added) {
    const image = imageOf(directory, release.version)
    const its = release.bundle.blob
    bundles.set(image, {
      ...release.bundle,
      blob: { ...its, image, relatedImages: [...(its.relatedImages ?? []), { name: '', image }] },
    })
    // The package name can differ from the directory name.
    const next = addBundleToTemplate(amended, type, { ...release, package: its.package ?? directory, image })
    if (!next.ok) return unknown(next.error)
    amended = next.value
  }
  const result = amended && renderTemplate(amended, source)
  if (!result) return []
  if (!result.ok) return unknown(result.error)
  return [
    {
      ...common,
      at: added[0]?.at ?? first.at,
      changes: computePostReleaseCatalogChanges(catalogs, rendered?.value, result.value),
      images: added.map(({ name, version }) => ({ name, image: imageOf(directory, version) })),
    },
  ]
}

function parseTemplateSchemaName(bytes: Uint8Array): string {
  const read = parseTemplateDocument(bytes)
  return read.ok ? read.value.schema : ''
}
