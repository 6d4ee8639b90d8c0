// The substitutes template: a valid catalog, and bundles that replace others in its channels.
import { assembleCatalog } from '../facts/assemble-catalog.ts'
import { quote } from '../../go/text.ts'
import { getJsonTextField } from '../../go/json/json-fields.ts'
import { formatBlobJson } from '../../go/json/json-text.ts'
import { getStructList, getTextField } from '../../go/decode/decode.ts'
import type { DecodedStruct } from '../../go/decode/decoded.ts'
import { slice, string, struct } from '../../go/decode/go-type.ts'
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import { compareIdentifiers, parseVersion, type Version } from '../versions/version.ts'
import { compareVersions } from '../versions/version.ts'
import { parseRelease, type ReleaseVersion } from '../versions/release.ts'
import { validateCatalog } from '../model/validate-catalog.ts'
import { formatJsonLines } from '../write/format-json.ts'
import {
  toWritableCatalog,
  type CatalogReadResult,
  type WritableCatalog,
  type WritableChannel,
  type WritableEntry,
} from '../write/writable-catalog.ts'
import { findPropertyErrors, type BundleSource, type RenderedBundle } from './bundle-source.ts'
import { hasSubstitutesFor } from './rendered-bundle.ts'
import { entriesType, decodeTemplateWithBlobs, type TemplateDocument } from './template-document.ts'

