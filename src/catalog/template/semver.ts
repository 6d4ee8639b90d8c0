// The semver template: bundle images by stability, from which package and channels are made. Read strictly: a field
// that opm does not know is an error, in any spelling of the others' case.
import { decodeBase64 } from '../base64.ts'
import type { Json } from '../catalog.ts'
import { quote } from '../go-text.ts'
import { textField } from '../json-fields.ts'
import { decode, structsOf, textOf, type Decoded } from '../load/decode.ts'
import { foldCase } from '../load/fold-case.ts'
import { bool, slice, string, struct, type StructType } from '../load/go-type.ts'
import { sortedEntries } from '../json/json-text.ts'
import type { Value } from '../tree.ts'
import { parseVersion, versionText, type Version } from '../version.ts'
import type { ReadResult, WritableCatalog, WritablePackage } from '../write/writable.ts'
import { below, csvOf, type BundleSource, type RenderedBundle } from './bundle-source.ts'
import { archetypes, semverChannels, type Archetype, type Kind } from './semver-channels.ts'
import type { TemplateDocument } from './template-file.ts'

const channelBundles = struct('semver.channelBundles', {
  bundles: slice(struct('semver.bundleEntry', { image: string })),
})
const templateType = struct('semver.SemverTemplateData', {
  schema: string,
  generateMajorChannels: bool,
  generateMinorChannels: bool,
  defaultChannelTypePreference: string,
  candidate: channelBundles,
  fast: channelBundles,
  stable: channelBundles,
})

interface Settings {
  readonly kinds: readonly Kind[]
  readonly preferred: Kind
  readonly images: Readonly<Record<Archetype, readonly string[]>>
}

/** Renders it: package, channels and bundles. Not validated, as in opm. */
export function renderSemver(template: TemplateDocument, source: BundleSource): ReadResult<WritableCatalog> {
  const settings = readSettings(template)
  if (!settings.ok) return { ok: false, error: `render: unable to read file: ${settings.error}` }
  const { images, kinds, preferred } = settings.value
  const rendered = new Map<string, RenderedBundle>()
  for (const image of new Set(archetypes.flatMap((archetype) => images[archetype]))) {
    const found = source(image)
    if (!found.ok) return found
    const [bundle] = found.value
    if (!bundle || found.value.length !== 1)
      return failed(`bundle reference ${quote(image)} resulted in ${found.value.length} bundles, expected 1`)
    rendered.set(image, bundle)
  }
  if (rendered.size === 0) return failed('render: no bundles specified or no bundles could be rendered')
  const found = versionsOf(images, rendered)
  if (!found.ok) return failed(`render: unable to post-process bundle info: ${found.error}`)
  const { versions, name } = found.value
  const { channels, defaultChannel } = semverChannels({ package: name, versions, kinds, preferred })
  const head = channels.find((channel) => channel.name === defaultChannel)?.entries?.at(-1)?.name
  const headBundle = [...rendered.values()].find(({ blob }) => blob.name === head)
  return {
    ok: true,
    value: {
      packages: [
        { schema: 'olm.package', name, defaultChannel, ...(headBundle && describe(csvOf(headBundle))) },
      ],
      channels,
      bundles: [...rendered.values()].map(({ blob }) => blob),
      deprecations: [],
      others: [],
    },
  }
}

/** The references it needs, in order, each once. */
export function semverImages(template: TemplateDocument): ReadResult<string[]> {
  const settings = readSettings(template)
  if (!settings.ok) return { ok: false, error: `render: unable to read file: ${settings.error}` }
  return {
    ok: true,
    value: [...new Set(archetypes.flatMap((archetype) => settings.value.images[archetype]))],
  }
}

function readSettings({ value, places }: TemplateDocument): ReadResult<Settings> {
  const repeated = firstRepeated(value)
  if (repeated)
    return failed(
      `error converting YAML to JSON: yaml: unmarshal errors:\n  line ${places.mark(repeated.start).line}: key ${quote(repeated.key)} already set in map`,
    )
  const { decoded, problems } = decode(templateType, value)
  const strictly = 'error unmarshaling JSON: while decoding JSON: '
  if (problems[0]) return failed(`${strictly}${problems[0].message}`)
  const unknown = unknownField(templateType, value)
  if (unknown !== undefined) return failed(`${strictly}json: unknown field ${quote(unknown)}`)
  const major = decoded.fields.get('generateMajorChannels') === true
  // Without any choice minor channels are made.
  const minor = decoded.fields.get('generateMinorChannels') === true || !major
  const preference = textOf(decoded, 'defaultChannelTypePreference')
  const mismatch = (kind: Kind) =>
    failed(
      `schema attribute mismatch: DefaultChannelTypePreference set to '${kind}' doesn't make sense if not generating ${kind}-version channels`,
    )
  if (preference !== '' && preference !== 'minor' && preference !== 'major')
    return failed(
      `unknown DefaultChannelTypePreference: ${quote(preference)}\nValid values are 'major' or 'minor'`,
    )
  if (preference === 'minor' && !minor) return mismatch('minor')
  if (preference === 'major' && !major) return mismatch('major')
  const imagesOf = (archetype: Archetype) => {
    const list = decoded.fields.get(archetype)
    return isStruct(list) ? structsOf(list, 'bundles').map((bundle) => textOf(bundle, 'image')) : []
  }
  return {
    ok: true,
    value: {
      kinds: [...(major ? (['major'] as const) : []), ...(minor ? (['minor'] as const) : [])],
      preferred: preference === '' ? (minor ? 'minor' : 'major') : preference,
      images: { candidate: imagesOf('candidate'), fast: imagesOf('fast'), stable: imagesOf('stable') },
    },
  }
}

