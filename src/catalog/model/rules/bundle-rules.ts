import { defineRule } from '../../../findings/rule.ts'
import { quote } from '../../../go/text.ts'

interface BundleRuleData {
  readonly package: string
  readonly bundle: string
}

export const duplicateBundle = defineRule<BundleRuleData>({
  id: 'duplicate-bundle',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A bundle is declared once in its package',
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} of package ${quote(data.package)} is declared again`,
    why: 'Two bundles of one name cannot be told apart, even when they are identical.',
    fix: 'Keep one of the olm.bundle blobs, or give the other its own name.',
  }),
})

export const invalidProperty = defineRule<BundleRuleData & { index: number; type: string; error: string }>({
  id: 'invalid-property',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Properties of known types have the shape of their type',
  format: (data) => ({
    what: `property ${data.index} (${quote(data.type)}) of bundle ${quote(data.bundle)} cannot be read: ${data.error}`,
    why: 'OLM decides by properties what a bundle is, provides and needs.',
    fix: 'Correct the value. Texts that look like numbers or booleans need quotes, such as `"4.10"` or `"yes"`.',
  }),
})

export const notOnePackageProperty = defineRule<BundleRuleData & { found: number }>({
  id: 'not-one-package-property',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A bundle has exactly one olm.package property',
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} of package ${quote(data.package)} has ${data.found} olm.package properties`,
    why: "The property states the bundle's version; without exactly one the version is unknown.",
    fix: 'Keep one property of type `olm.package` with `packageName` and `version`.',
  }),
})

export const packageMismatch = defineRule<BundleRuleData & { packageName: string }>({
  id: 'package-mismatch',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: "A bundle's olm.package property names the bundle's package",
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} belongs to package ${quote(data.package)}, but its olm.package property says ${quote(data.packageName)}`,
    why: 'The bundle would be one package in the catalog and another on the cluster.',
    fix: 'Make `package:` and the `packageName` of the property the same.',
  }),
})

export const invalidPullSpec = defineRule<BundleRuleData & { field: string; image: string; error: string }>({
  id: 'invalid-pull-spec',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Image references can be read',
  format: (data) => ({
    what: `${data.field} of bundle ${quote(data.bundle)} is not an image reference: ${quote(data.image)} (${data.error})`,
    why: 'An image that cannot be named cannot be pulled.',
    fix: 'Write host/repository:tag or, better, host/repository@sha256:digest; no scheme, no blanks, no variables.',
  }),
})

export const invalidVersion = defineRule<BundleRuleData & { version: string; error: string }>({
  id: 'invalid-version',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: "A bundle's version is a semantic version",
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} has version ${quote(data.version)}, which is none: ${data.error}`,
    why: 'Upgrades, ranges and dependencies compare versions.',
    fix: 'Write three numbers without `v` and without leading zeros, such as `1.4.2` or `1.5.0-rc.1`.',
  }),
})

export const invalidRelease = defineRule<BundleRuleData & { release: string; error: string }>({
  id: 'invalid-release',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: "A bundle's release is a list of identifiers",
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} has release ${quote(data.release)}, which is none: ${data.error}`,
    why: 'The release orders the builds of one version.',
    fix: 'Use at most 20 characters: letters, digits and `-` between dots, numbers without leading zeros.',
  }),
})

export const bundleInNoChannel = defineRule<BundleRuleData>({
  id: 'bundle-in-no-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every bundle is in a channel',
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} is in no channel of package ${quote(data.package)}`,
    why: 'A bundle outside all channels can neither be installed nor upgraded to.',
    fix: 'Add an entry for it to a channel, or remove the bundle.',
  }),
})

export const nameNotNormalized = defineRule<BundleRuleData & { wanted: string }>({
  id: 'name-not-normalized',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A bundle with a release is named after package, version and release',
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} of package ${quote(data.package)} must be named ${quote(data.wanted)}`,
    why: 'With a release, name, version and release must tell the same.',
    fix: 'Rename the bundle (and its channel entries), or correct version and release.',
  }),
})

export const bundleWithoutImage = defineRule<BundleRuleData>({
  id: 'bundle-without-image',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A bundle has an image',
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} of package ${quote(data.package)} has no image and carries no manifests`,
    why: "The image holds the bundle's manifests: without it there is nothing to install.",
    fix: 'Set `image:` to the bundle image.',
  }),
})

export const releaseWithBuildMetadata = defineRule<BundleRuleData & { version: string; release: string }>({
  id: 'release-with-build-metadata',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A version with a release has no build metadata',
  format: (data) => ({
    what: `bundle ${quote(data.bundle)} of package ${quote(data.package)} has both build metadata (${data.version}) and a release (${data.release})`,
    why: 'Both tell builds of one version apart, and would contradict each other.',
    fix: 'Move what follows `+` into the release, or drop the release.',
  }),
})
