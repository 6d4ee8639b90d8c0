// Adds a bundle blob or a deprecation blob to the model with opm's checks in opm's order, but continues after a problem.
import type { FindingRule } from '@catalog-bot/findings/rule'
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import type {
  BundleBlob,
  Property,
  RelatedImage,
  DeprecationBlob,
  DeprecationEntry,
} from '../facts/catalog.ts'
import type { TextPosition } from '../go/position-lookup.ts'
import { quoteLikeGo } from '../go/text.ts'
import { type Json, getJsonStringField, getJsonFieldValuesIgnoringCase } from '../go/json/json.ts'
import * as bundleRules from './rules/bundle-rules.ts'
import { missingPackageRule, unknownPackageRule } from './rules/channel-rules.ts'
import { findPullSpecError } from '../go/reference/image-reference.ts'
import { parseVersion, parseReleaseIdentifiers } from '../versions/version.ts'
import {
  type ModelBundle,
  type ModelConversionState,
  createFirstOccurrenceNote,
  toFindingLocation,
  type ModelPackage,
} from './model.ts'
import * as deprecationRules from './rules/deprecation-rules.ts'

const packagePropertyType = 'olm.package'

/** A bundle while it is converted. `report` adds a problem at the blob, or at `mark` in it. */
interface BundleConversionContext {
  readonly draft: ModelConversionState
  readonly blob: BundleBlob
  readonly data: { readonly package: string; readonly bundle: string }
  readonly report: <Data extends object>(
    rule: FindingRule<Data>,
    data: Data,
    message: () => string,
    mark?: TextPosition,
  ) => void
}

export function convertBundle(draft: ModelConversionState, blob: BundleBlob): void {
  const conversion: BundleConversionContext = {
    draft,
    blob,
    data: { package: blob.package, bundle: blob.name },
    report: (rule, data, message, mark = blob.place) =>
      draft.problems.add(message, rule, toFindingLocation(blob.place, mark), data),
  }
  const parent = findParentPackage(conversion)
  const bundle = parent && addBundleToPackage(conversion)
  if (!parent || !bundle) return
  reportInvalidProperties(conversion)
  const identity = checkPackageProperty(conversion)
  if (draft.ruleSet.pullSpecs) reportInvalidPullSpecs(conversion)
  if (identity !== undefined && identity.error === undefined) parseBundleVersion(conversion, bundle, identity)
  linkBundleToChannelEntries(conversion, parent, bundle)
}

function findParentPackage({ draft, blob, report }: BundleConversionContext): ModelPackage | undefined {
  const name = (): string => quoteLikeGo(blob.name)
  const object = `bundle ${name()}`
  if (blob.package === '') {
    report(missingPackageRule, { object }, () => `package name must be set for bundle ${name()}`)
    return undefined
  }
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const message = () => `unknown package ${quoteLikeGo(blob.package)} for bundle ${name()}`
    report(unknownPackageRule, { package: blob.package, object }, message)
  }
  return parent
}

/** Returns undefined for a duplicate. */
function addBundleToPackage({ draft, blob, data }: BundleConversionContext): ModelBundle | undefined {
  const siblings = getOrCreate(draft.bundles, blob.package, () => new Map<string, ModelBundle>())
  const first = siblings.get(blob.name)
  if (first !== undefined) {
    const message = () =>
      `package ${quoteLikeGo(blob.package)} has duplicate bundle ${quoteLikeGo(blob.name)}`
    const related = [createFirstOccurrenceNote(first.blob.place)]
    draft.problems.add(message, bundleRules.duplicateBundleRule, toFindingLocation(blob.place), data, related)
    return undefined
  }
  const bundle: ModelBundle = { blob, release: '' }
  siblings.set(blob.name, bundle)
  return bundle
}

function reportInvalidProperties({ draft, blob, data, report }: BundleConversionContext): void {
  blob.properties.forEach((property, index) => {
    const error = findOpmPropertyError(draft, property)
    if (error === undefined) return
    const { type, mark } = property
    const message = () =>
      `parse properties for bundle ${quoteLikeGo(blob.name)}: parse property[${index}] of type ${quoteLikeGo(type)}: ${error}`
    report(bundleRules.invalidPropertyRule, { ...data, index, type, error }, message, mark)
  })
}

