// Creates a package and its channels from bundle images grouped by stability. opm rejects unknown fields.
import { quoteLikeGo } from '../go/text.ts'
import { getJsonStringField } from '../go/json/json.ts'
import {
  decodeGoStruct,
  getDecodedStringField,
  getDecodedStructField,
  getDecodedStructList,
} from '../go/decode/decode.ts'
import {
  boolType,
  createNamedStringType,
  createSliceType,
  stringType,
  createStructType,
} from '../go/decode/go-type.ts'
import { parseVersion, formatVersion, type Version } from '../versions/version.ts'
import type { WritableCatalog } from '../write/writable-catalog.ts'
import { decodeYaml } from '../go/yaml/encoding.ts'
import { readYaml } from '../go/yaml/read-yaml.ts'
import {
  findBundlePropertyErrors,
  type RenderedBundleLookup,
  type RenderedBundle,
  getPackageDescriptionAndIcon,
} from './bundle-source.ts'
import {
  channelArchetypes,
  buildSemverChannels,
  type ChannelArchetype,
  type SemverChannelKind,
  type SemverEdgeStyle,
} from './semver-channels.ts'
import {
  failTemplate,
  prefixTemplateErrors,
  requireTemplateValue,
  type TemplateDocument,
} from './template-document.ts'

const channelBundlesStructType = createStructType('semver.channelBundles', {
  bundles: createSliceType(createStructType('semver.bundleEntry', { image: stringType })),
})
const semverTemplateStructType = createStructType('semver.SemverTemplateData', {
  schema: stringType,
  generateMajorChannels: boolType,
  generateMinorChannels: boolType,
  defaultChannelTypePreference: createNamedStringType('semver.StreamType'),
  candidate: channelBundlesStructType,
  fast: channelBundlesStructType,
  stable: channelBundlesStructType,
})

const jsonDecodingErrorPrefix = 'error unmarshaling JSON: while decoding JSON'
const semverSchemaMismatchMessage = 'readFile: input file has unknown schema, should be "olm.semver"'

interface SemverTemplateSettings {
  readonly kinds: readonly SemverChannelKind[]
  readonly preferred: SemverChannelKind
  readonly images: Readonly<Record<ChannelArchetype, readonly string[]>>
}

export interface RenderTemplateOptions {
  /** Defaults to the newest opm's edges. */
  readonly edges?: SemverEdgeStyle
}

/** Like opm, does not validate the result. Throws a TemplateError. */
export function renderSemverTemplate(
  template: TemplateDocument,
  source: RenderedBundleLookup,
  { edges }: RenderTemplateOptions = {},
): WritableCatalog {
  const { images, kinds, preferred } = parseSemverTemplateSettings(template)
  const rendered = new Map<string, RenderedBundle>()
  for (const image of listUniqueImages(images)) {
    const found = requireTemplateValue(source(image))
    const [bundle] = found
    if (!bundle || found.length !== 1)
      failTemplate(`bundle reference ${quoteLikeGo(image)} resulted in ${found.length} bundles, expected 1`)
    rendered.set(image, bundle)
  }
  if (rendered.size === 0) failTemplate('render: no bundles specified or no bundles could be rendered')
  const { versions, name } = prefixTemplateErrors('render: unable to post-process bundle info: ', () =>
    groupVersionsByArchetype(images, rendered),
  )
  const { channels, defaultChannel } = buildSemverChannels({
    package: name,
    versions,
    kinds,
    preferred,
    ...(edges && { edges }),
  })
  const head = channels.find((channel) => channel.name === defaultChannel)?.entries?.at(-1)?.name
  const headBundle = [...rendered.values()].find(({ blob }) => (blob.name ?? '') === head)
  const described = headBundle && getPackageDescriptionAndIcon(headBundle)
  return {
    packages: [{ schema: 'olm.package', name, defaultChannel, ...described }],
    channels,
    bundles: [...rendered.values()].map(({ blob }) => blob),
    deprecations: [],
    others: [],
  }
}

/** In order, without duplicates. */
export function getSemverTemplateImages(template: TemplateDocument): string[] {
  return listUniqueImages(parseSemverTemplateSettings(template).images)
}

function listUniqueImages(images: SemverTemplateSettings['images']): string[] {
  return [...new Set(channelArchetypes.flatMap((archetype) => images[archetype]))]
}

