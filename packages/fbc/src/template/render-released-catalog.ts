// Renders a catalog file for a released bundle. Uses existing bundles from the file instead of their images, because a
// moved tag must not change them in this release.
import type { Json } from '../go/json/json.ts'
import {
  parseWritableCatalog,
  type CatalogReadResult,
  type WritableBundle,
  type WritableCatalog,
  type WritableChannelEntry,
  type WritablePackage,
} from '../write/writable-catalog.ts'
import { formatCatalogJson } from '../write/format-json.ts'
import { formatCatalogYaml } from '../write/format-yaml.ts'
import {
  createRenderedBundleLookup,
  type RenderedBundleLookup,
  type RenderedBundle,
} from './bundle-source.ts'
import { renderTemplate } from './render-template.ts'
import { parseTemplateDocument } from './template-document.ts'
import type { SemverEdgeStyle } from './semver-channels.ts'

/** The bundle in both forms that catalogs use. */
export interface ReleasedBundle {
  readonly image: string
  readonly withObjects: WritableBundle
  /** With `olm.csv.metadata`. */
  readonly withMetadata: WritableBundle
  readonly csv?: Json
}

export interface ReleasedCatalogFile {
  /** The pipeline's name for the catalog, such as `v4.20`. */
  readonly catalog: string
  readonly format: 'yaml' | 'json'
  /** Absent for a new file. */
  readonly bytes?: Uint8Array
  /** Absent for a new template. */
  readonly templateBefore?: Uint8Array
  /** Other catalog files that are rendered from the same template and can contain bundles that this file lacks. */
  readonly others?: readonly Uint8Array[]
}

/** The template must already contain the released bundles. Errors are for display. */
export function renderReleasedCatalog(
  template: Uint8Array,
  { catalog, format, bytes, templateBefore, others = [] }: ReleasedCatalogFile,
  released: readonly ReleasedBundle[],
): CatalogReadResult<Uint8Array> {
  const before = parseWritableCatalog(bytes ? [bytes] : [])
  if (!before.ok) return before
  const bundles = new Map<string, RenderedBundle>()
  for (const blob of before.value.bundles) if (!bundles.has(blob.image)) bundles.set(blob.image, { blob })
  const keepsObjects = shouldUseBundleObjects(before.value, catalog)
  const retained = keepsObjects ? 'olm.bundle.object' : 'olm.csv.metadata'
  for (const other of others) {
    const read = parseWritableCatalog([other])
    for (const blob of read.ok ? read.value.bundles : [])
      if (!bundles.has(blob.image) && blob.properties?.some(({ type }) => type === retained) === true)
        bundles.set(blob.image, { blob })
  }
  for (const { image, withObjects, withMetadata, csv } of released)
    bundles.set(image, { blob: keepsObjects ? withObjects : withMetadata, ...(csv !== undefined && { csv }) })
  const source = createRenderedBundleLookup(
    bundles,
    (reference) => `the catalog ${catalog} does not contain ${reference}, which the template refers to`,
  )
  const edges = templateBefore && detectSemverTemplateEdgeStyle(templateBefore, before.value, source)
  const rendered = renderTemplate(template, source, { ...(edges && { edges }) })
  if (!rendered.ok) return rendered
  const described = isSemverTemplate(template)
    ? setPackageDescriptions(rendered.value, before.value, released)
    : rendered
  if (!described.ok) return described
  const text = format === 'json' ? formatCatalogJson(described.value) : formatCatalogYaml(described.value)
  return { ok: true, value: new TextEncoder().encode(text) }
}

/** Keeps the edge style of the current file, because some pipelines use an opm that creates different semver edges. */
function detectSemverTemplateEdgeStyle(
  template: Uint8Array,
  { channels }: WritableCatalog,
  source: RenderedBundleLookup,
): SemverEdgeStyle | undefined {
  const candidates = (['across-channels', 'within-channels'] as const).flatMap((edges) => {
    const rendered = renderTemplate(template, source, { edges })
    return rendered.ok ? [{ edges, channels: rendered.value.channels }] : []
  })
  // Both styles can give the same edges in a different order.
  for (const textOf of [formatChannelsForComparison, formatChannelsIgnoringOrder]) {
    const expectedText = textOf(channels)
    const found = candidates.find((candidate) => textOf(candidate.channels) === expectedText)
    if (found) return found.edges
  }
  return undefined
}

function formatChannelsForComparison(channels: WritableCatalog['channels']): string {
  return JSON.stringify(channels.map(({ name, entries }) => [name, (entries ?? []).map(formatChannelEntry)]))
}

function formatChannelsIgnoringOrder(channels: WritableCatalog['channels']): string {
  const sorted = channels.map((channel) => ({
    ...channel,
    entries: (channel.entries ?? [])
      .map((entry) => ({ ...entry, skips: (entry.skips ?? []).toSorted() }))
      .sort(compareByName),
  }))
  return formatChannelsForComparison(sorted.sort(compareByName))
}

function formatChannelEntry({ name, replaces = '', skipRange = '', skips = [] }: WritableChannelEntry) {
  return JSON.stringify([name, replaces, skipRange, ...skips])
}

const compareByName = (a: { readonly name: string }, b: typeof a): number => (a.name < b.name ? -1 : 1)

/**
 * Follows the existing catalog. For an empty catalog, the version decides, because OpenShift reads metadata since 4.17.
 */
function shouldUseBundleObjects({ bundles }: WritableCatalog, catalog: string): boolean {
  const types = bundles.flatMap(({ properties = [] }) => properties.map(({ type }) => type))
  if (types.includes('olm.csv.metadata')) return false
  if (types.includes('olm.bundle.object')) return true
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})$/.exec(catalog) ?? []
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 17))
}

/** Only semver templates generate the package blob. */
function isSemverTemplate(template: Uint8Array): boolean {
  const read = parseTemplateDocument(template)
  return read.ok && read.value.schema === 'olm.semver'
}

/**
 * Since opm v1.65.0, the package gets its description and icon from the head of the default channel. A catalog that an
 * older opm rendered has neither, so none are added. Keeps the file's values if the same head's ClusterServiceVersion
 * is only in its image.
 */
function setPackageDescriptions(
  rendered: WritableCatalog,
  before: WritableCatalog,
  released: readonly ReleasedBundle[],
): CatalogReadResult<WritableCatalog> {
  const packages: WritablePackage[] = []
  for (const one of rendered.packages) {
    const old = before.packages.find(({ name }) => name === one.name)
    const isDescribed = one.description !== undefined || one.icon !== undefined
    const isNew = released.some(
      ({ withMetadata }) => withMetadata.name === findDefaultChannelHead(rendered, one),
    )
    const wasDescribed = old !== undefined && (old.description !== undefined || old.icon !== undefined)
    const { description: _, icon: __, ...plain } = one
    if (old !== undefined && !wasDescribed) packages.push(plain)
    else if (isDescribed || isNew || !wasDescribed) packages.push(one)
    else if (findDefaultChannelHead(rendered, one) === findDefaultChannelHead(before, old))
      packages.push({
        ...one,
        ...(old.icon && { icon: old.icon }),
        ...(old.description !== undefined && { description: old.description }),
      })
    else
      return {
        ok: false,
        error: `only the image of ${findDefaultChannelHead(rendered, one) ?? 'another bundle'} contains the package description`,
      }
  }
  return { ok: true, value: { ...rendered, packages } }
}

function findDefaultChannelHead({ channels }: WritableCatalog, { name, defaultChannel }: WritablePackage) {
  const channel = channels.find((one) => one.package === name && one.name === defaultChannel)
  return channel?.entries?.at(-1)?.name
}