/** Returns the olm.package property if there is exactly one. */
function checkPackageProperty({ blob, data, report }: BundleConversionContext): Property | undefined {
  const identities = blob.properties.filter((property) => property.type === packagePropertyType)
  const [identity] = identities
  if (identity === undefined || identities.length > 1) {
    const message = () =>
      `package ${quoteLikeGo(blob.package)} bundle ${quoteLikeGo(blob.name)} must have exactly 1 ${quoteLikeGo(packagePropertyType)} property, found ${identities.length}`
    report(
      bundleRules.notOnePackagePropertyRule,
      { ...data, found: identities.length },
      message,
      identities[1]?.mark,
    )
    return undefined
  }
  const packageName = getJsonStringField(identity.value, 'packageName')
  if (packageName !== blob.package) {
    const message = () =>
      `package ${quoteLikeGo(blob.package)} does not match ${quoteLikeGo(packagePropertyType)} property ${quoteLikeGo(packageName)}`
    report(bundleRules.packageMismatchRule, { ...data, packageName }, message, identity.mark)
  }
  return identity
}

function reportInvalidPullSpecs({ blob, data, report }: BundleConversionContext): void {
  for (const { field, image, mark, error } of findInvalidPullSpecs(blob)) {
    const message = () =>
      `package ${quoteLikeGo(blob.package)} bundle ${quoteLikeGo(blob.name)} ${field}: invalid image pull spec ${quoteLikeGo(image)}: ${error}`
    report(bundleRules.invalidPullSpecRule, { ...data, field, image, error }, message, mark)
  }
}

function linkBundleToChannelEntries(
  { blob, data, report }: BundleConversionContext,
  parent: ModelPackage,
  bundle: ModelBundle,
): void {
  let isInChannel = false
  for (const channel of parent.channels.values()) {
    const entry = channel.entries.get(blob.name)
    if (entry === undefined) continue
    entry.bundle = bundle
    isInChannel = true
  }
  if (isInChannel) return
  const message = () =>
    `package ${quoteLikeGo(blob.package)}, bundle ${quoteLikeGo(blob.name)} not found in any channel entries`
  report(bundleRules.bundleInNoChannelRule, data, message)
}

function findOpmPropertyError(draft: ModelConversionState, property: Property): string | undefined {
  return property.error ?? (draft.ruleSet.integerPriority ? findChannelPriorityError(property) : undefined)
}

/** Cached, because facts of unchanged files are the same objects in every pull request. */
const findInvalidRelatedImages = memoizePerObject((images: readonly RelatedImage[]) =>
  images.flatMap(({ image, mark }, index) => checkPullSpec(`relatedImages[${index}].image`, image, mark)),
)

function findInvalidPullSpecs({ image, imageMark, relatedImages }: BundleBlob) {
  return [...checkPullSpec('image', image, imageMark), ...findInvalidRelatedImages(relatedImages)]
}

function checkPullSpec(field: string, image: string, mark: TextPosition | undefined) {
  const error = image === '' ? undefined : findPullSpecError(image)
  return error === undefined ? [] : [{ field, image, ...(mark && { mark }), error }]
}

function parseBundleVersion(
  { draft, data, report }: BundleConversionContext,
  bundle: ModelBundle,
  identity: Property,
): void {
  const text = getJsonStringField(identity.value, 'version')
  const version = parseVersion(text)
  if (version.ok) {
    bundle.version = version.value
  } else {
    const { error } = version
    const message = () =>
      `error parsing bundle ${quoteLikeGo(bundle.blob.name)} version ${quoteLikeGo(text)}: ${error}`
    report(bundleRules.invalidVersionRule, { ...data, version: text, error }, message, identity.mark)
  }
  if (!draft.ruleSet.releases) return
  const release = getJsonStringField(identity.value, 'release')
  if (release === '') return
  const parsed = parseReleaseIdentifiers(release)
  if (parsed.ok) {
    bundle.release = release
  } else {
    const { error } = parsed
    const message = () =>
      `error parsing bundle ${quoteLikeGo(bundle.blob.name)} release version ${quoteLikeGo(release)}: ${error}`
    report(bundleRules.invalidReleaseRule, { ...data, release, error }, message, identity.mark)
  }
}

