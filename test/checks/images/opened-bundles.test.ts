import { describe, expect, test } from '@jest/globals'
import type { BundleBlob } from '../../../src/catalog/facts/catalog.ts'
import type { CatalogChange } from '../../../src/change/change.ts'
import { newReferences } from '../../../src/change/references/new-references.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { imagesCheck } from '../../../src/checks/images/images.ts'
import {
  answersFrom,
  questionKey,
  type Answers,
  type BundleAnswer,
  type ImageAnswer,
} from '../../../src/checks/questions.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import type { Finding } from '../../../src/findings/finding.ts'

const reference = `quay.io/org/bundle@sha256:${'a'.repeat(64)}`
const app = `quay.io/org/app@sha256:${'b'.repeat(64)}`
const other = `quay.io/org/x@sha256:${'c'.repeat(64)}`
const ok: ImageAnswer = { kind: 'ok', digest: `sha256:${'a'.repeat(64)}`, mediaType: 'x', size: 1 }
const statement = {
  name: 'foo.v1.0.0',
  package: 'foo',
  properties: [
    { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' } },
    { type: 'olm.gvk', value: { group: 'g', kind: 'Foo', version: 'v1' } },
  ],
  relatedImages: [
    { name: '', image: reference },
    { name: 'app', image: app },
  ],
}
type Statement = typeof statement

type Blob = Partial<Statement> & { readonly image?: string }
interface Side {
  readonly root?: string
  readonly base?: readonly Blob[]
  readonly result: readonly Blob[]
  readonly changed?: readonly string[]
}

/** A change of these catalogs: what the base does not have by name is added. */
function changeOf(...sides: readonly Side[]): CheckInput {
  const blobOf = (root: string, blob: Blob) =>
    ({
      image: reference,
      ...statement,
      ...blob,
      relatedImages: (blob.relatedImages ?? statement.relatedImages).map((related) => ({
        ...related,
        mark: { line: 12, column: 3 },
      })),
      place: { file: `${root}.yaml`, line: 7, column: 1 },
      imageMark: { line: 9, column: 3 },
    }) as unknown as BundleBlob
  const catalogs = sides.map(({ root = 'c', base, result, changed = [] }) => {
    const names = new Set(base?.map(({ name = statement.name }) => name))
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
    change: { paths: [], catalogs, references: catalogs.flatMap(newReferences) },
  } as unknown as CheckInput
}

/** A change that adds one bundle, whose blob says what `blob` says. */
const input = (blob: Blob = {}) => changeOf({ result: [{ relatedImages: [], ...blob }] })
function answers(bundle?: BundleAnswer, image: ImageAnswer = ok, asked = reference) {
  return answersFrom(
    new Map<string, ImageAnswer | BundleAnswer>([
      [questionKey({ kind: 'image', reference: asked }), image],
      ...(bundle ? [[questionKey({ kind: 'bundle', reference }), bundle] as const] : []),
    ]),
  )
}
/** The bundles that are opened once every image is there. */
const opened = (given: CheckInput) =>
  imagesCheck
    .ask(given, { get: () => ok as never })
    .flatMap((question) => (question.kind === 'bundle' ? [question.reference] : []))
const holds = (content: Partial<Statement> = {}): BundleAnswer => ({
  kind: 'bundle',
  digest: 'x',
  content: { ...statement, ...content },
  findings: [],
})
const judged = (blob: Blob, answer?: BundleAnswer) =>
  imagesCheck.judge(changeOf({ result: [{ ...blob }] }), inAll(answer))
/** Every image is there. */
function inAll(answer?: BundleAnswer): Answers {
  const known = answers(answer)
  return { get: (question) => (question.kind === 'image' ? ok : known.get(question)) as never }
}

describe('a look inside', () => {
  test('is asked for once the image is known to be there, and not before', () => {
    const kinds = (image: ImageAnswer) =>
      imagesCheck.ask(input(), answers(undefined, image)).map(({ kind }) => kind)
    expect(kinds({ kind: 'unknown', reason: '', retryAfter: 0 })).toEqual(['image'])
    expect(kinds(ok)).toEqual(['image', 'bundle'])
  })
  test('a blob that says what its image holds is fine, whatever the order of keys and its own image', () => {
    const properties = [
      { type: 'olm.gvk', value: { version: 'v1', kind: 'Foo', group: 'g' } },
      ...statement.properties.slice(0, 1),
    ]
    const blob = {
      properties,
      relatedImages: statement.relatedImages.slice(1),
    } as unknown as Partial<Statement>
    expect(judged(blob, holds())).toMatchObject({ findings: [], unanswered: [] })
  })
  test('the metadata of the catalog is not compared, being one of two ways to show it', () => {
    const blob = {
      properties: [...statement.properties, { type: 'olm.csv.metadata', value: {} }],
    } as unknown as Partial<Statement>
    expect(judged(blob, holds()).findings).toEqual([])
  })
  test.each<[string, Partial<Statement>, string]>([
    ['name', { name: 'foo.v1.0.1' }, 'name is foo.v1.0.1 in the catalog and foo.v1.0.0 in the image'],
    ['package', { package: 'bar' }, 'package is bar in the catalog and foo in the image'],
    [
      'version',
      {
        properties: [
          { type: 'olm.package', value: { packageName: 'foo', version: '1.0.1' } },
          ...statement.properties.slice(1),
        ],
      },
      'property olm.package is {"packageName":"foo","version":"1.0.1"} in the catalog and {"packageName":"foo","version":"1.0.0"} in the image',
    ],
  ])('another %s is an error that shows both', (_name, blob, difference) => {
    expect(judged(blob, holds()).findings).toMatchObject([
      {
        rule: 'bundle-not-its-image',
        severity: 'error',
        at: { line: 7 },
        data: { differences: [difference] },
      },
    ])
  })
  test('other properties and related images are a warning that shows both', () => {
    const blob = {
      properties: statement.properties.slice(0, 1),
      relatedImages: [{ name: 'x', image: other }],
    } as Partial<Statement>
    expect(judged(blob, holds()).findings).toMatchObject([
      {
        rule: 'bundle-differs-from-image',
        severity: 'warning',
        data: {
          differences: [
            'property olm.gvk {"group":"g","kind":"Foo","version":"v1"} is only in the image',
            `related image is ${other} in the catalog and ${app} in the image`,
          ],
        },
      },
    ])
  })
  test('what is wrong inside is shown where the image is named', () => {
    const inside = {
      rule: 'several-csvs',
      severity: 'error',
      what: 'two of them',
      why: '',
      fix: '',
      at: { file: 'manifests/a.yaml', line: 1, column: 1 },
    } as const
    expect(judged({}, { kind: 'bundle', digest: 'x', findings: [inside] }).findings).toMatchObject([
      {
        rule: 'several-csvs',
        what: `two of them (in ${reference}, manifests/a.yaml)`,
        at: { file: 'c.yaml', line: 9 },
      },
    ])
  })
  test('a hostile archive is held against the author, an outage is not', () => {
    expect(judged({}, { kind: 'unsupported', reason: 'the archive is refused' }).findings).toMatchObject([
      { rule: 'unreadable-bundle', severity: 'error', at: { line: 9 } },
    ])
    expect(judged({}, { kind: 'digest-mismatch', reason: 'other bytes' }).findings).toMatchObject([
      { rule: 'digest-mismatch' },
    ])
    for (const kind of ['missing', 'missing-or-private'] as const)
      expect(judged({}, { kind, reason: 'it is gone' })).toMatchObject({
        findings: [],
        unanswered: [{ reason: 'it is gone', retryAfter: 60 }],
      })
    const waits = judged({}, { kind: 'unknown', reason: 'it answered 503', retryAfter: 9 })
    expect(waits).toMatchObject({
      findings: [],
      unanswered: [{ question: `the content of ${reference}`, retryAfter: 9 }],
    })
    expect(judged({}).unanswered).toHaveLength(1)
  })
  test('many bundles that wait for the same reason are one question', () => {
    const bundles = Array.from({ length: 200 }, (_, index) => ({
      name: `foo.v1.0.${index}`,
      image: `quay.io/org/bundle@sha256:${String(index).padStart(64, '0')}`,
    }))
    const later: BundleAnswer = { kind: 'unknown', reason: 'others came first', retryAfter: 2 }
    const given = changeOf({ result: bundles.map((bundle) => ({ ...bundle, relatedImages: [] })) })
    const outcome = imagesCheck.judge(given, {
      get: (question) => (question.kind === 'image' ? ok : later) as never,
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
  test('one that is new to its catalog, also with an image that another bundle of it has', () => {
    expect(opened(changeOf({ ...published, result: [{}, { name: 'foo.v2.0.0' }] }))).toEqual([reference])
    expect(opened(changeOf({ base: [], result: [{}] }))).toEqual([reference])
  })
  test('one whose blob says something else than before about the same image', () => {
    const blob = { properties: statement.properties.slice(0, 1) } as Blob
    expect(opened(changeOf({ ...published, result: [blob], changed: ['foo.v1.0.0'] }))).toEqual([reference])
  })
  test('none that only moved, or shows its metadata in another way', () => {
    expect(opened(changeOf({ ...published, result: [{}] }))).toEqual([])
    const migrated = {
      properties: [...statement.properties, { type: 'olm.csv.metadata', value: {} }],
    } as unknown as Blob
    expect(opened(changeOf({ ...published, result: [migrated], changed: ['foo.v1.0.0'] }))).toEqual([])
  })
  test('none that another catalog of the base has, word for word, under the same digest', () => {
    const older = { root: 'v4.19', ...published, result: [{}] }
    expect(opened(changeOf(older, { root: 'v4.20', base: [], result: [{}] }))).toEqual([])
    const says = { properties: statement.properties.slice(0, 1) } as Blob
    expect(opened(changeOf(older, { root: 'v4.20', base: [], result: [says] }))).toEqual([reference])
    const byTag = { image: 'quay.io/org/bundle:v1' }
    const tagged = { root: 'v4.19', base: [byTag], result: [byTag] }
    expect(opened(changeOf(tagged, { root: 'v4.20', base: [], result: [byTag] }))).toEqual([reference])
  })
  test('one named by tag is opened by the digest that the tag stands for', () => {
    const tag = 'quay.io/org/bundle:v1'
    const given = input({ image: tag })
    expect(imagesCheck.ask(given, answers(undefined, ok, tag))).toEqual([
      { kind: 'image', reference: tag },
      { kind: 'bundle', reference },
    ])
    const outcome = imagesCheck.judge(given, answers(holds({ name: 'bar.v1' }), ok, tag))
    expect(outcome.findings.map(({ rule }) => rule)).toContain('bundle-not-its-image')
  })
  test('none in a registry that is not allowed', () => {
    const given = input()
    const config = { ...defaultConfig, images: { ...defaultConfig.images, registries: ['ghcr.io'] } }
    expect(opened({ ...given, config })).toEqual([])
  })
  test('one is opened where platforms are wanted of other images, too', () => {
    const config = { ...defaultConfig, images: { ...defaultConfig.images, platforms: ['linux/s390x'] } }
    const given = { ...input({ relatedImages: [{ name: '', image: reference }] }), config }
    expect(imagesCheck.ask(given, answers())).toEqual([
      { kind: 'image', reference },
      { kind: 'bundle', reference },
    ])
    expect(imagesCheck.judge(given, answers(holds({ relatedImages: [] })))).toMatchObject({
      findings: [],
      unanswered: [],
    })
  })
})

describe('images of other formats', () => {
  const chart: BundleAnswer = { kind: 'bundle', digest: 'x', format: 'helm+v3', findings: [] }
  test('a chart is no registry+v1 bundle, and the finding says what it is', () => {
    const { findings } = judged({}, chart)
    expect(findings).toMatchObject([
      { rule: 'foreign-bundle-format', severity: 'error', at: { line: 7 }, data: { format: 'helm+v3' } },
    ])
  })
  test('is what the blob may say, and then it must be that', () => {
    const named = (value: string) =>
      ({ properties: [...statement.properties, { type: 'olm.bundle.mediatype', value }] }) as unknown as Blob
    expect(judged(named('helm+v3'), chart).findings).toEqual([])
    expect(judged(named('plain+v0'), chart).findings).toMatchObject([
      { rule: 'foreign-bundle-format', data: { named: 'plain+v0' } },
    ])
  })
})

describe('a bundle that is seen by rights of our own', () => {
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
  const answer = (content: Partial<Statement>, findings: readonly Finding[] = []): BundleAnswer => ({
    kind: 'bundle',
    digest: 'x',
    content: { ...statement, ...content },
    findings,
    isRestricted: true,
  })
  test.each<[string, Partial<Statement>, string]>([
    ['another name', { name: secret }, 'bundle-not-its-image'],
    ['another package', { package: secret }, 'bundle-not-its-image'],
    [
      'more properties',
      {
        properties: [
          ...statement.properties,
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
  ])('is not quoted where it has %s', (_name, content, rule) => {
    const { findings } = judged({}, answer(content))
    expect(findings.map((one) => one.rule)).toContain(rule)
    expect(JSON.stringify(findings)).not.toContain(secret)
  })
  test('tells of a broken rule once, by its title, and names neither file nor value', () => {
    const { findings } = judged({}, answer({}, [inside, inside, { ...inside, what: 'x' }]))
    expect(findings).toHaveLength(1)
    expect(findings[0]?.what).toMatch(
      /^the bundle breaks the rule ".*ClusterServiceVersion.*" \(in quay\.io\/org\/bundle@/,
    )
    expect(JSON.stringify(findings)).not.toContain(secret)
  })
})

describe('a new bundle passes only by a definite yes to both questions', () => {
  const images: readonly ImageAnswer[] = [
    ok,
    { kind: 'missing', reason: 'r' },
    { kind: 'missing-or-private', reason: 'r' },
    { kind: 'digest-mismatch', reason: 'r' },
    { kind: 'malformed', reason: 'r' },
    { kind: 'unsupported', reason: 'r' },
    { kind: 'blocked', reason: 'r' },
    { kind: 'unknown', reason: 'the change names more than 10000 images', retryAfter: 3600 },
  ]
  const isError = ({ severity }: Finding) => severity === 'error'
  const otherName = { ...statement, name: 'foo.v9' }
  const bundles: readonly [string, BundleAnswer | undefined][] = [
    ['what the blob says', holds()],
    ['another name', holds(otherName)],
    [
      'another name, unseen',
      { kind: 'bundle', digest: 'x', content: otherName, findings: [], isRestricted: true },
    ],
    ['never asked', undefined],
    ...images.slice(1).map((one) => [one.kind, one as BundleAnswer] as [string, BundleAnswer]),
  ]
  const verdicts = images.flatMap((image) =>
    bundles.map(([name, bundle]) => {
      const given = input()
      const bundleKey = questionKey({ kind: 'bundle', reference })
      const known = answersFrom(
        new Map<string, ImageAnswer | BundleAnswer>([
          ...given.change.references.map(
            (one) => [questionKey({ kind: 'image', reference: one.reference }), ok] as const,
          ),
          [questionKey({ kind: 'image', reference }), image],
          ...(bundle ? [[bundleKey, bundle] as const] : []),
        ]),
      )
      const { findings, unanswered } = imagesCheck.judge(given, known)
      return { name: `${image.kind}, ${name}`, passes: !findings.some(isError) && unanswered.length === 0 }
    }),
  )
  test('of all pairs of answers', () => {
    expect(verdicts).toHaveLength(images.length * bundles.length)
    expect(verdicts.filter(({ passes }) => passes).map(({ name }) => name)).toEqual([
      'ok, what the blob says',
    ])
  })
  test('and never from a registry that is not allowed, whatever is remembered of it', () => {
    const config = { ...defaultConfig, images: { ...defaultConfig.images, registries: ['ghcr.io'] } }
    const { findings } = imagesCheck.judge({ ...input(), config }, inAll(holds()))
    expect(findings).toMatchObject([{ rule: 'registry-not-allowed', severity: 'error' }])
  })
})
