import { describe, expect, test } from '@jest/globals'
import type { CatalogChange } from '../../../src/pull-request/change.ts'
import {
  evaluateRepublishedBundles,
  listTagDigestLookups,
  findRepublishedBundles,
} from '../../../src/checks/images/republished-bundles.ts'
import {
  createLookupResults,
  toLookupKey,
  type LookupResults,
  type ImageLookupResult,
} from '../../../src/checks/lookups.ts'

const firstDigestSuffix = `@sha256:${'1'.repeat(64)}`
const secondDigestSuffix = `@sha256:${'2'.repeat(64)}`
type ImageByBundleName = Readonly<Record<string, string>>

function createCatalogChange(
  root: string,
  base: ImageByBundleName | undefined,
  result: ImageByBundleName | undefined,
): CatalogChange {
  const side = (bundles: ImageByBundleName) => ({
    bundles: Object.entries(bundles).map(([name, image], index) => ({
      name,
      image,
      package: 'foo',
      place: { file: `${root}/c.yaml`, line: index + 1, column: 1 },
    })),
  })
  return {
    root,
    packages: [{ name: 'foo' }],
    ...(base && { base: side(base) }),
    ...(result && { result: side(result) }),
  } as unknown as CatalogChange
}
/** A catalog that gets the bundle `foo.v1` with this image. */
const addFoo = (root: string, image: string) => createCatalogChange(root, {}, { 'foo.v1': image })
/** Answers of registries for tags; every other answer is unknown. */
function createImageTagLookupResults(tags: Readonly<Record<string, ImageLookupResult>> = {}): LookupResults {
  return createLookupResults(
    new Map(
      Object.entries(tags).map(([reference, answer]) => [toLookupKey({ kind: 'image', reference }), answer]),
    ),
  )
}
const formatFindings = (...catalogs: CatalogChange[]) =>
  formatFindingsForTagLookups(createImageTagLookupResults(), ...catalogs)
const formatFindingsForTagLookups = (known: LookupResults, ...catalogs: CatalogChange[]) =>
  evaluateRepublishedBundles(findRepublishedBundles(catalogs), known).findings.map(({ rule, at, data }) => [
    rule,
    at?.file,
    data?.['catalog'],
  ])

describe('a bundle name refers to one image', () => {
  const published = createCatalogChange(
    'v4.19',
    { 'foo.v1': `quay.io/foo/b${firstDigestSuffix}` },
    { 'foo.v1': `quay.io/foo/b${firstDigestSuffix}` },
  )
  test('another digest under a published name is an error in the catalog that adds it', () => {
    expect(formatFindings(addFoo('v4.18', `quay.io/foo/b${secondDigestSuffix}`), published)).toEqual([
      ['bundle-republished', 'v4.18/c.yaml', 'v4.19'],
    ])
  })
  test('the same digest is the same image, from any registry, with or without a tag', () => {
    for (const image of [
      `quay.io/foo/b${firstDigestSuffix}`,
      `mirror.example/foo/b${firstDigestSuffix}`,
      `quay.io/foo/b:v1${firstDigestSuffix}`,
    ])
      expect(formatFindings(addFoo('v4.20', image), published)).toEqual([])
  })
  test('a tag is compared by its current digest, and an inconclusive answer is not a finding', () => {
    const tag = 'quay.io/foo/b:v1'
    const tagged = [addFoo('v4.20', tag), published]
    const republished = findRepublishedBundles(tagged)
    expect(listTagDigestLookups(republished)).toEqual([{ kind: 'image', reference: tag }])
    const formatTaggedFindings = (answer: ImageLookupResult) =>
      formatFindingsForTagLookups(createImageTagLookupResults({ [tag]: answer }), ...tagged)
    const imageFound = (digest: string): ImageLookupResult => ({ kind: 'ok', digest })
    expect(formatTaggedFindings(imageFound(firstDigestSuffix.slice(1)))).toEqual([])
    expect(formatTaggedFindings(imageFound(secondDigestSuffix.slice(1)))).toHaveLength(1)
    expect(formatTaggedFindings({ kind: 'missing', reason: '404' })).toHaveLength(1)
    for (const kind of ['unknown', 'missing-or-private'] as const) {
      const waits = evaluateRepublishedBundles(
        republished,
        createImageTagLookupResults({ [tag]: { kind, reason: 'so', retryAfter: 900 } }),
      )
      expect(waits).toMatchObject({ findings: [], unanswered: [{ reason: 'so', retryAfter: 900 }] })
    }
  })
  test('the same tag is the same reference, and no registry is queried', () => {
    const tagged = { 'foo.v1': 'quay.io/foo/b:v1' }
    const republished = findRepublishedBundles([
      createCatalogChange('v4.20', {}, tagged),
      createCatalogChange('v4.19', tagged, tagged),
    ])
    expect(republished).toEqual([])
    expect(listTagDigestLookups(findRepublishedBundles([published]))).toEqual([])
  })
  test('if catalogs already disagree, another catalog can repeat one of their images', () => {
    const disagreeing = createCatalogChange(
      'v4.18',
      { 'foo.v1': `q.io/b${secondDigestSuffix}` },
      { 'foo.v1': `q.io/b${secondDigestSuffix}` },
    )
    for (const digest of [firstDigestSuffix, secondDigestSuffix])
      expect(formatFindings(addFoo('v4.20', `q.io/b${digest}`), published, disagreeing)).toEqual([])
    const three = `@sha256:${'3'.repeat(64)}`
    expect(formatFindings(addFoo('v4.20', `q.io/b${three}`), published, disagreeing)).toHaveLength(1)
  })
  test('two catalogs that get the name in the same change must agree', () => {
    expect(
      formatFindings(
        addFoo('v4.18', `q.io/b${firstDigestSuffix}`),
        createCatalogChange('v4.19', undefined, { 'foo.v1': `q.io/b${secondDigestSuffix}` }),
      ),
    ).toEqual([['bundle-republished', 'v4.19/c.yaml', 'v4.18']])
  })
  test('an edit within one catalog is not reported here, and a removed catalog still counts', () => {
    expect(
      formatFindings(
        createCatalogChange(
          'v4.19',
          { 'foo.v1': `q.io/b${firstDigestSuffix}` },
          { 'foo.v1': `q.io/b${secondDigestSuffix}` },
        ),
      ),
    ).toEqual([])
    expect(
      formatFindings(
        createCatalogChange('v4.18', { 'foo.v1': `q.io/b${firstDigestSuffix}` }, undefined),
        addFoo('v4.20', `q.io/b${secondDigestSuffix}`),
      ),
    ).toHaveLength(1)
  })
  test('bundles without an image are ignored', () => {
    expect(formatFindings(addFoo('v4.18', ''), published)).toEqual([])
  })
})
