import { describe, expect, test } from '@jest/globals'
import type { BundleBlob } from '../../../src/catalog/catalog.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { bundleImagesCheck } from '../../../src/checks/images/bundle-images.ts'
import {
  answersFrom,
  questionKey,
  type BundleAnswer,
  type ImageAnswer,
} from '../../../src/checks/questions.ts'
import { defaultConfig } from '../../../src/config/config.ts'

const reference = `quay.io/org/bundle@sha256:${'a'.repeat(64)}`
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
    { name: 'app', image: 'quay.io/org/app:1' },
  ],
}
type Statement = typeof statement

/** A change that adds one bundle, whose blob says what `blob` says. */
function input(blob: Partial<Statement> = {}): CheckInput {
  const bundle = {
    ...statement,
    ...blob,
    image: reference,
    place: { file: 'c.yaml', line: 7, column: 1 },
  } as unknown as BundleBlob
  return {
    config: defaultConfig,
    change: {
      paths: [],
      catalogs: [{ root: 'c', result: { bundles: [bundle] } }],
      references: [
        {
          reference,
          at: { file: 'c.yaml', line: 9, column: 3 },
          package: 'foo',
          bundle: 'foo.v1.0.0',
          role: 'bundle',
        },
      ],
    },
  } as unknown as CheckInput
}
function answers(bundle?: BundleAnswer, image: ImageAnswer = ok) {
  return answersFrom(
    new Map<string, ImageAnswer | BundleAnswer>([
      [questionKey({ kind: 'image', reference }), image],
      ...(bundle ? [[questionKey({ kind: 'bundle', reference }), bundle] as const] : []),
    ]),
  )
}
const holds = (content: Partial<Statement> = {}): BundleAnswer => ({
  kind: 'bundle',
  digest: 'x',
  content: { ...statement, ...content },
  findings: [],
})
const judged = (blob: Partial<Statement>, answer?: BundleAnswer) =>
  bundleImagesCheck.judge(input(blob), answers(answer))

describe('a look inside', () => {
  test('is asked for once the image is known to be there, and not before', () => {
    const kinds = (image: ImageAnswer) =>
      bundleImagesCheck.ask(input(), answers(undefined, image)).map(({ kind }) => kind)
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
      relatedImages: [{ name: 'x', image: 'quay.io/org/x:1' }],
    } as Partial<Statement>
    expect(judged(blob, holds()).findings).toMatchObject([
      {
        rule: 'bundle-differs-from-image',
        severity: 'warning',
        data: {
          differences: [
            'property olm.gvk {"group":"g","kind":"Foo","version":"v1"} is only in the image',
            'related image is quay.io/org/x:1 in the catalog and quay.io/org/app:1 in the image',
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
      { rule: 'image-unsupported' },
    ])
    const waits = judged({}, { kind: 'unknown', reason: 'it answered 503', retryAfter: 9 })
    expect(waits).toMatchObject({
      findings: [],
      unanswered: [{ question: `what is in ${reference}?`, retryAfter: 9 }],
    })
    expect(judged({}).unanswered).toHaveLength(1)
  })
})
