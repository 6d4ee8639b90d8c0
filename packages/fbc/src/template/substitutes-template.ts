// The substitutes template consists of a valid catalog and of bundles that replace others in its channels.
import { assembleCatalog } from '../facts/catalog.ts'
import { quoteLikeGo } from '../go/text.ts'
import { getJsonStringField } from '../go/json/json.ts'
import { formatBlobJson } from '../go/json/json-text.ts'
import { getDecodedStringFields, getDecodedStructList } from '../go/decode/decode.ts'
import { createSliceType, stringType, createStructType, type DecodedStruct } from '../go/decode/go-type.ts'
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import {
  compareVersionsWithRelease,
  parseReleaseIdentifiers,
  parseVersion,
  type VersionWithRelease,
} from '../versions/version.ts'
import { validateCatalog } from '../model/validate-catalog.ts'
import { formatCatalogAsJsonLines } from '../write/format-json.ts'
import {
  toWritableCatalog,
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
import {
  decodeTemplateAndBlobs,
  failTemplate,
  prefixTemplateErrors,
  requireTemplateValue,
  type TemplateDocument,
  templateEntriesType,
} from './template-document.ts'

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

/** Like opm, validates both the entries and the result. Throws a TemplateError. */
export function renderSubstitutesTemplate(
  template: TemplateDocument,
  source: RenderedBundleLookup,
): WritableCatalog {
  const parsed = decodeSubstitutesTemplate(template)
  const beforeEntries = 'render: unable to create declarative config from entries: '
  let catalog = requireTemplateValue(toWritableCatalog(parsed.blobs), beforeEntries)
  const entries = parsed.blobs.map(({ value }) => formatBlobJson(value)).join('\n')
  rejectInvalidCatalog(entries, 'render: entries are not valid FBC: ')
  const bases = new Set<string>()
  const names = new Map<string, string>()
  for (const substitution of parseSubstitutions(parsed)) {
    const { name, base } = substitution
    const [quotedName, quotedBase] = [quoteLikeGo(name), quoteLikeGo(base)]
    if (bases.has(base)) failTemplate(`render: cannot reuse the same substitution base ${quotedBase}`)
    bases.add(base)
    const other = names.get(name)
    if (other !== undefined)
      failTemplate(
        `render: cannot reuse the same substitution ${quotedName} for different bases (${quoteLikeGo(other)} and ${quotedBase})`,
      )
    names.set(name, base)
    const before = catalog
    catalog = prefixTemplateErrors(
      `render: error processing substitution ${quotedBase} -> ${quotedName}: `,
      () => applySubstitution(before, substitution, source),
    )
  }
  return catalog
}

/** In order, without duplicates. */
export function getSubstitutesTemplateImages(template: TemplateDocument): string[] {
  const names = parseSubstitutions(decodeSubstitutesTemplate(template)).map(({ name }) => name)
  return [...new Set(names)].filter((name) => name !== '')
}

function decodeSubstitutesTemplate(template: TemplateDocument) {
  const decoded = decodeTemplateAndBlobs(substitutesTemplateStructType, template)
  return requireTemplateValue(decoded, 'render: unable to parse template: ')
}

function parseSubstitutions(decoded: DecodedStruct): readonly BundleSubstitution[] {
  return getDecodedStructList(decoded, 'substitutions').map((item) =>
    getDecodedStringFields(item, 'name', 'base'),
  )
}

function applySubstitution(
  catalog: WritableCatalog,
  { name, base }: BundleSubstitution,
  source: RenderedBundleLookup,
): WritableCatalog {
  const [quotedName, quotedBase] = [quoteLikeGo(name), quoteLikeGo(base)]
  if (name === '') failTemplate('substitution name cannot be empty')
  if (base === '') failTemplate('substitution base cannot be empty')
  if (name === base) failTemplate('substitution name and base cannot be the same')
  const before = `failed to render bundle image reference ${quotedName}: `
  const [bundle] = requireTemplateValue(source(name), before)
  if (!bundle) failTemplate(`rendered bundle image reference ${quotedName} contains no bundles`)
  const its = prefixTemplateErrors(`failed to get VersionRelease for substitute bundle ${quotedName}: `, () =>
    parseVersionWithRelease(bundle),
  )
  const old = catalog.bundles.find((candidate) => candidate.name === base)
  if (!old) failTemplate(`base bundle ${quotedBase} does not exist in catalog`)
  const oldVersion = prefixTemplateErrors(
    `failed to get VersionRelease for base bundle ${quotedBase}: `,
    () => parseVersionWithRelease({ blob: old }),
  )
  if (compareVersionsWithRelease(oldVersion, its) >= 0)
    failTemplate(`base bundle ${quotedBase} is not less than substitute bundle ${quotedName}`)
  const result = {
    ...catalog,
    channels: catalog.channels.map((channel) =>
      substituteBundleInChannel(channel, base, bundle.blob.name ?? ''),
    ),
    bundles: [...catalog.bundles, bundle.blob],
  }
  rejectInvalidCatalog(formatCatalogAsJsonLines(result), 'resulting config is not valid FBC: ')
  return result
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

/** If the bundle declares that it substitutes another, its build metadata is the release (the older form). */
function parseVersionWithRelease(bundle: RenderedBundle): VersionWithRelease {
  const name = quoteLikeGo(bundle.blob.name ?? '')
  const packages = (bundle.blob.properties ?? []).filter(({ type }) => type === 'olm.package')
  const [property] = packages
  const wrong = findBundlePropertyErrors(bundle.blob).find(({ type }) => type === 'olm.package')
  if (wrong) failTemplate(`unable to unmarshal "olm.package" property for bundle ${name}: ${wrong.error}`)
  if (!property) failTemplate(`no "olm.package" property found for bundle ${name}`)
  const inProperty = `in "olm.package" property for bundle ${name}: `
  const text = getJsonStringField(property.value, 'version')
  const version = requireTemplateValue(
    parseVersion(text),
    `invalid semver version ${quoteLikeGo(text)} ${inProperty}`,
  )
  const releaseText = getJsonStringField(property.value, 'release')
  const release =
    releaseText === ''
      ? []
      : requireTemplateValue(
          parseReleaseIdentifiers(releaseText),
          `invalid release ${quoteLikeGo(releaseText)} ${inProperty}`,
        )
  // opm checks the count only after it reads the first property.
  if (packages.length > 1) failTemplate('must be exactly one property of type "olm.package"')
  if (release.length > 0 || version.build.length === 0 || !hasSubstitutesForAnnotation(bundle))
    return { version, release }
  const before = `unable to convert build metadata to release for bundle ${name}: `
  const legacy = requireTemplateValue(parseReleaseIdentifiers(version.build.join('.')), before)
  return { version: { ...version, build: [] }, release: legacy }
}

/** Fails with opm's error for the text of the catalog. */
function rejectInvalidCatalog(text: string, before: string): void {
  const facts = parseCatalogFile(new TextEncoder().encode(text))
  const verdict = validateCatalog(assembleCatalog([{ path: 'catalog.json', facts }]), { profile: 'opm' })
  if (!verdict.passed) failTemplate(`${before}${verdict.message}`)
}
