import { describe, expect, test } from '@jest/globals'
import type { CatalogChange } from '../../../src/change/change.ts'
import { republishedBundles } from '../../../src/checks/images/republished-bundles.ts'

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
const found = (...catalogs: CatalogChange[]) =>
  [...republishedBundles(catalogs)].map(({ rule, at, data }) => [rule, at?.file, data?.['catalog']])

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
  test('a tag is the same only as the same reference', () => {
    expect(found(catalog('v4.20', {}, { 'foo.v1': 'quay.io/foo/b:v1' }), published)).toHaveLength(1)
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