const substitutesTemplateType = struct('substitutes.SubstitutesTemplateData', {
  schema: string,
  entries: entriesType,
  substitutions: slice(struct('substitutes.Substitute', { name: string, base: string })),
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
  source: BundleSource,
): CatalogReadResult<WritableCatalog> {
  const parsed = decodeTemplateWithBlobs(substitutesTemplateType, template)
  if (!parsed.ok) return failure(`render: unable to parse template: ${parsed.error}`)
  const read = toWritableCatalog(parsed.value.blobs)
  if (!read.ok) return failure(`render: unable to create declarative config from entries: ${read.error}`)
  let catalog = read.value
  const complaint = findCatalogError(parsed.value.blobs.map(({ value }) => formatBlobJson(value)).join('\n'))
  if (complaint !== undefined) return failure(`render: entries are not valid FBC: ${complaint}`)
  const bases = new Set<string>()
  const names = new Map<string, string>()
  for (const substitution of parseSubstitutions(parsed.value)) {
    const { name, base } = substitution
    if (bases.has(base)) return failure(`render: cannot reuse the same substitution base ${quote(base)}`)
    bases.add(base)
    const other = names.get(name)
    if (other !== undefined)
      return failure(
        `render: cannot reuse the same substitution ${quote(name)} for different bases (${quote(other)} and ${quote(base)})`,
      )
    names.set(name, base)
    const result = applySubstitution(catalog, substitution, source)
    if (!result.ok)
      return failure(
        `render: error processing substitution ${quote(base)} -> ${quote(name)}: ${result.error}`,
      )
    catalog = result.value
  }
  return { ok: true, value: catalog }
}

/** In order, without duplicates. */
export function getSubstitutesTemplateImages(template: TemplateDocument): CatalogReadResult<string[]> {
  const parsed = decodeTemplateWithBlobs(substitutesTemplateType, template)
  if (!parsed.ok) return failure(`render: unable to parse template: ${parsed.error}`)
  const names = parseSubstitutions(parsed.value).map(({ name }) => name)
  return { ok: true, value: [...new Set(names)].filter((name) => name !== '') }
}

function parseSubstitutions(decoded: DecodedStruct): BundleSubstitution[] {
  return getStructList(decoded, 'substitutions').map((item) => ({
    name: getTextField(item, 'name'),
    base: getTextField(item, 'base'),
  }))
}

function applySubstitution(
  catalog: WritableCatalog,
  { name, base }: BundleSubstitution,
  source: BundleSource,
): CatalogReadResult<WritableCatalog> {
  if (name === '') return failure('substitution name cannot be empty')
  if (base === '') return failure('substitution base cannot be empty')
  if (name === base) return failure('substitution name and base cannot be the same')
  const rendered = source(name)
  if (!rendered.ok)
    return failure(`failed to render bundle image reference ${quote(name)}: ${rendered.error}`)
  const [bundle] = rendered.value
  if (!bundle) return failure(`rendered bundle image reference ${quote(name)} contains no bundles`)
  const its = parseVersionRelease(bundle)
  if (!its.ok)
    return failure(`failed to get VersionRelease for substitute bundle ${quote(name)}: ${its.error}`)
  const old = catalog.bundles.find((candidate) => candidate.name === base)
  if (!old) return failure(`base bundle ${quote(base)} does not exist in catalog`)
  const before = parseVersionRelease({ blob: old })
  if (!before.ok)
    return failure(`failed to get VersionRelease for base bundle ${quote(base)}: ${before.error}`)
  if (compareVersionReleases(before.value, its.value) >= 0)
    return failure(`base bundle ${quote(base)} is not less than substitute bundle ${quote(name)}`)
  const result = {
    ...catalog,
    channels: catalog.channels.map((channel) => substituteInChannel(channel, base, bundle.blob.name ?? '')),
    bundles: [...catalog.bundles, bundle.blob],
  }
  const complaint = findCatalogError(formatJsonLines(result))
  return complaint === undefined
    ? { ok: true, value: result }
    : failure(`resulting config is not valid FBC: ${complaint}`)
}

/**
 * The new bundle takes over the base's edges and skips the base. Entries that replaced the base replace the new bundle
 * and skip the base too. Entries that skipped the base skip the new bundle instead.
 */
function substituteInChannel(channel: WritableChannel, base: string, name: string): WritableChannel {
  const entries = channel.entries ?? []
  const added: WritableEntry[] = entries
    .filter((entry) => entry.name === base)
    .reverse()
    .map((entry) => withSkips({ ...entry, name }, [...(entry.skips ?? []), base]))
  const retained = entries.map((entry): WritableEntry => {
    if (entry.name === base) return { name: base }
    if (entry.replaces === base)
      return withSkips({ ...entry, replaces: name }, [...(entry.skips ?? []), base])
    if (entry.skips?.includes(base))
      return withSkips(entry, [...entry.skips.filter((skip) => skip !== base), name])
    return entry
  })
  return { ...channel, entries: channel.entries === null ? null : [...retained, ...added] }
}

/** Uses opm's field order. */
function withSkips({ name, replaces, skipRange }: WritableEntry, skips: readonly string[]): WritableEntry {
  return {
    name,
    ...(replaces !== undefined && { replaces }),
    skips,
    ...(skipRange !== undefined && { skipRange }),
  }
}

interface VersionRelease {
  readonly version: Version
  readonly release: ReleaseVersion
}

/** If the bundle declares that it substitutes another, its build metadata is the release (the older form). */
function parseVersionRelease(bundle: RenderedBundle): CatalogReadResult<VersionRelease> {
  const name = quote(bundle.blob.name ?? '')
  const packages = (bundle.blob.properties ?? []).filter(({ type }) => type === 'olm.package')
  const [property] = packages
  const wrong = findPropertyErrors(bundle.blob).find(({ type }) => type === 'olm.package')
  if (wrong) return failure(`unable to unmarshal "olm.package" property for bundle ${name}: ${wrong.error}`)
  if (!property) return failure(`no "olm.package" property found for bundle ${name}`)
  const text = getJsonTextField(property.value, 'version')
  const version = parseVersion(text)
  if (!version.ok)
    return failure(
      `invalid semver version ${quote(text)} in "olm.package" property for bundle ${name}: ${version.error}`,
    )
  const releaseText = getJsonTextField(property.value, 'release')
  const release = releaseText === '' ? { ok: true as const, value: [] } : parseRelease(releaseText)
  if (!release.ok)
    return failure(
      `invalid release ${quote(releaseText)} in "olm.package" property for bundle ${name}: ${release.error}`,
    )
  // opm checks the count only after it reads the first property.
  if (packages.length > 1) return failure('must be exactly one property of type "olm.package"')
  const { build } = version.value
  if (release.value.length > 0 || build.length === 0 || !hasSubstitutesFor(bundle))
    return { ok: true, value: { version: version.value, release: release.value } }
  const legacy = parseRelease(build.join('.'))
  if (!legacy.ok)
    return failure(`unable to convert build metadata to release for bundle ${name}: ${legacy.error}`)
  return { ok: true, value: { version: { ...version.value, build: [] }, release: legacy.value } }
}

function compareVersionReleases(a: VersionRelease, b: VersionRelease): number {
  const order = compareVersions(a.version, b.version)
  if (order !== 0) return order
  // A version without a release sorts before any release.
  return compareIdentifiers(a.release, b.release)
}

/** Returns opm's error for the text of the catalog. */
function findCatalogError(text: string): string | undefined {
  const facts = parseCatalogFile(new TextEncoder().encode(text))
  const verdict = validateCatalog(assembleCatalog([{ path: 'catalog.json', facts }]), { profile: 'opm' })
  return verdict.passed ? undefined : verdict.message
}

function failure(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
