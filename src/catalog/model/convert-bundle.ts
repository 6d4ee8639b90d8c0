// Links one bundle blob with opm's checks in opm's order, but continues after a problem.
import type { BundleBlob, Property, RelatedImage } from '../facts/catalog.ts'
import type { Mark } from '../../go/mark.ts'
import type { Rule } from '../../findings/rule.ts'
import { quote } from '../../go/text.ts'
import { textField } from '../../go/json/json-fields.ts'
import * as bundleRules from './rules/bundle-rules.ts'
import { missingPackage, unknownPackage } from './rules/channel-rules.ts'
import { pullSpecError } from '../../go/reference/pull-spec.ts'
import { parseRelease } from '../versions/release.ts'
import { parseVersion } from '../versions/version.ts'
import { priorityError } from './channel-priority.ts'
import type { Draft } from './draft.ts'
import { firstOne, locationOf } from './location.ts'
import type { ModelBundle } from './model.ts'
import { oncePer } from '../../findings/once.ts'

const packageType = 'olm.package'

export function addBundle(draft: Draft, blob: BundleBlob): void {
  const name = (): string => quote(blob.name)
  const complain = <Data extends object>(
    rule: Rule<Data>,
    data: Data,
    message: () => string,
    mark: Mark = blob.place,
  ): void => {
    draft.complaints.add(message, rule, locationOf(blob.place, mark), data)
  }
  if (blob.package === '') {
    return complain(
      missingPackage,
      { object: `bundle ${name()}` },
      () => `package name must be set for bundle ${name()}`,
    )
  }
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const message = () => `unknown package ${quote(blob.package)} for bundle ${name()}`
    return complain(unknownPackage, { package: blob.package, object: `bundle ${name()}` }, message)
  }
  const siblings = draft.bundles.get(blob.package) ?? new Map<string, ModelBundle>()
  draft.bundles.set(blob.package, siblings)
  const data = { package: blob.package, bundle: blob.name }
  const first = siblings.get(blob.name)
  if (first !== undefined) {
    const message = () => `package ${quote(blob.package)} has duplicate bundle ${name()}`
    const related = [firstOne(first.blob.place)]
    draft.complaints.add(message, bundleRules.duplicateBundle, locationOf(blob.place), data, related)
    return
  }
  const bundle: ModelBundle = { blob, release: '' }
  siblings.set(blob.name, bundle)

  for (const [index, property] of blob.properties.entries()) {
    const error = propertyError(draft, property)
    if (error === undefined) continue
    const why = (): string => `parse property[${index}] of type ${quote(property.type)}: ${error}`
    complain(
      bundleRules.invalidProperty,
      { ...data, index, type: property.type, error },
      () => `parse properties for bundle ${name()}: ${why()}`,
      property.mark,
    )
  }

  const identities = blob.properties.filter((property) => property.type === packageType)
  const [identity] = identities
  const subject = (): string => `package ${quote(blob.package)} bundle ${name()}`
  if (identity === undefined || identities.length > 1) {
    complain(
      bundleRules.notOnePackageProperty,
      { ...data, found: identities.length },
      () => `${subject()} must have exactly 1 ${quote(packageType)} property, found ${identities.length}`,
      identities[1]?.mark,
    )
  } else {
    const packageName = textField(identity.value, 'packageName')
    if (packageName !== blob.package) {
      const why = `does not match ${quote(packageType)} property ${quote(packageName)}`
      const message = () => `package ${quote(blob.package)} ${why}`
      complain(bundleRules.packageMismatch, { ...data, packageName }, message, identity.mark)
    }
  }

  if (draft.ruleSet.pullSpecs) {
    for (const { field, image, mark, error } of brokenImages(blob)) {
      const message = () => `${subject()} ${field}: invalid image pull spec ${quote(image)}: ${error}`
      complain(bundleRules.invalidPullSpec, { ...data, field, image, error }, message, mark)
    }
  }

  if (identity !== undefined && identities.length === 1 && identity.error === undefined) {
    readVersion(draft, bundle, identity, complain)
  }

  let placed = false
  for (const channel of parent.channels.values()) {
    const entry = channel.entries.get(blob.name)
    if (entry === undefined) continue
    entry.bundle = bundle
    placed = true
  }
  if (!placed) {
    const message = () => `package ${quote(blob.package)}, bundle ${name()} not found in any channel entries`
    complain(bundleRules.bundleInNoChannel, data, message)
  }
}

function propertyError(draft: Draft, property: Property): string | undefined {
  return property.error ?? (draft.ruleSet.integerPriority ? priorityError(property) : undefined)
}

interface BrokenImage {
  readonly field: string
  readonly image: string
  readonly mark?: Mark
  readonly error: string
}

/** Cached, because facts of unchanged files are the same objects in every pull request. */
const brokenRelatedImages = oncePer((images: readonly RelatedImage[]) =>
  images.flatMap(({ image, mark }, index) => brokenImage(`relatedImages[${index}].image`, image, mark)),
)

function brokenImages({ image, imageMark, relatedImages }: BundleBlob): readonly BrokenImage[] {
  return [...brokenImage('image', image, imageMark), ...brokenRelatedImages(relatedImages)]
}

function brokenImage(field: string, image: string, mark: Mark | undefined): readonly BrokenImage[] {
  const error = image === '' ? undefined : pullSpecError(image)
  return error === undefined ? [] : [{ field, image, ...(mark && { mark }), error }]
}

function readVersion(
  draft: Draft,
  bundle: ModelBundle,
  identity: Property,
  complain: <Data extends object>(rule: Rule<Data>, data: Data, message: () => string, mark?: Mark) => void,
): void {
  const data = { package: bundle.blob.package, bundle: bundle.blob.name }
  const text = textField(identity.value, 'version')
  const version = parseVersion(text)
  if (version.ok) {
    bundle.version = version.value
  } else {
    const { error } = version
    const message = () => `error parsing bundle ${quote(bundle.blob.name)} version ${quote(text)}: ${error}`
    complain(bundleRules.invalidVersion, { ...data, version: text, error }, message, identity.mark)
  }
  if (!draft.ruleSet.releases) return
  const release = textField(identity.value, 'release')
  if (release === '') return
  const parsed = parseRelease(release)
  if (parsed.ok) {
    bundle.release = release
  } else {
    const { error } = parsed
    const message = () =>
      `error parsing bundle ${quote(bundle.blob.name)} release version ${quote(release)}: ${error}`
    complain(bundleRules.invalidRelease, { ...data, release, error }, message, identity.mark)
  }
}
