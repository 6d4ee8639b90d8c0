// Computes the future catalog of a package without templates from its bundle directories and `updateGraph`.
import type { BundleUpgradeFacts } from '@catalog-bot/bundle/bundle-upgrade-facts'
import {
  deriveChannels,
  type UpdateGraphBundle,
  type UpdateGraphMode,
} from '@catalog-bot/fbc/graph/derive-channels'
import { compareVersions, parseVersion } from '@catalog-bot/fbc/versions/version'
import type { WritableCatalog } from '@catalog-bot/fbc/write/writable-catalog'
import type { Location } from '@catalog-bot/findings/finding'
import {
  computeProjectedCatalogChanges,
  type ProjectedCatalog,
  type BundleImageNameFormatter,
} from './projected-catalog.ts'
import { listTouchedBundlesWithFacts } from './bundle-edges.ts'
import { hasUpdateGraphModeChange, findUpdateGraphMode } from './validate-package-settings.ts'
import { ciYamlSchema } from './package-settings.ts'
import type { PackageSources } from './package-sources.ts'
import { parsePackageSettings } from './settings-file.ts'

/**
 * Empty if the change touches neither a bundle nor the graph mode, if templates define the catalogs, or if the
 * directories are too large.
 */
export function projectCatalogsFromDirectories(
  sources: PackageSources,
  imageOf: BundleImageNameFormatter,
): readonly ProjectedCatalog[] {
  const { directory, touched, bundles, published, ciYaml, ciYamlBefore } = sources
  // An unreadable ci.yaml is reported elsewhere.
  const graphMode = findUpdateGraphMode(ciYaml)
  const isOtherGraph = hasUpdateGraphModeChange(sources)
  if (!graphMode || !bundles || !published || (touched.length === 0 && !isOtherGraph)) return []
  // The catalogs contain bundles without directories, so the directories don't show all edges.
  if (sources.catalogs.size > 0) return []
  const modeBefore = isOtherGraph ? (findUpdateGraphMode(ciYamlBefore) ?? graphMode) : graphMode
  const before = buildCatalogFromDirectories(directory, published, { graphMode: modeBefore, imageOf })
  const after = buildCatalogFromDirectories(directory, bundles, { graphMode, imageOf })
  const present = listTouchedBundlesWithFacts(sources)
  const at = present[0] ? findBundleLocations(present[0]) : findUpdateGraphLocation(sources)
  // A package without bundles has no catalog.
  if (!after || !at) return []
  return [
    {
      directory,
      kind: 'directories',
      catalogs: [graphMode],
      changes: computeProjectedCatalogChanges([graphMode], before, after),
      at,
      images: present.flatMap(({ bundle, facts }) =>
        facts.name && bundle.kind === 'added'
          ? [{ name: facts.name.text, image: imageOf(directory, bundle.version) }]
          : [],
      ),
    },
  ]
}

function findBundleLocations({
  bundle,
  facts,
}: ReturnType<typeof listTouchedBundlesWithFacts>[number]): ProjectedCatalog['at'] | undefined {
  const within = ({ at }: { readonly at: Location }): Location => ({
    ...at,
    file: `${bundle.root}/${at.file}`,
  })
  const { name, replaces, version } = facts
  const whole = name ?? version
  return whole && { whole: within(whole), ...(replaces && { edges: within(replaces) }) }
}

/** The graph setting in ci.yaml, if the change touches only that. */
function findUpdateGraphLocation({ ciYaml }: PackageSources): ProjectedCatalog['at'] | undefined {
  return ciYaml?.isTouched === true
    ? { whole: parsePackageSettings(ciYaml, ciYamlSchema).locationOf(['updateGraph']) }
    : undefined
}

function buildCatalogFromDirectories(
  directory: string,
  bundles: ReadonlyMap<string, BundleUpgradeFacts>,
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
  // validate-touched-bundles.ts reports duplicate names.
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
function chooseDefaultChannel(bundles: ReadonlyMap<string, BundleUpgradeFacts>): string {
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
