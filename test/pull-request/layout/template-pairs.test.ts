// Catalogs and their templates, by the configuration and by the layouts of public repositories.
import { describe, expect, test } from '@jest/globals'
import { detectLayout } from '../../../src/pull-request/layout/detect-layout.ts'
import { findTouchedTemplateCatalogPairs } from '../../../src/pull-request/layout/template-pairs.ts'
import type { TemplateConfig } from '../../../src/config/catalog-sources.ts'

interface TestTemplatePairInputs {
  readonly stated?: readonly Omit<TemplateConfig, 'offer'>[]
  readonly ciYaml?: Readonly<Record<string, string>>
  readonly touched?: readonly string[]
}

/** Pairs as `template -> catalog`, with `!` where the configuration states them. */
function findTestTemplatePairs(
  paths: readonly string[],
  { stated = [], ciYaml = {}, touched = paths }: TestTemplatePairInputs = {},
) {
  return findTouchedTemplateCatalogPairs(
    {
      trees: [paths.toSorted()],
      layout: detectLayout(paths, []),
      stated: stated.map((one) => ({ ...one, offer: 'none' })),
      ciYaml: (directory) => ciYaml[directory],
    },
    touched,
  ).map(({ template, catalog, isStated }) => `${template} -> ${catalog}${isStated ? '!' : ''}`)
}
const communityCatalogPaths = [
  'catalogs/v4.19/foo/catalog.yaml',
  'catalogs/v4.20/foo/catalog.yaml',
  'operators/foo/ci.yaml',
  'operators/foo/catalog-templates/v4.19.yaml',
  'operators/foo/catalog-templates/v4.20.yaml',
]

describe('the layout pairs', () => {
  test('templates with the catalog of the same name', () => {
    expect(findTestTemplatePairs(communityCatalogPaths)).toEqual([
      'operators/foo/catalog-templates/v4.19.yaml -> catalogs/v4.19/foo',
      'operators/foo/catalog-templates/v4.20.yaml -> catalogs/v4.20/foo',
    ])
  })
  test('templates by the mapping in ci.yaml, and only by that if there is one', () => {
    const mapping = `fbc:
  enabled: true
  catalog_mapping:
    - template_name: basic.yaml
      catalog_names: [v4.19, v4.20, "4.21/../../x"]
      type: olm.template.basic
`
    const paths = [...communityCatalogPaths, 'operators/foo/catalog-templates/basic.yaml']
    expect(findTestTemplatePairs(paths, { ciYaml: { foo: mapping } })).toEqual([
      'operators/foo/catalog-templates/basic.yaml -> catalogs/v4.19/foo',
      'operators/foo/catalog-templates/basic.yaml -> catalogs/v4.20/foo',
    ])
    expect(findTestTemplatePairs(communityCatalogPaths, { ciYaml: { foo: 'fbc: [' } })).toHaveLength(2)
  })
  test.each([
    ['v4.20/catalog-template.yaml', 'v4.20/catalog', 'v4.20/catalog/foo/catalog.json'],
    ['v4.20/catalog-template.json', 'v4.20/catalog', 'v4.20/catalog/foo/catalog.json'],
    ['v4.17/graph.yaml', 'v4.17/catalog', 'v4.17/catalog/foo/catalog.json'],
    ['fbc/v4.18/catalog-template.yaml', 'fbc/v4.18/catalog', 'fbc/v4.18/catalog/foo/catalog.json'],
    ['catalog-templates/foo.yaml', 'catalog/foo', 'catalog/foo/catalog.yaml'],
    ['veneer/foo.yaml', 'catalog/foo', 'catalog/foo/catalog.yaml'],
  ])('%s with %s', (template, catalog, file) => {
    expect(findTestTemplatePairs([template, file])).toEqual([`${template} -> ${catalog}`])
  })
  test.each([
    ['a missing catalog', ['operators/foo/catalog-templates/v4.20.yaml', 'catalogs/v4.20/bar/c.yaml']],
    [
      'two templates for one catalog',
      ['v4.20/catalog-template.yaml', 'v4.20/graph.yaml', 'v4.20/catalog/foo/catalog.json'],
    ],
    ['a template of another name', ['v4.20/catalog-template-dry-run.json', 'v4.20/catalog/foo/catalog.json']],
    ['one template for catalogs of many versions', ['catalog-template.yaml', 'catalog-4-20/package.yaml']],
  ])('nothing for %s', (_name, paths) => {
    expect(findTestTemplatePairs(paths)).toEqual([])
  })
})

describe('the configuration pairs', () => {
  test('one catalog, or all that its placeholders match, in any order', () => {
    const stated = [
      { template: 'src/{name}/for-{version}.yaml', catalog: 'out/{version}/{name}' },
      { template: 'one.yaml', catalog: 'out/one.json' },
    ]
    const paths = ['src/a/for-4.20.yaml', 'src/a/b/for-4.20.yaml', 'src/a/for-.yaml', 'srcXa/for-1.yaml']
    expect(findTestTemplatePairs(paths, { stated, touched: [...paths, 'out/one.json'] })).toEqual([
      'one.yaml -> out/one.json!',
      'src/a/for-4.20.yaml -> out/4.20/a!',
    ])
  })
  test('templates before the layout does', () => {
    const stated = [{ template: 'operators/foo/mine.yaml', catalog: 'catalogs/v4.19/foo' }]
    expect(findTestTemplatePairs(communityCatalogPaths, { stated })).toEqual([
      'operators/foo/catalog-templates/v4.20.yaml -> catalogs/v4.20/foo',
      'operators/foo/mine.yaml -> catalogs/v4.19/foo!',
    ])
  })
})

test('only pairs with a touched template or catalog are returned', () => {
  const only = (...touched: string[]) => findTestTemplatePairs(communityCatalogPaths, { touched })
  expect(only('operators/foo/ci.yaml', 'catalogs/v4.20/foobar/catalog.yaml')).toEqual([])
  expect(only('catalogs/v4.20/foo/catalog.yaml')).toEqual([
    'operators/foo/catalog-templates/v4.20.yaml -> catalogs/v4.20/foo',
  ])
  expect(only('operators/foo/catalog-templates/v4.19.yaml')).toHaveLength(1)
})
