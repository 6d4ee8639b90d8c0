import { describe, expect, test } from '@jest/globals'
import type { CatalogChange } from '../../../src/change/change.ts'
import {
  judgeRepublished,
  questionsAboutRepublished,
  republishedBundles,
} from '../../../src/checks/images/republished-bundles.ts'
import { answersFrom, questionKey, type Answers, type ImageAnswer } from '../../../src/checks/questions.ts'

const one = `@sha256:${'1'.repeat(64)}`
const two = `@sha256:${'2'.repeat(64)}`
type Bundles = Readonly<Record<string, string>>

function catalog(root: string, base: Bundles | undefined, result: Bundles | undefined): CatalogChange {
  const side = (bundles: Bundles) => ({
    bundles: Object.entries(bundles).map(([name, image], index) => ({
      name,
      image,
      package: 'foo',
      place: { file: `${root}/c.yaml`, line: index + 1, column: 1 },
    })),
  })
  return {
    root,
    ...(base && { base: side(base) }),
    ...(result && { result: side(result) }),
  } as unknown as CatalogChange
}
/** What registries say of tags; every other question is unknown. */
function answers(tags: Readonly<Record<string, ImageAnswer>> = {}): Answers {
  return answersFrom(
    new Map(
      Object.entries(tags).map(([reference, answer]) => [questionKey({ kind: 'image', reference }), answer]),
    ),
  )
}
const found = (...catalogs: CatalogChange[]) => foundAfter(answers(), ...catalogs)
const foundAfter = (known: Answers, ...catalogs: CatalogChange[]) =>
  judgeRepublished(republishedBundles(catalogs), known).findings.map(({ rule, at, data }) => [
    rule,
    at?.file,
    data?.['catalog'],
  ])

describe('a bundle name stands for one image', () => {
  const published = catalog('v4.19', { 'foo.v1': `quay.io/foo/b${one}` }, { 'foo.v1': `quay.io/foo/b${one}` })
  test('another digest under a published name is an error where it is added', () => {
    expect(found(catalog('v4.18', {}, { 'foo.v1': `quay.io/foo/b${two}` }), published)).toEqual([
      ['bundle-republished', 'v4.18/c.yaml', 'v4.19'],
    ])
  })
  test('the same digest is the same image, from whichever registry, with or without a tag', () => {
    for (const image of [`quay.io/foo/b${one}`, `mirror.example/foo/b${one}`, `quay.io/foo/b:v1${one}`])
      expect(found(catalog('v4.20', {}, { 'foo.v1': image }), published)).toEqual([])
  })
  test('a tag is the image that it stands for: registries are asked, and no answer blames nobody', () => {
    const tag = 'quay.io/foo/b:v1'
    const tagged = [catalog('v4.20', {}, { 'foo.v1': tag }), published]
    const republished = republishedBundles(tagged)
    expect(questionsAboutRepublished(republished)).toEqual([{ kind: 'image', reference: tag }])
    const stands = (digest: string): ImageAnswer => ({ kind: 'ok', digest, mediaType: 'x', size: 1 })
    expect(foundAfter(answers({ [tag]: stands(one.slice(1)) }), ...tagged)).toEqual([])
    expect(foundAfter(answers({ [tag]: stands(two.slice(1)) }), ...tagged)).toHaveLength(1)
    expect(foundAfter(answers({ [tag]: { kind: 'missing', reason: '404' } }), ...tagged)).toHaveLength(1)
    for (const kind of ['unknown', 'missing-or-private'] as const) {
      const waits = judgeRepublished(republished, answers({ [tag]: { kind, reason: 'so', retryAfter: 900 } }))
      expect(waits).toMatchObject({ findings: [], unanswered: [{ reason: 'so', retryAfter: 900 }] })
    }
  })
  test('the same tag is the same reference, and nobody is asked', () => {
    const tagged = { 'foo.v1': 'quay.io/foo/b:v1' }
    const republished = republishedBundles([catalog('v4.20', {}, tagged), catalog('v4.19', tagged, tagged)])
    expect(republished).toEqual([])
    expect(questionsAboutRepublished(republishedBundles([published]))).toEqual([])
  })
  test('where catalogs disagree already, repeating one of them is no second meaning', () => {
    const disagreeing = catalog('v4.18', { 'foo.v1': `q.io/b${two}` }, { 'foo.v1': `q.io/b${two}` })
    for (const digest of [one, two])
      expect(found(catalog('v4.20', {}, { 'foo.v1': `q.io/b${digest}` }), published, disagreeing)).toEqual([])
    const three = `@sha256:${'3'.repeat(64)}`
    expect(found(catalog('v4.20', {}, { 'foo.v1': `q.io/b${three}` }), published, disagreeing)).toHaveLength(
      1,
    )
  })
  test('two catalogs that get the name at once must agree', () => {
    expect(
      found(
        catalog('v4.18', {}, { 'foo.v1': `q.io/b${one}` }),
        catalog('v4.19', undefined, { 'foo.v1': `q.io/b${two}` }),
      ),
    ).toEqual([['bundle-republished', 'v4.19/c.yaml', 'v4.18']])
  })
  test('an edit within one catalog is judged elsewhere, and a removed catalog still counts', () => {
    expect(found(catalog('v4.19', { 'foo.v1': `q.io/b${one}` }, { 'foo.v1': `q.io/b${two}` }))).toEqual([])
    expect(
      found(
        catalog('v4.18', { 'foo.v1': `q.io/b${one}` }, undefined),
        catalog('v4.20', {}, { 'foo.v1': `q.io/b${two}` }),
      ),
    ).toHaveLength(1)
  })
  test('bundles without an image say nothing', () => {
    expect(found(catalog('v4.18', {}, { 'foo.v1': '' }), published)).toEqual([])
  })
})
