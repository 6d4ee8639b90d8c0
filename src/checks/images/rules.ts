// The rules of the images check about image references and registries.
import { createRuleDefiner } from '@catalog-bot/findings/rule'

const imageReferenceRuleDefaults = { check: 'images', judges: 'pull request', since: '0.1.0' } as const
const defineImageReferenceRule = createRuleDefiner(imageReferenceRuleDefaults)
const defineImageRule = createRuleDefiner({ ...imageReferenceRuleDefaults, network: true })

/** `more`: how many other images of the package are also referenced by tag, if they share one finding. */
type TaggedImageFindingData = { reference: string; digest?: string; package?: string; more?: number }

export const bundleDiffersFromImageRule = defineImageRule<{
  reference: string
  differences: readonly string[]
}>({
  id: 'bundle-differs-from-image',
  severity: 'warning',
  title: "A bundle's properties and related images match its image",
  what: ({ reference, differences }) =>
    `the catalog and the image ${reference} disagree: ${differences.join('; ')}`,
  why: 'OLM resolves dependencies, and tools mirror images, based on the catalog. However, clusters install the content of the bundle image.',
  fix: 'Render the bundle again from its image with `opm render`.',
})

export const bundleIdentityMismatch = defineImageRule<{ reference: string; differences: readonly string[] }>({
  id: 'bundle-not-its-image',
  severity: 'error',
  title: "A bundle's image contains the bundle that the catalog declares",
  what: ({ reference, differences }) =>
    `the image ${reference} contains a different bundle than the one that the catalog declares: ${differences.join('; ')}`,
  why: 'OLM installs the content of the image under the name and version that the catalog declares.',
  fix: 'Render the bundle again from its image with `opm render`, or specify the correct image.',
})

export const bundleRepublishedRule = defineImageRule<{
  bundle: string
  image: string
  published: string
  catalog: string
}>({
  id: 'bundle-republished',
  overridable: true,
  severity: 'error',
  title: 'A bundle has the same image in every catalog',
  what: ({ bundle, image, published, catalog }) =>
    `${bundle} has the image ${published} in ${catalog}, but the image ${image} here`,
  why: 'Two different bundles would share a name and version. Mirrors, upgrades, and support engineers could not tell which one a cluster runs.',
  fix: 'Use the published image, or publish the new image under a new version.',
})

export const imageDigestMismatch = defineImageRule<{ reference: string; reason: string }>({
  id: 'digest-mismatch',
  severity: 'error',
  title: 'The content of an image matches its digest',
  what: ({ reference, reason }) => `the registry serves different content for ${reference}: ${reason}`,
  why: 'Every container runtime verifies the digest and rejects the image.',
  fix: 'Push the image again and use the digest that the push reports.',
})

export const bundleFormatMismatch = defineImageRule<{ reference: string; format: string; named?: string }>({
  id: 'foreign-bundle-format',
  severity: 'error',
  title: "A bundle's image has the format that the catalog declares",
  what: ({ reference, format, named }) =>
    `the image ${reference} contains a ${format} bundle, but the catalog declares ${named ?? 'no format, which means registry+v1'}`,
  why: 'OLM unpacks the image in the format that the catalog declares, finds no ClusterServiceVersion or chart, and does not install the bundle.',
  fix: 'Build a registry+v1 bundle. If your clusters support the format of the image, declare that format in an olm.bundle.mediatype property instead.',
})

export const imageByTagRule = defineImageReferenceRule<TaggedImageFindingData>({
  id: 'image-by-tag',
  overridable: true,
  severity: 'warning',
  title: 'Images are referenced by digest',
  what: ({ reference, package: name, more = 0 }) =>
    more === 0
      ? `the image ${reference} is referenced by tag`
      : `${more + 1} images of package "${name}" are referenced by tag, starting with ${reference}`,
  why: 'A tag can move, so clusters might install a different image than the one that catalog-bot checked. Mirrors cannot detect the change.',
  fix: ({ digest, more = 0 }) =>
    digest === undefined
      ? `Reference the ${more === 0 ? 'image' : 'images'} by digest: NAME@sha256:…`
      : `Reference the image by digest. The tag currently points to ${digest}.`,
})

