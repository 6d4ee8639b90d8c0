// Findings about the references in an entire catalog without any queries, in the profile `full`.
import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { findOpmRuleSet } from '../../../packages/fbc/src/model/rule-set.ts'
import { validateCatalogWithAllRules } from '../../../src/checks/validation/validate-fully.ts'

const imageDigest = `sha256:${'a'.repeat(64)}`

function validateImageReferences(
  images: readonly string[],
  options: Parameters<typeof validateCatalogWithAllRules>[1] = {},
) {
  const bundles = images.map((image, at) => ({
    schema: 'olm.bundle',
    name: `foo.v${at}.0.0`,
    package: 'foo',
    image: `quay.io/foo/bundle${at}@${imageDigest}`,
    relatedImages: [{ name: 'x', image }],
    properties: [{ type: 'olm.package', value: { packageName: 'foo', version: `${at}.0.0` } }],
  }))
  const entries = bundles.map(({ name }, at) => ({ name, ...(at > 0 && { replaces: `foo.v${at - 1}.0.0` }) }))
  const blobs = [
    { schema: 'olm.package', name: 'foo', defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: 'foo', entries },
    ...bundles,
  ]
  const bytes = new TextEncoder().encode(blobs.map((blob) => JSON.stringify(blob)).join('\n'))
  const { findings } = validateCatalogWithAllRules(
    assembleCatalog([{ path: 'c.json', facts: parseCatalogFile(bytes) }]),
    options,
  )
  return findings.filter(({ rule }) => /image-by-tag|malformed|pull-spec|registry/.test(rule))
}

const listFindingMessages = (images: readonly string[]) =>
  validateImageReferences(images).map(({ what }) => what)

function formatImageFindings(...given: Parameters<typeof validateImageReferences>): string[] {
  return validateImageReferences(...given).map(
    ({ rule, severity, at, related }) => `${at?.line} ${rule} ${severity} ${related?.length ?? 0}`,
  )
}

describe('validate reports without any queries', () => {
  test('an image by tag once, with its other locations', () => {
    const images = ['quay.io/foo/a:1', 'quay.io/foo/a:1', `quay.io/foo/a@${imageDigest}`]
    expect(formatImageFindings(images)).toEqual(['3 image-by-tag warning 1'])
  })

  test('several images of a package by tag in one finding that counts them', () => {
    expect(
      formatImageFindings(['quay.io/foo/a:1', 'quay.io/foo/a:1', 'quay.io/foo/b', 'quay.io/foo/c:2']),
    ).toEqual(['3 image-by-tag warning 0'])
    expect(listFindingMessages(['quay.io/foo/a:1', 'quay.io/foo/b', 'quay.io/foo/c:2'])).toContain(
      '3 images of package "foo" are referenced by tag, starting with quay.io/foo/a:1',
    )
  })

  test('a registry that the repository does not allow', () => {
    const images = ['docker.io/foo/a:1', `quay.io/bar/a@${imageDigest}`, 'quay.io/foo/a:1']
    expect(formatImageFindings(images, { registries: ['quay.io/foo'] })).toEqual([
      '3 registry-not-allowed error 0',
      '4 registry-not-allowed error 0',
      '5 image-by-tag warning 0',
    ])
  })

  test('an invalid reference in one finding, which is that of opm if opm has one', () => {
    const images = ['https://quay.io/foo/a', 'quay.io:99999/foo/a:1']
    expect(formatImageFindings(images)).toEqual([
      '3 invalid-pull-spec error 0',
      '4 malformed-reference error 0',
    ])
    const early = findOpmRuleSet('1.60.0')
    expect(early && formatImageFindings(images, { ruleSet: early })).toEqual([
      '3 malformed-reference error 0',
      '4 malformed-reference error 0',
    ])
  })

  test('findings with the configured severity', () => {
    expect(formatImageFindings(['quay.io/foo/a:1'], { settings: { 'image-by-tag': 'error' } })).toEqual([
      '3 image-by-tag error 0',
    ])
    const ignoring = { settings: { 'image-by-tag': { ignore: ['catalogs/v1/**'] } }, root: 'catalogs/v1' }
    expect(formatImageFindings(['quay.io/foo/a:1'], ignoring)).toEqual([])
    expect(formatImageFindings(['quay.io/foo/a:1'], { settings: { 'image-by-tag': 'off' } })).toEqual([])
  })
})
