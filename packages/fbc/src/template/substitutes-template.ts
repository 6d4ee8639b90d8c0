// The substitutes template consists of a valid catalog and of bundles that replace others in its channels.
import { assembleCatalog } from '../facts/catalog.ts'
import { quoteLikeGo } from '../go/text.ts'
import { getJsonStringField } from '../go/json/json.ts'
import { formatBlobJson } from '../go/json/json-text.ts'
import { getDecodedStructList, getDecodedStringField } from '../go/decode/decode.ts'
import { createSliceType, stringType, createStructType, type DecodedStruct } from '../go/decode/go-type.ts'
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import {
  comparePrereleaseIdentifiers,
  parseVersion,
  type Version,
  compareVersions,
  parseReleaseIdentifiers,
  type ReleaseIdentifiers,
} from '../versions/version.ts'
import { validateCatalog } from '../model/validate-catalog.ts'
import { formatCatalogAsJsonLines } from '../write/format-json.ts'
import {
  toWritableCatalog,
  type CatalogReadResult,
  type WritableCatalog,
  type WritableChannel,
  type WritableChannelEntry,
} from '../write/writable-catalog.ts'
import {
  findBundlePropertyErrors,
  type RenderedBundleLookup,
  type RenderedBundle,
  hasSubstitutesForAnnotation,
} from './bundle-source.ts'
import { templateEntriesType, decodeTemplateAndBlobs, type TemplateDocument } from './template-document.ts'

const substitutesTemplateStructType = createStructType('substitutes.SubstitutesTemplateData', {
  schema: stringType,
  entries: templateEntriesType,
  substitutions: createSliceType(
    createStructType('substitutes.Substitute', { name: stringType, base: stringType }),
  ),
})

interface BundleSubstitution {
  /** Image reference of the new bundle. */
  readonly name: string
  /** Name of the replaced bundle. */
  readonly base: string
}

/** Like opm, validates both the entries and the result. */
export function renderSubstitutesTemplate(
  template: TemplateDocument,
  source: RenderedBundleLookup,
): CatalogReadResult<WritableCatalog> {
  const parsed = decodeTemplateAndBlobs(substitutesTemplateStructType, template)
  if (!parsed.ok) return createSubstitutionError(`render: unable to parse template: ${parsed.error}`)
  const read = toWritableCatalog(parsed.value.blobs)
  if (!read.ok)
    return createSubstitutionError(`render: unable to create declarative config from entries: ${read.error}`)
  let catalog = read.value
  const complaint = findOpmValidationError(
    parsed.value.blobs.map(({ value }) => formatBlobJson(value)).join('\n'),
  )
  if (complaint !== undefined)
    return createSubstitutionError(`render: entries are not valid FBC: ${complaint}`)
  const bases = new Set<string>()
  const names = new Map<string, string>()
  for (const substitution of parseSubstitutions(parsed.value)) {
    const { name, base } = substitution
    if (bases.has(base))
      return createSubstitutionError(`render: cannot reuse the same substitution base ${quoteLikeGo(base)}`)
    bases.add(base)
    const other = names.get(name)
    if (other !== undefined)
      return createSubstitutionError(
        `render: cannot reuse the same substitution ${quoteLikeGo(name)} for different bases (${quoteLikeGo(other)} and ${quoteLikeGo(base)})`,
      )
    names.set(name, base)
    const result = applySubstitution(catalog, substitution, source)
    if (!result.ok)
      return createSubstitutionError(
        `render: error processing substitution ${quoteLikeGo(base)} -> ${quoteLikeGo(name)}: ${result.error}`,
      )
    catalog = result.value
  }
  return { ok: true, value: catalog }
}

/** In order, without duplicates. */
export function getSubstitutesTemplateImages(template: TemplateDocument): CatalogReadResult<string[]> {
  const parsed = decodeTemplateAndBlobs(substitutesTemplateStructType, template)
  if (!parsed.ok) return createSubstitutionError(`render: unable to parse template: ${parsed.error}`)
  const names = parseSubstitutions(parsed.value).map(({ name }) => name)
  return { ok: true, value: [...new Set(names)].filter((name) => name !== '') }
}

function parseSubstitutions(decoded: DecodedStruct): BundleSubstitution[] {
  return getDecodedStructList(decoded, 'substitutions').map((item) => ({
    name: getDecodedStringField(item, 'name'),
    base: getDecodedStringField(item, 'base'),
  }))
}