/** opm parses the whole text strictly as YAML here, even if it found the schema in JSON. */
function parseSemverTemplateSettings({ bytes }: TemplateDocument): SemverTemplateSettings {
  const fail = (error: string): never => failTemplate(`render: unable to read file: ${error}`)
  const read = readYaml(decodeYaml(bytes), { isStrict: true })
  if (!read.ok) {
    const { message, stage } = read.error
    return fail(
      `${stage === 'converting' ? 'error converting YAML to JSON' : jsonDecodingErrorPrefix}: ${message}`,
    )
  }
  if (!read.value) return fail(semverSchemaMismatchMessage)
  const { decoded, problems } = decodeGoStruct(semverTemplateStructType, read.value, {
    isStrict: true,
    coerces: true,
  })
  if (problems[0]) return fail(`${jsonDecodingErrorPrefix}: ${problems[0].message}`)
  if (getDecodedStringField(decoded, 'schema') !== 'olm.semver') return fail(semverSchemaMismatchMessage)
  const major = decoded.fields.get('generateMajorChannels') === true
  // The default is minor channels.
  const minor = decoded.fields.get('generateMinorChannels') === true || !major
  const preference = getDecodedStringField(decoded, 'defaultChannelTypePreference')
  if (preference !== '' && preference !== 'minor' && preference !== 'major')
    return fail(
      `unknown DefaultChannelTypePreference: ${quoteLikeGo(preference)}\nValid values are 'major' or 'minor'`,
    )
  if ((preference === 'minor' && !minor) || (preference === 'major' && !major))
    return fail(
      `schema attribute mismatch: DefaultChannelTypePreference set to '${preference}' doesn't make sense if not generating ${preference}-version channels`,
    )
  const imagesOf = (archetype: ChannelArchetype) => {
    const list = getDecodedStructField(decoded, archetype)
    const bundles = list ? getDecodedStructList(list, 'bundles') : []
    return bundles.map((bundle) => getDecodedStringField(bundle, 'image'))
  }
  return {
    kinds: [...(major ? (['major'] as const) : []), ...(minor ? (['minor'] as const) : [])],
    preferred: preference === '' ? (minor ? 'minor' : 'major') : preference,
    images: { candidate: imagesOf('candidate'), fast: imagesOf('fast'), stable: imagesOf('stable') },
  }
}

function groupVersionsByArchetype(
  images: SemverTemplateSettings['images'],
  rendered: ReadonlyMap<string, RenderedBundle>,
): { name: string; versions: Record<ChannelArchetype, ReadonlyMap<string, Version>> } {
  const versions = { candidate: new Map(), fast: new Map(), stable: new Map() } as Record<
    ChannelArchetype,
    Map<string, Version>
  >
  let name: string | undefined
  for (const archetype of channelArchetypes) {
    for (const image of images[archetype]) {
      const blob = rendered.get(image)?.blob
      if (!blob)
        failTemplate(`supplied bundle image name ${quoteLikeGo(image)} not found in rendered bundle images`)
      const bundle = blob.name ?? ''
      const [wrong] = findBundlePropertyErrors(blob)
      if (wrong)
        failTemplate(
          `parse properties for bundle ${quoteLikeGo(bundle)}: parse property[${wrong.index}] of type ${quoteLikeGo(wrong.type)}: ${wrong.error}`,
        )
      const packages = (blob.properties ?? []).filter(({ type }) => type === 'olm.package')
      const [property] = packages
      if (!property || packages.length !== 1)
        failTemplate(
          `bundle ${quoteLikeGo(bundle)} has multiple "olm.package" properties, expected exactly 1`,
        )
      const text = getJsonStringField(property.value, 'version')
      const before = `bundle ${quoteLikeGo(bundle)} has invalid version ${quoteLikeGo(text)}: `
      const version = requireTemplateValue(parseVersion(text), before)
      const its = getJsonStringField(property.value, 'packageName')
      // opm's message contains the package name instead of the bundle name.
      if (name !== undefined && its !== name)
        failTemplate(`bundle ${quoteLikeGo(its)} does not belong to this package: ${quoteLikeGo(name)}`)
      name = its
      if (versions[archetype].has(bundle)) failTemplate(`duplicate bundle name ${quoteLikeGo(bundle)}`)
      versions[archetype].set(bundle, version)
    }
    rejectBuildMetadataConflicts(versions[archetype])
  }
  return { name: name ?? '', versions }
}

/** Versions that differ only by build metadata have no order. */
function rejectBuildMetadataConflicts(versions: ReadonlyMap<string, Version>): void {
  const seen = new Set<string>()
  const errors: string[] = []
  for (const version of versions.values()) {
    const stripped = formatVersion({ ...version, build: [] })
    if (seen.has(stripped))
      errors.push(
        `bundle version ${quoteLikeGo(formatVersion(version))} cannot be compared to ${quoteLikeGo(stripped)}`,
      )
    seen.add(stripped)
  }
  if (errors.length === 0) return
  const all = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`
  failTemplate(
    `encountered bundle versions which differ only by build metadata, which cannot be ordered: ${all}`,
  )
}
