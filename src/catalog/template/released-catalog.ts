// The file of a catalog once a bundle is released to it: rendered from its template as opm renders it, with the bundles that
// the file has already taken from the file itself. Their images are not pulled again: what a tag has become meanwhile is not
// this release's doing.
import type { Json } from '../../go/json/json.ts'
import {
  readWritable,
  type ReadResult,
  type WritableBundle,
  type WritableCatalog,
  type WritableEntry,
  type WritablePackage,
} from '../write/writable.ts'
import { writeJson } from '../write/write-json.ts'
import { writeYaml } from '../write/write-yaml.ts'
import type { BundleSource, RenderedBundle } from './bundle-source.ts'
import { renderTemplate } from './render-template.ts'
import { readTemplateDocument } from './template-file.ts'
import type { SemverEdges } from './semver-channels.ts'

/** A bundle to be released, in both ways in which catalogs keep bundles. */
export interface ReleasedBundle {
  readonly image: string
  /** With all its manifests. */
  readonly withObjects: WritableBundle
  /** With what catalogs show of its ClusterServiceVersion. */
  readonly withMetadata: WritableBundle
  readonly csv?: Json
}

export interface CatalogFile {
  /** What its builders call the catalog: `v4.20`. */
  readonly catalog: string
  readonly format: 'yaml' | 'json'
  /** Absent: there is none yet. */
  readonly bytes?: Uint8Array
  /** The template before the release. Absent: there was none. */
  readonly templateBefore?: Uint8Array
  /** Files of other catalogs that are rendered from the template: they may have what this one lacks. */
  readonly others?: readonly Uint8Array[]
}

/** Rendered from a template that names the released bundles already. Errors are for people. */
export function releasedCatalog(
  template: Uint8Array,
  { catalog, format, bytes, templateBefore, others = [] }: CatalogFile,
  released: readonly ReleasedBundle[],
): ReadResult<Uint8Array> {
  const before = readWritable(bytes ? [bytes] : [])
  if (!before.ok) return before
  const bundles = new Map<string, RenderedBundle>()
  for (const blob of before.value.bundles) if (!bundles.has(blob.image)) bundles.set(blob.image, { blob })
  const keepsObjects = hasObjects(before.value, catalog)
  const kept = keepsObjects ? 'olm.bundle.object' : 'olm.csv.metadata'
  for (const other of others) {
    const read = readWritable([other])
    for (const blob of read.ok ? read.value.bundles : [])
      if (!bundles.has(blob.image) && blob.properties?.some(({ type }) => type === kept) === true)
        bundles.set(blob.image, { blob })
  }
  for (const { image, withObjects, withMetadata, csv } of released)
    bundles.set(image, { blob: keepsObjects ? withObjects : withMetadata, ...(csv !== undefined && { csv }) })
  const source: BundleSource = (reference) => {
    const bundle = bundles.get(reference)
    return bundle
      ? { ok: true, value: [bundle] }
      : { ok: false, error: `the catalog ${catalog} does not have ${reference}, which the template names` }
  }
  const edges = templateBefore && edgesOf(templateBefore, before.value, source)
  const rendered = renderTemplate(template, source, { ...(edges && { edges }) })
  if (!rendered.ok) return rendered
  const described = isSemver(template) ? withDescriptions(rendered.value, before.value, released) : rendered
  if (!described.ok) return described
  const text = format === 'json' ? writeJson(described.value) : writeYaml(described.value)
  return { ok: true, value: new TextEncoder().encode(text) }
}

/**
 * Who makes the catalogs may use an opm that makes other edges of a semver template: where only those give the catalog that
 * is there, they stay. Another way to make them is not this release's doing.
 */
function edgesOf(
  template: Uint8Array,
  { channels }: WritableCatalog,
  source: BundleSource,
): SemverEdges | undefined {
  const ways = (['across-channels', 'within-channels'] as const).flatMap((edges) => {
    const rendered = renderTemplate(template, source, { edges })
    return rendered.ok ? [{ edges, channels: rendered.value.channels }] : []
  })
  // Where both ways give the same edges, they still list them in different orders.
  for (const textOf of [channelsAsText, channelsInAnyOrder]) {
    const wanted = textOf(channels)
    const found = ways.find((way) => textOf(way.channels) === wanted)
    if (found) return found.edges
  }
  return undefined
}

function channelsAsText(channels: WritableCatalog['channels']): string {
  return JSON.stringify(channels.map(({ name, entries }) => [name, (entries ?? []).map(entryText)]))
}

function channelsInAnyOrder(channels: WritableCatalog['channels']): string {
  const sorted = channels.map((channel) => ({
    ...channel,
    entries: (channel.entries ?? [])
      .map((entry) => ({ ...entry, skips: (entry.skips ?? []).toSorted() }))
      .sort(byText),
  }))
  return channelsAsText(sorted.sort(byText))
}

function entryText({ name, replaces = '', skipRange = '', skips = [] }: WritableEntry): string {
  return JSON.stringify([name, replaces, skipRange, ...skips])
}

const byText = (a: { readonly name: string }, b: typeof a): number => (a.name < b.name ? -1 : 1)

/** As the catalog does it; an empty one by its version: OpenShift reads metadata since 4.17. */
function hasObjects({ bundles }: WritableCatalog, catalog: string): boolean {
  const types = bundles.flatMap(({ properties = [] }) => properties.map(({ type }) => type))
  if (types.includes('olm.csv.metadata')) return false
  if (types.includes('olm.bundle.object')) return true
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})$/.exec(catalog) ?? []
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 17))
}

/** In every other template people write the package down themselves. */
function isSemver(template: Uint8Array): boolean {
  const read = readTemplateDocument(template)
  return read.ok && read.value.schema === 'olm.semver'
}

/**
 * A semver template takes the package's description and icon from the head of the default channel, since opm v1.65.0: who
 * makes the catalogs with an older one has none, and gets none. Of a bundle whose ClusterServiceVersion only its image has,
 * the file says what they are, as long as that bundle stays the head.
 */
function withDescriptions(
  rendered: WritableCatalog,
  before: WritableCatalog,
  released: readonly ReleasedBundle[],
): ReadResult<WritableCatalog> {
  const packages: WritablePackage[] = []
  for (const one of rendered.packages) {
    const old = before.packages.find(({ name }) => name === one.name)
    const isDescribed = one.description !== undefined || one.icon !== undefined
    const isNew = released.some(({ withMetadata }) => withMetadata.name === headOf(rendered, one))
    const wasDescribed = old !== undefined && (old.description !== undefined || old.icon !== undefined)
    const { description: _, icon: __, ...plain } = one
    if (old !== undefined && !wasDescribed) packages.push(plain)
    else if (isDescribed || isNew || !wasDescribed) packages.push(one)
    else if (headOf(rendered, one) === headOf(before, old))
      packages.push({
        ...one,
        ...(old.icon && { icon: old.icon }),
        ...(old.description !== undefined && { description: old.description }),
      })
    else
      return {
        ok: false,
        error: `the description of the package would be that of ${headOf(rendered, one) ?? 'another bundle'}, which only its image has`,
      }
  }
  return { ok: true, value: { ...rendered, packages } }
}

function headOf(
  { channels }: WritableCatalog,
  { name, defaultChannel }: WritablePackage,
): string | undefined {
  const channel = channels.find((one) => one.package === name && one.name === defaultChannel)
  return channel?.entries?.at(-1)?.name
}
