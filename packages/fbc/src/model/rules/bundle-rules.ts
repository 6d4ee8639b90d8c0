import { quoteLikeGo } from '../../go/text.ts'
import { defineOpmRule } from '../../load/load-rules.ts'

interface BundleRuleFindingData {
  readonly package: string
  readonly bundle: string
}

export const duplicateBundleRule = defineOpmRule<BundleRuleFindingData>({
  id: 'duplicate-bundle',
  title: 'Each bundle is declared only once in its package',
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} of package ${quoteLikeGo(data.package)} is declared more than once`,
  why: 'opm cannot distinguish two bundles with the same name, even if they are identical.',
  fix: 'Keep one of the olm.bundle blobs, or rename one of the bundles.',
})

export const invalidPropertyRule = defineOpmRule<
  BundleRuleFindingData & { index: number; type: string; error: string }
>({
  id: 'invalid-property',
  title: 'The value of each property matches its type',
  what: (data) =>
    `property ${data.index} (${quoteLikeGo(data.type)}) of bundle ${quoteLikeGo(data.bundle)} cannot be parsed: ${data.error}`,
  why: 'OLM uses properties to determine what a bundle provides and requires.',
  fix: 'Correct the value. Put strings that look like numbers or booleans in quotes, such as `"4.10"` or `"yes"`.',
})

export const notOnePackagePropertyRule = defineOpmRule<BundleRuleFindingData & { found: number }>({
  id: 'not-one-package-property',
  title: 'A bundle has exactly one olm.package property',
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} of package ${quoteLikeGo(data.package)} has ${data.found} olm.package properties`,
  why: "The olm.package property specifies the bundle's version. If the property is missing or duplicated, the version is unknown.",
  fix: 'Keep exactly one `olm.package` property, with `packageName` and `version`.',
})

export const packageMismatchRule = defineOpmRule<BundleRuleFindingData & { packageName: string }>({
  id: 'package-mismatch',
  title: "A bundle's olm.package property names the package that the bundle belongs to",
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} belongs to package ${quoteLikeGo(data.package)}, but its olm.package property names ${quoteLikeGo(data.packageName)}`,
  why: 'The catalog lists the bundle in one package, but OLM resolves the bundle as part of another package.',
  fix: 'Use the same name in `package:` and in `packageName` of the olm.package property.',
})

export const invalidPullSpecRule = defineOpmRule<
  BundleRuleFindingData & { field: string; image: string; error: string }
>({
  id: 'invalid-pull-spec',
  title: 'Image references are valid',
  what: (data) =>
    `${data.field} of bundle ${quoteLikeGo(data.bundle)} is not a valid image reference: ${quoteLikeGo(data.image)} (${data.error})`,
  why: 'An image cannot be pulled without a valid reference.',
  fix: 'Use host/repository@sha256:digest (preferred) or host/repository:tag. Remove any scheme, whitespace, or variables.',
})

export const invalidVersionRule = defineOpmRule<BundleRuleFindingData & { version: string; error: string }>({
  id: 'invalid-version',
  title: "A bundle's version is a semantic version",
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} has invalid version ${quoteLikeGo(data.version)}: ${data.error}`,
  why: 'OLM compares versions to choose upgrades and to match version ranges and dependencies.',
  fix: 'Use three numbers without a leading `v` or leading zeros, such as `1.4.2` or `1.5.0-rc.1`.',
})

export const invalidReleaseRule = defineOpmRule<BundleRuleFindingData & { release: string; error: string }>({
  id: 'invalid-release',
  title: "A bundle's release is valid",
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} has invalid release ${quoteLikeGo(data.release)}: ${data.error}`,
  why: 'The release determines the order of bundles with the same version.',
  fix: 'Use up to 20 letters, digits, and `-`, with dots between identifiers. Remove leading zeros from numeric identifiers.',
})

export const bundleInNoChannelRule = defineOpmRule<BundleRuleFindingData>({
  id: 'bundle-in-no-channel',
  title: 'Every bundle is in a channel',
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} is not in any channel of package ${quoteLikeGo(data.package)}`,
  why: 'Users can install or upgrade to a bundle only through a channel.',
  fix: 'Add an entry for the bundle to a channel, or remove the bundle.',
})

export const nameNotNormalizedRule = defineOpmRule<BundleRuleFindingData & { wanted: string }>({
  id: 'name-not-normalized',
  title: 'A bundle with a release is named after its package, version, and release',
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} of package ${quoteLikeGo(data.package)} must be named ${quoteLikeGo(data.wanted)}`,
  why: 'Bundles with the same version differ in their release, so opm requires the release in the bundle name.',
  fix: 'Rename the bundle and its channel entries, or correct the version and release.',
})

export const bundleWithoutImageRule = defineOpmRule<BundleRuleFindingData>({
  id: 'bundle-without-image',
  title: 'A bundle has an image',
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} of package ${quoteLikeGo(data.package)} has no image and no manifests`,
  why: "The image contains the bundle's manifests. Without an image, there is nothing to install.",
  fix: 'Set `image:` to the bundle image.',
})

export const releaseWithBuildMetadataRule = defineOpmRule<
  BundleRuleFindingData & { version: string; release: string }
>({
  id: 'release-with-build-metadata',
  title: 'A version with a release has no build metadata',
  what: (data) =>
    `bundle ${quoteLikeGo(data.bundle)} of package ${quoteLikeGo(data.package)} has both build metadata (${data.version}) and a release (${data.release})`,
  why: 'Build metadata and releases both distinguish builds of the same version, so they could contradict each other.',
  fix: 'Move the part after `+` to the release, or remove the release.',
})
