// Adds one bundle blob to the model with opm's checks in opm's order, but continues after a problem.
import type { FindingRule } from '@catalog-bot/findings/rule'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { BundleBlob, Property, RelatedImage } from '../facts/catalog.ts'
import type { TextPosition } from '../go/text-position.ts'
import { quoteLikeGo } from '../go/text.ts'
import { getJsonStringField, getJsonFieldValues } from '../go/json/json-fields.ts'
import * as bundleRules from './rules/bundle-rules.ts'
import { missingPackage, unknownPackage } from './rules/channel-rules.ts'
import { findPullSpecError } from '../go/reference/pull-spec.ts'
import { parseRelease } from '../versions/release.ts'
import { parseVersion } from '../versions/version.ts'
import type { ModelConversionState } from './conversion-state.ts'
import { createFirstDeclarationNote, toFindingLocation } from './location.ts'
import type { ModelBundle } from './model.ts'
import type { Json } from '../go/json/json.ts'

const packagePropertyType = 'olm.package'

export function convertBundle(draft: ModelConversionState, blob: BundleBlob): void {
  const name = (): string => quoteLikeGo(blob.name)
  const report = <Data extends object>(
    rule: FindingRule<Data>,
    data: Data,
    message: () => string,
    mark: TextPosition = blob.place,
  ): void => {
    draft.problems.add(message, rule, toFindingLocation(blob.place, mark), data)
  }
  if (blob.package === '') {
    return report(
      missingPackage,
      { object: `bundle ${name()}` },
      () => `package name must be set for bundle ${name()}`,
    )
  }
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const message = () => `unknown package ${quoteLikeGo(blob.package)} for bundle ${name()}`
    return report(unknownPackage, { package: blob.package, object: `bundle ${name()}` }, message)
  }
  const siblings = draft.bundles.get(blob.package) ?? new Map<string, ModelBundle>()
  draft.bundles.set(blob.package, siblings)
  const data = { package: blob.package, bundle: blob.name }
  const first = siblings.get(blob.name)
  if (first !== undefined) {
    const message = () => `package ${quoteLikeGo(blob.package)} has duplicate bundle ${name()}`
    const related = [createFirstDeclarationNote(first.blob.place)]
    draft.problems.add(message, bundleRules.duplicateBundle, toFindingLocation(blob.place), data, related)
    return
  }
  const bundle: ModelBundle = { blob, release: '' }
  siblings.set(blob.name, bundle)

  for (const [index, property] of blob.properties.entries()) {
    const error = findOpmPropertyError(draft, property)
    if (error === undefined) continue
    const reason = (): string => `parse property[${index}] of type ${quoteLikeGo(property.type)}: ${error}`
    report(
      bundleRules.invalidProperty,
      { ...data, index, type: property.type, error },
      () => `parse properties for bundle ${name()}: ${reason()}`,
      property.mark,
    )
  }

  const identities = blob.properties.filter((property) => property.type === packagePropertyType)
  const [identity] = identities
  const subject = (): string => `package ${quoteLikeGo(blob.package)} bundle ${name()}`
  if (identity === undefined || identities.length > 1) {
    report(
      bundleRules.notOnePackageProperty,
      { ...data, found: identities.length },
      () =>
        `${subject()} must have exactly 1 ${quoteLikeGo(packagePropertyType)} property, found ${identities.length}`,
      identities[1]?.mark,
    )
  } else {
    const packageName = getJsonStringField(identity.value, 'packageName')
    if (packageName !== blob.package) {
      const why = `does not match ${quoteLikeGo(packagePropertyType)} property ${quoteLikeGo(packageName)}`
      const message = () => `package ${quoteLikeGo(blob.package)} ${why}`
      report(bundleRules.packageMismatch, { ...data, packageName }, message, identity.mark)
    }
  }

  if (draft.ruleSet.pullSpecs) {
    for (const { field, image, mark, error } of findInvalidPullSpecs(blob)) {
      const message = () => `${subject()} ${field}: invalid image pull spec ${quoteLikeGo(image)}: ${error}`
      report(bundleRules.invalidPullSpec, { ...data, field, image, error }, message, mark)
    }
  }

  if (identity !== undefined && identities.length === 1 && identity.error === undefined) {
    parseBundleVersion(draft, bundle, identity, report)
  }

  let placed = false
  for (const channel of parent.channels.values()) {
    const entry = channel.entries.get(blob.name)
    if (entry === undefined) continue
    entry.bundle = bundle
    placed = true
  }
  if (!placed) {
    const message = () =>
      `package ${quoteLikeGo(blob.package)}, bundle ${name()} not found in any channel entries`
    report(bundleRules.bundleInNoChannel, data, message)
  }
}

function findOpmPropertyError(draft: ModelConversionState, property: Property): string | undefined {
  return property.error ?? (draft.ruleSet.integerPriority ? findChannelPriorityError(property) : undefined)
}

interface InvalidPullSpec {
  readonly field: string
  readonly image: string
  readonly mark?: TextPosition
  readonly error: string
}

/** Cached, because facts of unchanged files are the same objects in every pull request. */
const findInvalidRelatedImages = memoizePerObject((images: readonly RelatedImage[]) =>
  images.flatMap(({ image, mark }, index) => checkPullSpec(`relatedImages[${index}].image`, image, mark)),
)

function findInvalidPullSpecs({ image, imageMark, relatedImages }: BundleBlob): readonly InvalidPullSpec[] {
  return [...checkPullSpec('image', image, imageMark), ...findInvalidRelatedImages(relatedImages)]
}

function checkPullSpec(
  field: string,
  image: string,
  mark: TextPosition | undefined,
): readonly InvalidPullSpec[] {
  const error = image === '' ? undefined : findPullSpecError(image)
  return error === undefined ? [] : [{ field, image, ...(mark && { mark }), error }]
}

function parseBundleVersion(
  draft: ModelConversionState,
  bundle: ModelBundle,
  identity: Property,
  complain: <Data extends object>(
    rule: FindingRule<Data>,
    data: Data,
    message: () => string,
    mark?: TextPosition,
  ) => void,
): void {
  const data = { package: bundle.blob.package, bundle: bundle.blob.name }
  const text = getJsonStringField(identity.value, 'version')
  const version = parseVersion(text)
  if (version.ok) {
    bundle.version = version.value
  } else {
    const { error } = version
    const message = () =>
      `error parsing bundle ${quoteLikeGo(bundle.blob.name)} version ${quoteLikeGo(text)}: ${error}`
    complain(bundleRules.invalidVersion, { ...data, version: text, error }, message, identity.mark)
  }
  if (!draft.ruleSet.releases) return
  const release = getJsonStringField(identity.value, 'release')
  if (release === '') return
  const parsed = parseRelease(release)
  if (parsed.ok) {
    bundle.release = release
  } else {
    const { error } = parsed
    const message = () =>
      `error parsing bundle ${quoteLikeGo(bundle.blob.name)} release version ${quoteLikeGo(release)}: ${error}`
    complain(bundleRules.invalidRelease, { ...data, release, error }, message, identity.mark)
  }
}

/** Go's error for a priority that isn't an integer. */
function findChannelPriorityError(property: Property): string | undefined {
  if (property.type !== 'olm.channel') return undefined
  const wrong = getJsonFieldValues(property.value, 'priority').find((value) => !isDecodableAsGoInt(value))
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
