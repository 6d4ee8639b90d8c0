// Computes the catalogs before and after a change adds its bundles. The bundle images don't exist yet, so the catalogs
// contain a configured or placeholder name, and no findings concern the images.
import { type Catalog, assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import type { WritableCatalog } from '@catalog-bot/fbc/write/writable-catalog'
import { formatCatalogAsJsonLines } from '@catalog-bot/fbc/write/format-json'
import type { Location, Finding } from '@catalog-bot/findings/finding'
import type { RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import type { BundleUpgradeMetadata } from '@catalog-bot/bundle/bundle-upgrade-metadata'
import type { CatalogChange } from '../../pull-request/change.ts'
import { expandBundleImageTemplate } from '../../config/catalog-sources.ts'
import { describePullRequestChange } from '../../pull-request/describe-change.ts'
import { toBlobSha } from '../../pull-request/ids.ts'

export interface PackageDirectoryState {
  /** The package's directory below `operators/`. */
  readonly directory: string
  /** Sorted by name. */
  readonly touched: readonly TouchedBundle[]
  /** All bundle directories of the result by name. Absent if they exceed the size limit; edges are then not checked. */
  readonly bundles?: ReadonlyMap<string, BundleUpgradeMetadata>
  readonly published?: ReadonlyMap<string, BundleUpgradeMetadata>
  /** Package names declared by the base's bundle directories. */
  readonly declared: ReadonlySet<string>
  /** The requested bundle names that this package's catalogs in the result contain, with those catalogs. */
  readonly catalogs: ReadonlyMap<string, readonly string[]>
  readonly ciYaml?: PackageSettingsFile & { readonly isTouched: boolean }
  /** Present only if the change touches it and the base has one. */
  readonly ciYamlBefore?: PackageSettingsFile
  /** Only files that the change touches. */
  readonly releaseConfigs: readonly PackageSettingsFile[]
  /** Bundles of which the change touches only `release-config.yaml`. */
  readonly configured?: readonly Pick<TouchedBundle, 'root' | 'version' | 'rendered'>[]
  /** File names in `catalog-templates/` of the result. */
  readonly templates: ReadonlySet<string>
}

export interface PackageSettingsFile {
  readonly path: string
  readonly text: string
}

export interface TouchedBundle {
  /** `operators/foo/1.2.3`. */
  readonly root: string
  readonly version: string
  readonly kind: 'added' | 'changed' | 'removed'
  /** The base's bundle, if the change removes it. */
  readonly removed?: BundleUpgradeMetadata
  /** The catalog form of the bundle without its image. Absent if the bundle is removed or opm can't read it. */
  readonly rendered?: RenderedBundle
  /** Findings in the result, including optional suites. Locations are relative to the bundle. */
  readonly findings: readonly Finding[]
}

/** All catalogs of one template, or the catalog generated from bundle directories. */
export interface PostReleaseCatalog {
  /** The package's directory below `operators/`. */
  readonly directory: string
  readonly kind: 'template' | 'directories'
  /** Catalog names. All catalogs change in the same way as the first. */
  readonly catalogs: readonly string[]
  readonly changes: readonly CatalogChange[]
  /** Why the future catalogs are unknown. If set, there are no changes. */
  readonly unknown?: string
  /** Where the author can fix a problem. */
  readonly at: { readonly whole: Location; readonly edges?: Location }
  readonly images: readonly { readonly name: string; readonly image: string }[]
}

const postReleaseCatalogFileName = 'catalog.json'
const gitRegularFileMode = '100644'
const [before, after] = ['0', '1'].map((digit) => ({
  mode: gitRegularFileMode,
  oid: toBlobSha(digit.repeat(40)),
}))

export function computePostReleaseCatalogChanges(
  names: readonly string[],
  base: WritableCatalog | undefined,
  result: WritableCatalog,
): readonly CatalogChange[] {
  const sides = { base: base && renderCatalogBytes(base), result: renderCatalogBytes(result) }
  const [old, now] = [sides.base && parseCatalogBytes(sides.base), parseCatalogBytes(sides.result)]
  const [first, ...others] = names
  if (first === undefined) return []
  const { catalogs } = describePullRequestChange({
    paths: [
      {
        path: `${first}/${postReleaseCatalogFileName}`,
        ...(old && before && { before }),
        ...(after && { after }),
      },
    ],
    layout: { catalogs: [{ root: first }] },
    catalogs: [{ root: first, version: first, ...(old && { base: old }), result: now }],
    treeFiles: { read: (side) => sides[side] },
  })
  const change = catalogs[0]
  return change ? [change, ...others.map((name) => ({ ...change, root: name, version: name }))] : []
}

function renderCatalogBytes(catalog: WritableCatalog): Uint8Array {
  return new TextEncoder().encode(formatCatalogAsJsonLines(catalog))
}

function parseCatalogBytes(bytes: Uint8Array): Catalog {
  return assembleCatalog([{ path: postReleaseCatalogFileName, facts: parseCatalogFile(bytes) }])
}

/** Returns the image name of a bundle directory before the build. */
export type BundleImageNameFormatter = (directory: string, version: string) => string

/** Uses the configured pattern, or a placeholder. */
export function createBundleImageNameFormatter(pattern: string | undefined): BundleImageNameFormatter {
  return (directory, version) =>
    (pattern === undefined ? undefined : expandBundleImageTemplate(pattern, directory, version)) ??
    formatPlaceholderImage(directory, version)
}

/** No registry can have this host (RFC 2606). */
export const placeholderRegistryPrefix = 'not-built.invalid/'

export function formatPlaceholderImage(directory: string, version: string): string {
  const repository = directory
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  const tag = version
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[.-]/, '_')
    .slice(0, 128)
  return `${placeholderRegistryPrefix}${repository || 'bundle'}:${tag}`
}
