import { describe, expect, test } from '@jest/globals'
import type { BundleBlob } from '../../../packages/fbc/src/facts/catalog.ts'
import type { CatalogChange } from '../../../src/pull-request/change.ts'
import { findAddedImageReferences } from '../../../src/pull-request/describe-change.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { imagesCheck } from '../../../src/checks/images/images.ts'
import {
  createLookupResults,
  toLookupKey,
  type LookupResults,
  type BundleImageLookupResult,
  type ImageLookupResult,
} from '../../../src/checks/lookups.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import type { Finding } from '../../../packages/findings/src/finding.ts'

const bundleImage = `quay.io/org/bundle@sha256:${'a'.repeat(64)}`
const appImageReference = `quay.io/org/app@sha256:${'b'.repeat(64)}`
const secondImageReference = `quay.io/org/x@sha256:${'c'.repeat(64)}`
const imageFound: ImageLookupResult = { kind: 'ok', digest: `sha256:${'a'.repeat(64)}` }
const bundleContent = {
  name: 'foo.v1.0.0',
  package: 'foo',
  properties: [
    { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' } },
    { type: 'olm.gvk', value: { group: 'g', kind: 'Foo', version: 'v1' } },
  ],
  relatedImages: [
    { name: '', image: bundleImage },
    { name: 'app', image: appImageReference },
  ],
}
type BundleContentFields = typeof bundleContent

type TestBundleFields = Partial<BundleContentFields> & { readonly image?: string }
interface TestCatalogBundles {
  readonly root?: string
  readonly base?: readonly TestBundleFields[]
  readonly result: readonly TestBundleFields[]
  readonly changed?: readonly string[]
}

/** A change of these catalogs that adds the bundles with names that the base does not have. */
function createCatalogChangeInput(...sides: readonly TestCatalogBundles[]): CheckInput {
  const blobOf = (root: string, blob: TestBundleFields) =>
    ({
      image: bundleImage,
      ...bundleContent,
      ...blob,
      relatedImages: (blob.relatedImages ?? bundleContent.relatedImages).map((related) => ({
        ...related,
        mark: { line: 12, column: 3 },
      })),
      place: { file: `${root}.yaml`, line: 7, column: 1 },
      imageMark: { line: 9, column: 3 },
    }) as unknown as BundleBlob
  const catalogs = sides.map(({ root = 'c', base, result, changed = [] }) => {
    const names = new Set(base?.map(({ name = bundleContent.name }) => name))
    const bundles = result.map((blob) => blobOf(root, blob))
    const added = bundles.filter(({ name }) => !names.has(name))
    const packages = [...new Set(bundles.map((blob) => blob.package))].map((name) => ({
      name,
      bundles: {
        added: added.filter((blob) => blob.package === name),
        changed: changed.map((bundle) => ({ name: bundle, fields: ['properties'] })),
        removed: [],
      },
    }))
    return {
      root,
      ...(base && { base: { bundles: base.map((blob) => blobOf(root, blob)) } }),
      result: { bundles },
      packages,
    }
  }) as unknown as CatalogChange[]
  return {
    config: defaultConfig,
    change: { paths: [], catalogs, references: catalogs.flatMap(findAddedImageReferences) },
  } as unknown as CheckInput
}

/** A change that adds one bundle with the fields of `blob`. */
const createCheckInputWithAddedBundle = (blob: TestBundleFields = {}) =>
  createCatalogChangeInput({ result: [{ relatedImages: [], ...blob }] })
function createResults(
  bundle?: BundleImageLookupResult,
  image: ImageLookupResult = imageFound,
  requestedReference = bundleImage,
) {
  return createLookupResults(
    new Map<string, ImageLookupResult | BundleImageLookupResult>([
      [toLookupKey({ kind: 'image', reference: requestedReference }), image],
      ...(bundle ? [[toLookupKey({ kind: 'bundle', reference: bundleImage }), bundle] as const] : []),
    ]),
  )
}
/** The bundles that are opened if every image exists. */
const listRequestedBundleImages = (given: CheckInput) =>
  imagesCheck
    .ask(given, { get: () => imageFound as never })
    .flatMap((question) => (question.kind === 'bundle' ? [question.reference] : []))
const listOpenedBundles = (...sides: TestCatalogBundles[]) =>
  listRequestedBundleImages(createCatalogChangeInput(...sides))
const openedBundle = (content: Partial<BundleContentFields> = {}): BundleImageLookupResult => ({
  kind: 'bundle',
  digest: 'x',
  content: { ...bundleContent, ...content },
  findings: [],
})
const checkBundle = (blob: TestBundleFields, answer?: BundleImageLookupResult) =>
  imagesCheck.judge(
    createCatalogChangeInput({ result: [{ ...blob }] }),
    createLookupResultsWithAllImages(answer),
  )
/** Answers that every image exists. */
function createLookupResultsWithAllImages(answer?: BundleImageLookupResult): LookupResults {
  const known = createResults(answer)
  return { get: (question) => (question.kind === 'image' ? imageFound : known.get(question)) as never }
}

describe('the content of a bundle image', () => {
  test('is requested only after the image is known to exist', () => {
    const kinds = (image: ImageLookupResult) =>
      imagesCheck
        .ask(createCheckInputWithAddedBundle(), createResults(undefined, image))
        .map(({ kind }) => kind)
    expect(kinds({ kind: 'unknown', reason: '', retryAfter: 0 })).toEqual(['image'])
    expect(kinds(imageFound)).toEqual(['image', 'bundle'])
  })
  test("is accepted if it matches the blob, regardless of key order and the bundle's related image", () => {
    const properties = [
      { type: 'olm.gvk', value: { version: 'v1', kind: 'Foo', group: 'g' } },
      ...bundleContent.properties.slice(0, 1),
    ]
    const blob = {
      properties,
      relatedImages: bundleContent.relatedImages.slice(1),
    } as unknown as Partial<BundleContentFields>
    expect(checkBundle(blob, openedBundle())).toMatchObject({ findings: [], unanswered: [] })
  })
  test('is not compared with olm.csv.metadata in the catalog', () => {
    const blob = {
      properties: [...bundleContent.properties, { type: 'olm.csv.metadata', value: {} }],
    } as unknown as Partial<BundleContentFields>
    expect(checkBundle(blob, openedBundle()).findings).toEqual([])
  })
  test.each<[string, Partial<BundleContentFields>, string]>([
    ['name', { name: 'foo.v1.0.1' }, 'name is foo.v1.0.1 in the catalog and foo.v1.0.0 in the image'],
    ['package', { package: 'bar' }, 'package is bar in the catalog and foo in the image'],
    [
      'version',
      {
        properties: [
          { type: 'olm.package', value: { packageName: 'foo', version: '1.0.1' } },
          ...bundleContent.properties.slice(1),
        ],
      },
      'property olm.package is {"packageName":"foo","version":"1.0.1"} in the catalog and {"packageName":"foo","version":"1.0.0"} in the image',
    ],
  ])('with another %s results in an error that shows both', (_name, blob, difference) => {
    expect(checkBundle(blob, openedBundle()).findings).toMatchObject([
      {
        rule: 'bundle-not-its-image',
        severity: 'error',
        at: { line: 7 },
        data: { differences: [difference] },
      },
    ])
  })
  test('with other properties and related images results in a warning that shows both', () => {
    const blob = {
      properties: bundleContent.properties.slice(0, 1),
      relatedImages: [{ name: 'x', image: secondImageReference }],
    } as Partial<BundleContentFields>
    expect(checkBundle(blob, openedBundle()).findings).toMatchObject([
      {
        rule: 'bundle-differs-from-image',
        severity: 'warning',
        data: {
          differences: [
            'property olm.gvk {"group":"g","kind":"Foo","version":"v1"} is only in the image',
            `related image is ${secondImageReference} in the catalog and ${appImageReference} in the image`,
          ],
        },
      },
    ])
  })
  test('has its findings reported at the image reference', () => {
    const inside = {
      rule: 'several-csvs',
      severity: 'error',
      what: 'two of them',
      why: '',
      fix: '',
      at: { file: 'manifests/a.yaml', line: 1, column: 1 },
    } as const
    expect(checkBundle({}, { kind: 'bundle', digest: 'x', findings: [inside] }).findings).toMatchObject([
      {
        rule: 'several-csvs',
        what: `two of them (in ${bundleImage}, manifests/a.yaml)`,
        at: { file: 'c.yaml', line: 9 },
      },
    ])
  })
  test('results in an error if the archive is hostile, and is inconclusive during an outage', () => {
    expect(checkBundle({}, { kind: 'unsupported', reason: 'the archive is refused' }).findings).toMatchObject(
      [{ rule: 'unreadable-bundle', severity: 'error', at: { line: 9 } }],
    )
    expect(checkBundle({}, { kind: 'digest-mismatch', reason: 'other bytes' }).findings).toMatchObject([
      { rule: 'digest-mismatch' },
    ])
    for (const kind of ['missing', 'missing-or-private'] as const)
      expect(checkBundle({}, { kind, reason: 'it is gone' })).toMatchObject({
        findings: [],
        unanswered: [{ reason: 'it is gone', retryAfter: 60 }],
      })
    expect(checkBundle({}, { kind: 'unknown', reason: 'it answered 503', retryAfter: 9 })).toMatchObject({
      findings: [],
      unanswered: [{ question: `the content of ${bundleImage}`, retryAfter: 9 }],
    })
    expect(checkBundle({}).unanswered).toHaveLength(1)
  })
  test('is one unanswered question for many bundles that wait for the same reason', () => {
    const bundles = Array.from({ length: 200 }, (_, index) => ({
      name: `foo.v1.0.${index}`,
      image: `quay.io/org/bundle@sha256:${String(index).padStart(64, '0')}`,
    }))
    const later: BundleImageLookupResult = { kind: 'unknown', reason: 'others came first', retryAfter: 2 }
    const given = createCatalogChangeInput({
      result: bundles.map((bundle) => ({ ...bundle, relatedImages: [] })),
    })
    const outcome = imagesCheck.judge(given, {
      get: (question) => (question.kind === 'image' ? imageFound : later) as never,
    })
    expect(outcome.unanswered).toEqual([
      {
        question: `the content of ${bundles[0]?.image} and 199 other bundle images`,
        reason: 'others came first',
        retryAfter: 2,
      },
    ])
  })
})

describe('which bundles are opened', () => {
  const published = { base: [{}] }
  test('one that is new to its catalog, even with the image of another bundle in it', () => {
    expect(listOpenedBundles({ ...published, result: [{}, { name: 'foo.v2.0.0' }] })).toEqual([bundleImage])
    expect(listOpenedBundles({ base: [], result: [{}] })).toEqual([bundleImage])
  })
  test('one with a changed blob for the same image', () => {
    const blob = { properties: bundleContent.properties.slice(0, 1) } as TestBundleFields
    expect(listOpenedBundles({ ...published, result: [blob], changed: ['foo.v1.0.0'] })).toEqual([
      bundleImage,
    ])
  })
  test('none that is unchanged, or that only stores its metadata in another form', () => {
    expect(listOpenedBundles({ ...published, result: [{}] })).toEqual([])
    const migrated = {
      properties: [...bundleContent.properties, { type: 'olm.csv.metadata', value: {} }],
    } as unknown as TestBundleFields
    expect(listOpenedBundles({ ...published, result: [migrated], changed: ['foo.v1.0.0'] })).toEqual([])
  })
  test('none that another catalog of the base contains with the same content and digest', () => {
    const older = { root: 'v4.19', ...published, result: [{}] }
    expect(listOpenedBundles(older, { root: 'v4.20', base: [], result: [{}] })).toEqual([])
    const incompleteContent = { properties: bundleContent.properties.slice(0, 1) } as TestBundleFields
    expect(listOpenedBundles(older, { root: 'v4.20', base: [], result: [incompleteContent] })).toEqual([
      bundleImage,
    ])
    const byTag = { image: 'quay.io/org/bundle:v1' }
    const tagged = { root: 'v4.19', base: [byTag], result: [byTag] }
    expect(listOpenedBundles(tagged, { root: 'v4.20', base: [], result: [byTag] })).toEqual([bundleImage])
  })
  test('one with an image by tag, by the digest of the tag', () => {
    const tag = 'quay.io/org/bundle:v1'
    const given = createCheckInputWithAddedBundle({ image: tag })
    expect(imagesCheck.ask(given, createResults(undefined, imageFound, tag))).toEqual([
      { kind: 'image', reference: tag },
      { kind: 'bundle', reference: bundleImage },
    ])
    const outcome = imagesCheck.judge(given, createResults(openedBundle({ name: 'bar.v1' }), imageFound, tag))
    expect(outcome.findings.map(({ rule }) => rule)).toContain('bundle-not-its-image')
  })
  test('none in a registry that is not allowed', () => {
    const given = createCheckInputWithAddedBundle()
    const config = { ...defaultConfig, images: { ...defaultConfig.images, registries: ['ghcr.io'] } }
    expect(listRequestedBundleImages({ ...given, config })).toEqual([])
  })
  test('one even if platforms are required of other images', () => {
    const config = { ...defaultConfig, images: { ...defaultConfig.images, platforms: ['linux/s390x'] } }
    const given = {
      ...createCheckInputWithAddedBundle({ relatedImages: [{ name: '', image: bundleImage }] }),
      config,
    }
    expect(imagesCheck.ask(given, createResults())).toEqual([
      { kind: 'image', reference: bundleImage },
      { kind: 'bundle', reference: bundleImage },
    ])
    expect(imagesCheck.judge(given, createResults(openedBundle({ relatedImages: [] })))).toMatchObject({
      findings: [],
      unanswered: [],
    })
  })
})

describe('images of other formats', () => {
  const chart: BundleImageLookupResult = { kind: 'bundle', digest: 'x', format: 'helm+v3', findings: [] }
  test('a chart is not a registry+v1 bundle, and the finding reports its format', () => {
    const { findings } = checkBundle({}, chart)
    expect(findings).toMatchObject([
      { rule: 'foreign-bundle-format', severity: 'error', at: { line: 7 }, data: { format: 'helm+v3' } },
    ])
  })
  test('are accepted if the blob declares the same format', () => {
    const named = (value: string) =>
      ({
        properties: [...bundleContent.properties, { type: 'olm.bundle.mediatype', value }],
      }) as unknown as TestBundleFields
    expect(checkBundle(named('helm+v3'), chart).findings).toEqual([])
    expect(checkBundle(named('plain+v0'), chart).findings).toMatchObject([
      { rule: 'foreign-bundle-format', data: { named: 'plain+v0' } },
    ])
  })
})

describe('a bundle that is accessible only with the credentials of catalog-bot', () => {
  const secret = 'secret-name'
  const inside: Finding = {
    rule: 'several-csvs',
    severity: 'error',
    what: secret,
    why: secret,
    fix: secret,
    at: { file: `manifests/${secret}.yaml`, line: 3, column: 1 },
    data: { secret },
  }
  const answer = (
    content: Partial<BundleContentFields>,
    findings: readonly Finding[] = [],
  ): BundleImageLookupResult => ({
    kind: 'bundle',
    digest: 'x',
    content: { ...bundleContent, ...content },
    findings,
    isRestricted: true,
  })
  test.each<[string, Partial<BundleContentFields>, string]>([
    ['another name', { name: secret }, 'bundle-not-its-image'],
    ['another package', { package: secret }, 'bundle-not-its-image'],
    [
      'more properties',
      {
        properties: [
          ...bundleContent.properties,
          { type: secret, value: { group: secret, kind: '', version: '' } },
        ],
      },
      'bundle-differs-from-image',
    ],
    [
      'another version and another API',
      { properties: [{ type: 'olm.package', value: { packageName: 'foo', version: secret } }] },
      'bundle-not-its-image',
    ],
    ['other images', { relatedImages: [{ name: '', image: secret }] }, 'bundle-differs-from-image'],
  ])('is not quoted if it has %s', (_name, content, rule) => {
    const { findings } = checkBundle({}, answer(content))
    expect(findings.map((one) => one.rule)).toContain(rule)
    expect(JSON.stringify(findings)).not.toContain(secret)
  })
  test('has one finding per violated rule, with the title of the rule but no file or value', () => {
    const { findings } = checkBundle({}, answer({}, [inside, inside, { ...inside, what: 'x' }]))
    expect(findings).toHaveLength(1)
    expect(findings[0]?.what).toMatch(
      /^the bundle violates the rule ".*ClusterServiceVersion.*" \(in quay\.io\/org\/bundle@/,
    )
    expect(JSON.stringify(findings)).not.toContain(secret)
  })
})

describe('a new bundle passes only with a definite yes to both questions', () => {
  const images: readonly ImageLookupResult[] = [
    imageFound,
    { kind: 'missing', reason: 'r' },
    { kind: 'missing-or-private', reason: 'r' },
    { kind: 'digest-mismatch', reason: 'r' },
    { kind: 'malformed', reason: 'r' },
    { kind: 'unsupported', reason: 'r' },
    { kind: 'blocked', reason: 'r' },
    { kind: 'unknown', reason: 'the change names more than 10000 images', retryAfter: 3600 },
  ]
  const isError = ({ severity }: Finding) => severity === 'error'
  const otherName = { ...bundleContent, name: 'foo.v9' }
  const bundles: readonly [string, BundleImageLookupResult | undefined][] = [
    ['what the blob says', openedBundle()],
    ['another name', openedBundle(otherName)],
    [
      'another name, unseen',
      { kind: 'bundle', digest: 'x', content: otherName, findings: [], isRestricted: true },
    ],
    ['never asked', undefined],
    ...images
      .slice(1)
      .map((one) => [one.kind, one as BundleImageLookupResult] as [string, BundleImageLookupResult]),
  ]
  const verdicts = images.flatMap((image) =>
    bundles.map(([name, bundle]) => {
      const given = createCheckInputWithAddedBundle()
      const bundleKey = toLookupKey({ kind: 'bundle', reference: bundleImage })
      const known = createLookupResults(
        new Map<string, ImageLookupResult | BundleImageLookupResult>([
          ...given.change.references.map(
            (one) => [toLookupKey({ kind: 'image', reference: one.reference }), imageFound] as const,
          ),
          [toLookupKey({ kind: 'image', reference: bundleImage }), image],
          ...(bundle ? [[bundleKey, bundle] as const] : []),
        ]),
      )
      const { findings, unanswered } = imagesCheck.judge(given, known)
      return { name: `${image.kind}, ${name}`, passes: !findings.some(isError) && unanswered.length === 0 }
    }),
  )
  test('for all pairs of answers', () => {
    expect(verdicts).toHaveLength(images.length * bundles.length)
    expect(verdicts.filter(({ passes }) => passes).map(({ name }) => name)).toEqual([
      'ok, what the blob says',
    ])
  })
  test('and never from a registry that is not allowed, even with known answers', () => {
    const config = { ...defaultConfig, images: { ...defaultConfig.images, registries: ['ghcr.io'] } }
    const { findings } = imagesCheck.judge(
      { ...createCheckInputWithAddedBundle(), config },
      createLookupResultsWithAllImages(openedBundle()),
    )
    expect(findings).toMatchObject([{ rule: 'registry-not-allowed', severity: 'error' }])
  })
})