function applySubstitution(
  catalog: WritableCatalog,
  { name, base }: BundleSubstitution,
  source: RenderedBundleLookup,
): CatalogReadResult<WritableCatalog> {
  if (name === '') return createSubstitutionError('substitution name cannot be empty')
  if (base === '') return createSubstitutionError('substitution base cannot be empty')
  if (name === base) return createSubstitutionError('substitution name and base cannot be the same')
  const rendered = source(name)
  if (!rendered.ok)
    return createSubstitutionError(
      `failed to render bundle image reference ${quoteLikeGo(name)}: ${rendered.error}`,
    )
  const [bundle] = rendered.value
  if (!bundle)
    return createSubstitutionError(`rendered bundle image reference ${quoteLikeGo(name)} contains no bundles`)
  const its = parseVersionWithRelease(bundle)
  if (!its.ok)
    return createSubstitutionError(
      `failed to get VersionRelease for substitute bundle ${quoteLikeGo(name)}: ${its.error}`,
    )
  const old = catalog.bundles.find((candidate) => candidate.name === base)
  if (!old) return createSubstitutionError(`base bundle ${quoteLikeGo(base)} does not exist in catalog`)
  const before = parseVersionWithRelease({ blob: old })
  if (!before.ok)
    return createSubstitutionError(
      `failed to get VersionRelease for base bundle ${quoteLikeGo(base)}: ${before.error}`,
    )
  if (compareVersionsWithRelease(before.value, its.value) >= 0)
    return createSubstitutionError(
      `base bundle ${quoteLikeGo(base)} is not less than substitute bundle ${quoteLikeGo(name)}`,
    )
  const result = {
    ...catalog,
    channels: catalog.channels.map((channel) =>
      substituteBundleInChannel(channel, base, bundle.blob.name ?? ''),
    ),
    bundles: [...catalog.bundles, bundle.blob],
  }
  const complaint = findOpmValidationError(formatCatalogAsJsonLines(result))
  return complaint === undefined
    ? { ok: true, value: result }
    : createSubstitutionError(`resulting config is not valid FBC: ${complaint}`)
}

/**
 * The new bundle takes over the base's edges and skips the base. Entries that replaced the base replace the new bundle
 * and skip the base too. Entries that skipped the base skip the new bundle instead.
 */
function substituteBundleInChannel(channel: WritableChannel, base: string, name: string): WritableChannel {
  const entries = channel.entries ?? []
  const added: WritableChannelEntry[] = entries
    .filter((entry) => entry.name === base)
    .reverse()
    .map((entry) => setChannelEntrySkips({ ...entry, name }, [...(entry.skips ?? []), base]))
  const retained = entries.map((entry): WritableChannelEntry => {
    if (entry.name === base) return { name: base }
    if (entry.replaces === base)
      return setChannelEntrySkips({ ...entry, replaces: name }, [...(entry.skips ?? []), base])
    if (entry.skips?.includes(base))
      return setChannelEntrySkips(entry, [...entry.skips.filter((skip) => skip !== base), name])
    return entry
  })
  return { ...channel, entries: channel.entries === null ? null : [...retained, ...added] }
}

/** Uses opm's field order. */
function setChannelEntrySkips({ name, replaces, skipRange }: WritableChannelEntry, skips: readonly string[]) {
  return {
    name,
    ...(replaces !== undefined && { replaces }),
    skips,
    ...(skipRange !== undefined && { skipRange }),
  }
}

interface VersionWithRelease {
  readonly version: Version
  readonly release: ReleaseIdentifiers
}

/** If the bundle declares that it substitutes another, its build metadata is the release (the older form). */
function parseVersionWithRelease(bundle: RenderedBundle): CatalogReadResult<VersionWithRelease> {
  const name = quoteLikeGo(bundle.blob.name ?? '')
  const packages = (bundle.blob.properties ?? []).filter(({ type }) => type === 'olm.package')
  const [property] = packages
  const wrong = findBundlePropertyErrors(bundle.blob).find(({ type }) => type === 'olm.package')
  if (wrong)
    return createSubstitutionError(
      `unable to unmarshal "olm.package" property for bundle ${name}: ${wrong.error}`,
    )
  if (!property) return createSubstitutionError(`no "olm.package" property found for bundle ${name}`)
  const text = getJsonStringField(property.value, 'version')
  const version = parseVersion(text)
  if (!version.ok)
    return createSubstitutionError(
      `invalid semver version ${quoteLikeGo(text)} in "olm.package" property for bundle ${name}: ${version.error}`,
    )
  const releaseText = getJsonStringField(property.value, 'release')
  const release = releaseText === '' ? { ok: true as const, value: [] } : parseReleaseIdentifiers(releaseText)
  if (!release.ok)
    return createSubstitutionError(
      `invalid release ${quoteLikeGo(releaseText)} in "olm.package" property for bundle ${name}: ${release.error}`,
    )
  // opm checks the count only after it reads the first property.
  if (packages.length > 1)
    return createSubstitutionError('must be exactly one property of type "olm.package"')
  const { build } = version.value
  if (release.value.length > 0 || build.length === 0 || !hasSubstitutesForAnnotation(bundle))
    return { ok: true, value: { version: version.value, release: release.value } }
  const legacy = parseReleaseIdentifiers(build.join('.'))
  if (!legacy.ok)
    return createSubstitutionError(
      `unable to convert build metadata to release for bundle ${name}: ${legacy.error}`,
    )
  return { ok: true, value: { version: { ...version.value, build: [] }, release: legacy.value } }
}

function compareVersionsWithRelease(a: VersionWithRelease, b: VersionWithRelease): number {
  const order = compareVersions(a.version, b.version)
  if (order !== 0) return order
  // A version without a release sorts before any release.
  return comparePrereleaseIdentifiers(a.release, b.release)
}

/** Returns opm's error for the text of the catalog. */
function findOpmValidationError(text: string): string | undefined {
  const facts = parseCatalogFile(new TextEncoder().encode(text))
  const verdict = validateCatalog(assembleCatalog([{ path: 'catalog.json', facts }]), { profile: 'opm' })
  return verdict.passed ? undefined : verdict.message
}

function createSubstitutionError(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