/** Go's error for a priority that isn't an integer. */
function findChannelPriorityError(property: Property): string | undefined {
  if (property.type !== 'olm.channel') return undefined
  const wrong = getJsonFieldValuesIgnoringCase(property.value, 'priority').find(
    (value) => !isDecodableAsGoInt(value),
  )
  if (wrong === undefined) return undefined
  return `json: cannot unmarshal ${describeJsonTypeLikeGo(wrong)} into Go struct field Channel.priority of type int`
}

/** From 1e21 on, Go writes a JSON number with an exponent, which no integer field accepts. */
function isDecodableAsGoInt(value: Json): boolean {
  return value === null || (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63)
}

function describeJsonTypeLikeGo(value: Json): string {
  if (typeof value === 'number') return `number ${value}`
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? 'array' : 'object'
}

// Links each entry of an olm.deprecations blob to the package, channel, or bundle that it deprecates.

/** `index` is the blob's position among the catalog's deprecation blobs. */
export function convertDeprecations(draft: ModelConversionState, blob: DeprecationBlob, index: number): void {
  const at = toFindingLocation(blob.place)
  const object = 'this olm.deprecations blob'
  if (blob.package === '') {
    const message = () => `package name must be set for deprecation item ${index}`
    draft.problems.add(message, missingPackageRule, at, { object })
    return
  }
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const message = () => `cannot apply deprecations to an unknown package ${quoteLikeGo(blob.package)}`
    draft.problems.add(message, unknownPackageRule, at, { package: blob.package, object })
    return
  }
  if (draft.deprecated.has(blob.package)) {
    const message = () => `expected a maximum of one deprecation per package: ${quoteLikeGo(blob.package)}`
    draft.problems.add(message, deprecationRules.severalDeprecationsRule, at, { package: blob.package })
    return
  }
  draft.deprecated.add(blob.package)
  const references = new Set<string>()
  for (const [entryIndex, entry] of blob.entries.entries()) {
    convertDeprecationEntry(draft, parent, blob, entry, entryIndex, references)
  }
}

function convertDeprecationEntry(
  draft: ModelConversionState,
  parent: ModelPackage,
  blob: DeprecationBlob,
  entry: DeprecationEntry,
  index: number,
  references: Set<string>,
): void {
  const { schema, name } = entry
  const inPackage = (): string => `package ${quoteLikeGo(blob.package)}`
  const reference = () =>
    `declcfg.PackageScopedReference{Schema:${quoteLikeGo(schema)}, Name:${quoteLikeGo(name)}}`
  const report = <Data extends object>(rule: FindingRule<Data>, data: Data, message: () => string): void => {
    draft.problems.add(message, rule, toFindingLocation(blob.place, entry.mark), data)
  }
  const data = { package: blob.package, schema, name }
  if (schema === '') {
    const message = () => `schema must be set for deprecation entry [${index}] for ${inPackage()}`
    return report(deprecationRules.deprecationWithoutSchemaRule, { package: blob.package, index }, message)
  }
  const key = JSON.stringify([schema, name])
  if (references.has(key)) {
    const message = () => `duplicate deprecation entry ${reference()} for ${inPackage()}`
    return report(deprecationRules.duplicateDeprecationRule, data, message)
  }
  references.add(key)
  const reportMissing = (target: string): void => {
    const message = () =>
      `cannot deprecate ${target} ${quoteLikeGo(name)} for ${inPackage()}: ${target} not found`
    report(deprecationRules.unknownDeprecatedObjectRule, data, message)
  }
  switch (schema) {
    case 'olm.bundle': {
      const bundle = draft.bundles.get(blob.package)?.get(name)
      if (bundle === undefined) return reportMissing('bundle')
      bundle.deprecation = { place: blob.place, entry }
      return
    }
    case 'olm.channel': {
      const channel = parent.channels.get(name)
      if (channel === undefined) return reportMissing('channel')
      channel.deprecation = { place: blob.place, entry }
      return
    }
    case 'olm.package': {
      if (name === '') {
        parent.deprecation = { place: blob.place, entry }
        return
      }
      const message = () =>
        `package name must be empty for deprecated ${inPackage()} (specified ${quoteLikeGo(name)})`
      return report(deprecationRules.namedPackageDeprecationRule, { package: blob.package, name }, message)
    }
    default: {
      const message = () =>
        `cannot deprecate object ${reference()} referenced by entry ${index} for ${inPackage()}: object schema unknown`
      return report(deprecationRules.unknownDeprecationSchemaRule, { package: blob.package, schema }, message)
    }
  }
}
