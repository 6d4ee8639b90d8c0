// A catalog image's SBOM (CycloneDX 1.6) with every bundle and its images. Deterministic, without timestamps or
// randomness.
import { parseImageReference, type ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { compareBytes } from '@catalog-bot/fbc/go/text'
import type { ListedBundle } from './listed-bundles.ts'
import type { SignedImage } from './simple-signing.ts'

export const sbomMediaType = 'application/vnd.cyclonedx+json'

export function createImageSbom(
  image: SignedImage,
  listed: readonly ListedBundle[],
  version: string,
): Uint8Array {
  const top = `${image.repository}@${image.digest}`
  const bundles = listed
    .map((bundle) => ({
      ref: `bundle:${bundle.package}/${bundle.name}`,
      package: bundle.package,
      name: bundle.name,
      version: bundle.version,
      images: [bundle.image, ...bundle.relatedImages].filter((reference) => reference !== ''),
    }))
    .sort((a, b) => compareBytes(a.ref, b.ref))
  const references = sortUniqueStrings(bundles.flatMap(({ images }) => images)).filter(
    (reference) => reference !== top,
  )
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      tools: { components: [{ type: 'application', name: 'catalog-bot', version }] },
      component: toSbomImageComponent(top),
    },
    components: [
      ...bundles.map((bundle) => ({
        type: 'application',
        'bom-ref': bundle.ref,
        group: bundle.package,
        name: bundle.name,
        ...(bundle.version !== '' && { version: bundle.version }),
      })),
      ...references.map(toSbomImageComponent),
    ],
    dependencies: [
      { ref: top, dependsOn: bundles.map(({ ref }) => ref) },
      ...bundles.map(({ ref, images }) => ({ ref, dependsOn: sortUniqueStrings(images) })),
    ],
  }
  return new TextEncoder().encode(JSON.stringify(bill))
}

function sortUniqueStrings(strings: readonly string[]): readonly string[] {
  return [...new Set(strings)].sort(compareBytes)
}

function toSbomImageComponent(text: string): object {
  const { reference } = parseImageReference(text)
  const sha256 = /^sha256:(?<hex>[0-9a-f]{64})$/.exec(reference?.digest ?? '')?.groups?.['hex']
  const version = reference?.digest ?? reference?.tag
  return {
    type: 'container',
    'bom-ref': text,
    name: reference ? `${reference.host}/${reference.repository}` : text,
    ...(version !== undefined && { version }),
    ...(reference && { purl: formatPackageUrl(reference) }),
    ...(sha256 !== undefined && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
  }
}

/** https://github.com/package-url/purl-spec, type `oci`: the name is the last part of the repository. */
function formatPackageUrl({ host, repository, tag, digest }: ImageReference): string {
  const name = repository.slice(repository.lastIndexOf('/') + 1)
  const version = digest === undefined ? '' : `@${encodeURIComponent(digest)}`
  const repositoryUrl = encodeURIComponent(`${host}/${repository}`)
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
  return `pkg:oci/${name}${version}?repository_url=${repositoryUrl}${tag === undefined ? '' : `&tag=${tag}`}`
}