function versionsOf(
  images: Settings['images'],
  rendered: ReadonlyMap<string, RenderedBundle>,
): ReadResult<{ name: string; versions: Record<Archetype, ReadonlyMap<string, Version>> }> {
  const versions = { candidate: new Map(), fast: new Map(), stable: new Map() } as Record<
    Archetype,
    Map<string, Version>
  >
  let name: string | undefined
  for (const archetype of archetypes) {
    for (const image of images[archetype]) {
      const blob = rendered.get(image)?.blob
      if (!blob)
        return failed(`supplied bundle image name ${quote(image)} not found in rendered bundle images`)
      const bundle = blob.name ?? ''
      const packages = (blob.properties ?? []).filter(({ type }) => type === 'olm.package')
      const [property] = packages
      if (!property || packages.length !== 1)
        return failed(`bundle ${quote(bundle)} has multiple "olm.package" properties, expected exactly 1`)
      const text = textField(property.value, 'version')
      const version = parseVersion(text)
      if (!version.ok)
        return failed(`bundle ${quote(bundle)} has invalid version ${quote(text)}: ${version.error}`)
      const its = textField(property.value, 'packageName')
      // opm names the package where its sentence promises the bundle.
      if (name !== undefined && its !== name)
        return failed(`bundle ${quote(its)} does not belong to this package: ${quote(name)}`)
      name = its
      if (versions[archetype].has(bundle)) return failed(`duplicate bundle name ${quote(bundle)}`)
      versions[archetype].set(bundle, version.value)
    }
    const conflict = buildConflict(versions[archetype])
    if (conflict !== undefined) return failed(conflict)
  }
  return { ok: true, value: { name: name ?? '', versions } }
}

/** Versions that differ only by build metadata have no order. */
function buildConflict(versions: ReadonlyMap<string, Version>): string | undefined {
  const seen = new Set<string>()
  const errors: string[] = []
  for (const version of versions.values()) {
    const stripped = versionText({ ...version, build: [] })
    if (seen.has(stripped))
      errors.push(`bundle version ${quote(versionText(version))} cannot be compared to ${quote(stripped)}`)
    seen.add(stripped)
  }
  if (errors.length === 0) return undefined
  const all = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`
  return `encountered bundle versions which differ only by build metadata, which cannot be ordered: ${all}`
}

/** Description and first icon of a ClusterServiceVersion, for the package blob. */
function describe(csv: Json | undefined): Pick<WritablePackage, 'description' | 'icon'> {
  const description = below(csv, 'spec', 'description')
  const icons = below(csv, 'spec', 'icon')
  const [icon] = Array.isArray(icons) ? (icons as readonly Json[]) : []
  const data = below(icon, 'base64data')
  const mediatype = below(icon, 'mediatype')
  const bytes = typeof data === 'string' ? decodeBase64(data) : undefined
  return {
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(icon !== undefined &&
      typeof bytes !== 'number' && {
        icon: {
          // Read and written again, line breaks in it are gone.
          base64data: typeof data === 'string' ? data.replace(/[\r\n]/g, '') : null,
          mediatype: typeof mediatype === 'string' ? mediatype : '',
        },
      }),
  }
}

function firstRepeated(root: Value): { key: string; start: number } | undefined {
  const todo: Value[] = [root]
  for (let value = todo.shift(); value; value = todo.shift()) {
    if (value.kind === 'map') {
      if (value.repeated?.[0]) return value.repeated[0]
      todo.push(...value.entries.map((entry) => entry.value))
    } else if (value.kind === 'list') todo.push(...value.items)
  }
  return undefined
}

function unknownField(type: StructType, value: Value): string | undefined {
  if (value.kind !== 'map') return undefined
  for (const entry of sortedEntries(value.entries)) {
    const name = Object.keys(type.fields).find((field) => foldCase(field) === foldCase(entry.key))
    if (name === undefined) return entry.key
    const inner = type.fields[name]
    const structs =
      inner?.kind === 'struct'
        ? inner
        : inner?.kind === 'slice' && inner.element.kind === 'struct'
          ? inner.element
          : undefined
    if (!structs) continue
    for (const item of entry.value.kind === 'list' ? entry.value.items : [entry.value]) {
      const found = unknownField(structs, item)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function isStruct(value: unknown): value is Decoded {
  return typeof value === 'object' && value !== null && 'fields' in value
}

function failed(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
