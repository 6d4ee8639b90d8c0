// Differences between a rendered template and the catalog, except in order, formatting, and kind of metadata.
import { type BundleBlob, type Catalog, assembleCatalog } from '../facts/catalog.ts'
import { sortByBytes } from '../go/text.ts'
import { toSortedJson } from '../go/json/json.ts'
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import { formatCatalogAsJsonLines } from '../write/format-json.ts'
import type { WritableCatalog } from '../write/writable-catalog.ts'
import { toFindingLocation } from '../model/model.ts'

/** `missing`: only in the rendered template. `extra`: only in the catalog. */
export type TemplateDriftKind = 'missing' | 'extra' | 'differs'

export interface TemplateDrift {
  readonly kind: TemplateDriftKind
  /** For example `bundle foo.v1` or `entry foo.v1 of channel stable`. */
  readonly subject: string
  readonly package: string
  /** The fields that differ. Only for `differs`. */
  readonly fields: readonly string[]
  /** The location of the subject or its parent in the checked-in catalog. */
  readonly at?: { readonly file: string; readonly line: number; readonly column: number }
}

export interface TemplateDriftOptions {
  /** False if the rendered side does not contain the package's description and icon. */
  readonly comparesDescriptions: boolean
}

/** opm can move metadata from one of these to the other. */
export const bundleMetadataPropertyTypes: ReadonlySet<string> = new Set([
  'olm.bundle.object',
  'olm.csv.metadata',
])

/** Packages first, then channels, bundles, deprecations, and other blobs, each sorted by name. */
export function computeTemplateDrift(
  rendered: WritableCatalog,
  checkedIn: Catalog,
  options: TemplateDriftOptions,
): readonly TemplateDrift[] {
  const expected = collectComparableObjects(toComparableCatalog(rendered), options)
  const present = collectComparableObjects(checkedIn, options)
  const drifts: TemplateDrift[] = []
  for (const [key, statement] of expected) {
    const found = present.get(key)
    if (!found) {
      const whole = statement.within === undefined ? undefined : present.get(statement.within)
      // A missing channel is one difference, not one per entry.
      if (statement.within === undefined || whole)
        drifts.push({ ...createTemplateDrift('missing', statement, []), ...(whole && { at: whole.at }) })
      continue
    }
    const fields = Object.keys(statement.fields).filter(
      (name) => statement.fields[name] !== found.fields[name],
    )
    if (fields.length > 0) drifts.push({ ...createTemplateDrift('differs', statement, fields), at: found.at })
  }
  for (const [key, statement] of present)
    if (!expected.has(key) && (statement.within === undefined || expected.has(statement.within)))
      drifts.push({ ...createTemplateDrift('extra', statement, []), at: statement.at })
  return drifts
}

/** One statement of a catalog. Equal strings have the same meaning. */
interface ComparableCatalogObject {
  readonly subject: string
  readonly package: string
  readonly fields: Readonly<Record<string, string>>
  readonly at: NonNullable<TemplateDrift['at']>
  /** The parent statement. */
  readonly within?: string
}

function createTemplateDrift(
  kind: TemplateDriftKind,
  { subject, package: its }: ComparableCatalogObject,
  fields: readonly string[],
): TemplateDrift {
  return { kind, subject, package: its, fields }
}

/** Writes and reads the catalog, so that both sides are normalized the same way. */
function toComparableCatalog(catalog: WritableCatalog): Catalog {
  const bundles = catalog.bundles.map((bundle) => ({
    ...bundle,
    properties: (bundle.properties ?? []).filter(({ type }) => !bundleMetadataPropertyTypes.has(type)),
  }))
  const facts = parseCatalogFile(new TextEncoder().encode(formatCatalogAsJsonLines({ ...catalog, bundles })))
  return assembleCatalog([{ path: 'rendered.json', facts }])
}

function collectComparableObjects(catalog: Catalog, options: TemplateDriftOptions) {
  const all = new Map<string, ComparableCatalogObject>()
  const add = (key: readonly string[], statement: ComparableCatalogObject) =>
    all.set(JSON.stringify(key), statement)
  for (const { name, defaultChannel, description, icon, place } of catalog.packages)
    add(['package', name], {
      subject: `package ${name}`,
      package: name,
      fields: {
        'default channel': defaultChannel,
        ...(options.comparesDescriptions && {
          description,
          icon: icon ? `${icon.mediatype} ${icon.bytes}` : '',
        }),
      },
      at: toFindingLocation(place),
    })
  for (const channel of catalog.channels) {
    const { name, package: its, place } = channel
    const key = ['channel', its, name]
    add(key, { subject: `channel ${name}`, package: its, fields: {}, at: toFindingLocation(place) })
    for (const { name: entry, replaces, skips, skipRange, mark } of channel.entries)
      add([...key, entry], {
        subject: `entry ${entry} of channel ${name}`,
        package: its,
        fields: { replaces, skips: JSON.stringify(sortByBytes(new Set(skips))), skipRange },
        at: toFindingLocation(place, mark),
        within: JSON.stringify(key),
      })
  }
  for (const bundle of catalog.bundles) {
    const { name, package: its, place } = bundle
    add(['bundle', its, name], {
      subject: `bundle ${name}`,
      package: its,
      fields: formatBundleFieldsForComparison(bundle),
      at: toFindingLocation(place),
    })
  }
  for (const { package: its, entries, place } of catalog.deprecations)
    for (const { schema, name, message, mark } of entries)
      add(['deprecation', its, schema, name], {
        subject: `deprecation of ${[schema.replace(/^olm\./, ''), name].filter(Boolean).join(' ')}`,
        package: its,
        fields: { message },
        at: toFindingLocation(place, mark),
      })
  // Only the names of custom blobs are compared.
  for (const { schema, package: its, name, place } of catalog.others)
    add(['other', schema, its, name], {
      subject: `${schema} blob${name === '' ? '' : ` ${name}`}`,
      package: its,
      fields: {},
      at: toFindingLocation(place),
    })
  return all
}

/** Ignores the metadata. */
export function hasSameBundleFields(a: BundleBlob, b: BundleBlob): boolean {
  const [ours, theirs] = [formatBundleFieldsForComparison(a), formatBundleFieldsForComparison(b)]
  return (
    a.name === b.name &&
    a.package === b.package &&
    Object.keys(ours).every((key) => ours[key] === theirs[key])
  )
}

function formatBundleFieldsForComparison({
  image,
  properties,
  relatedImages,
}: BundleBlob): Readonly<Record<string, string>> {
  const listed = properties
    .filter(({ type }) => !bundleMetadataPropertyTypes.has(type))
    .map(({ type, value }) => `${type} ${toSortedJson(value)}`)
  return {
    image,
    properties: JSON.stringify(sortByBytes(new Set(listed))),
    'related images': JSON.stringify(
      sortByBytes(new Set(relatedImages.map((related) => `${related.image} ${related.name}`))),
    ),
  }
}