export const imageMissingRule = defineImageRule<{ reference: string; reason: string }>({
  id: 'image-missing',
  severity: 'error',
  title: 'Every referenced image exists in its registry',
  what: ({ reference, reason }) => `the image ${reference} does not exist: ${reason}`,
  why: 'A cluster that installs this version cannot pull the image, so the installation hangs until an administrator intervenes.',
  fix: 'Push the image, or correct the reference.',
})

export const imageUnsupportedRule = defineImageRule<{ reference: string; reason: string }>({
  id: 'image-unsupported',
  severity: 'error',
  title: 'Every image has a format that clusters can pull',
  what: ({ reference, reason }) => `the image ${reference} cannot be used: ${reason}`,
  why: 'Container runtimes no longer support the format of this image, so clusters cannot install the version that uses the image.',
  fix: 'Rebuild and push the image with a current tool. The OCI and Docker schema 2 formats both work.',
})

export const malformedReferenceRule = defineImageReferenceRule<{ reference: string; reason: string }>({
  id: 'malformed-reference',
  severity: 'error',
  title: 'Every image reference has valid syntax',
  what: ({ reference, reason }) => `${JSON.stringify(reference)} is not a valid image reference: ${reason}`,
  why: 'Tools cannot parse the reference, so they cannot pull the image or artifact.',
  fix: 'Write the reference in lowercase and without a scheme: registry/path@sha256:digest.',
})

export const platformMissingRule = defineImageRule<{
  reference: string
  missing: readonly string[]
  offered: readonly string[]
}>({
  id: 'platform-missing',
  severity: 'error',
  title: 'Related images support every required platform',
  what: ({ reference, missing }) => `the image ${reference} does not support ${missing.join(', ')}`,
  why: ({ offered }) =>
    `The Operator cannot run on nodes of an unsupported platform. ${offered.length === 0 ? 'The image declares no platforms.' : `The image supports ${offered.join(', ')}.`}`,
  fix: 'Build the image for the missing platforms, and reference the image index by digest.',
})

export const registryBlockedRule = defineImageRule<{ reference: string; reason: string }>({
  id: 'registry-blocked',
  severity: 'error',
  title: 'Images are in registries that catalog-bot can query safely',
  what: ({ reference, reason }) => `catalog-bot did not look up the image ${reference}: ${reason}`,
  why: 'Clusters on other networks cannot pull images from an internal address or from a registry without TLS.',
  fix: 'Use an image from a public registry over HTTPS. A bot administrator can allow a registry host on their own network.',
})

export const registryNotAllowedRule = defineImageReferenceRule<{
  reference: string
  allowed: readonly string[]
}>({
  id: 'registry-not-allowed',
  severity: 'error',
  title: 'Images come from registries that this repository allows',
  what: ({ reference }) => `the image ${reference} is in a registry that this repository does not allow`,
  why: ({ allowed }) => `This repository allows only images from ${allowed.join(', ')}.`,
  fix: 'Move the image to an allowed registry, or ask a maintainer to add its registry to images.registries.',
})

export const tagMovedRule = defineImageRule<{ reference: string; tag: string; digest: string; now: string }>({
  id: 'tag-moved',
  severity: 'warning',
  title: 'If a reference has both a tag and a digest, the tag points to that digest',
  what: ({ reference, tag, digest, now }) =>
    `${reference} specifies ${digest}, but its tag "${tag}" now points to ${now}`,
  why: 'Clusters install the image that the digest identifies, but readers see the tag and expect a different image.',
  fix: 'Use the digest that the tag points to, or remove the tag.',
})
