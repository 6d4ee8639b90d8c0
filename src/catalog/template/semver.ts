// The semver template makes a package and its channels from bundle images by stability. opm rejects unknown fields.
import { quote } from '../../go/text.ts'
import { textField } from '../../go/json/json-fields.ts'
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { bool, namedString, slice, string, struct } from '../../go/decode/go-type.ts'
import { parseVersion, versionText, type Version } from '../versions/version.ts'
import type { ReadResult, WritableCatalog } from '../write/writable.ts'
import { decodeYaml } from '../../go/yaml/encoding.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import { propertyErrors, type BundleSource, type RenderedBundle } from './bundle-source.ts'
import { describedBy } from './csv-of-bundle.ts'
import { archetypes, semverChannels, type Archetype, type Kind, type SemverEdges } from './semver-channels.ts'
import type { TemplateDocument } from './template-file.ts'

const channelBundles = struct('semver.channelBundles', {
  bundles: slice(struct('semver.bundleEntry', { image: string })),
})
const templateType = struct('semver.SemverTemplateData', {
  schema: string,
  generateMajorChannels: bool,
  generateMinorChannels: bool,
  defaultChannelTypePreference: namedString('semver.StreamType'),
  candidate: channelBundles,
  fast: channelBundles,
  stable: channelBundles,
})

const decoding = 'error unmarshaling JSON: while decoding JSON'
const schemaMismatch = 'readFile: input file has unknown schema, should be "olm.semver"'

interface Settings {
  readonly kinds: readonly Kind[]
  readonly preferred: Kind
  readonly images: Readonly<Record<Archetype, readonly string[]>>
}

export interface RenderOptions {
  /** Defaults to the newest opm's edges. */
  readonly edges?: SemverEdges
}

/** Like opm, doesn't validate the result. */
export function renderSemver(
  template: TemplateDocument,
  source: BundleSource,
  { edges }: RenderOptions = {},
): ReadResult<WritableCatalog> {
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
  const { channels, defaultChannel } = semverChannels({
    package: name,
    versions,
    kinds,
    preferred,
    ...(edges && { edges }),
  })
  const head = channels.find((channel) => channel.name === defaultChannel)?.entries?.at(-1)?.name
  const headBundle = [...rendered.values()].find(({ blob }) => (blob.name ?? '') === head)
  return {
    ok: true,
    value: {
      packages: [{ schema: 'olm.package', name, defaultChannel, ...(headBundle && describedBy(headBundle)) }],
      channels,
      bundles: [...rendered.values()].map(({ blob }) => blob),
      deprecations: [],
      others: [],
    },
  }
}

/** In order, without duplicates. */
export function semverImages(template: TemplateDocument): ReadResult<string[]> {
  const settings = readSettings(template)
  if (!settings.ok) return { ok: false, error: `render: unable to read file: ${settings.error}` }
  return {
    ok: true,
    value: [...new Set(archetypes.flatMap((archetype) => settings.value.images[archetype]))],
  }
}

/** opm parses the whole text strictly as YAML here, even if it found the schema in JSON. */
function readSettings({ bytes }: TemplateDocument): ReadResult<Settings> {
  const read = readYaml(decodeYaml(bytes), { isStrict: true })
  if (!read.ok) {
    const { message, stage } = read.error
    return failed(`${stage === 'converting' ? 'error converting YAML to JSON' : decoding}: ${message}`)
  }
  if (!read.value) return failed(schemaMismatch)
  const { decoded, problems } = decode(templateType, read.value, { isStrict: true, coerces: true })
  if (problems[0]) return failed(`${decoding}: ${problems[0].message}`)
  if (textOf(decoded, 'schema') !== 'olm.semver') return failed(schemaMismatch)
  const major = decoded.fields.get('generateMajorChannels') === true
  // The default is minor channels.
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
      const [wrong] = propertyErrors(blob)
      if (wrong)
        return failed(
          `parse properties for bundle ${quote(bundle)}: parse property[${wrong.index}] of type ${quote(wrong.type)}: ${wrong.error}`,
        )
      const packages = (blob.properties ?? []).filter(({ type }) => type === 'olm.package')
      const [property] = packages
      if (!property || packages.length !== 1)
        return failed(`bundle ${quote(bundle)} has multiple "olm.package" properties, expected exactly 1`)
      const text = textField(property.value, 'version')
      const version = parseVersion(text)
      if (!version.ok)
        return failed(`bundle ${quote(bundle)} has invalid version ${quote(text)}: ${version.error}`)
      const its = textField(property.value, 'packageName')
      // opm's message names the package where it should name the bundle.
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

function isStruct(value: unknown): value is Decoded {
  return typeof value === 'object' && value !== null && 'fields' in value
}

function failed(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
