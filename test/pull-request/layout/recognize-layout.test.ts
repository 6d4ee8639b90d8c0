import { describe, expect, test } from '@jest/globals'
import { addCatalogsToEmptyLayout, compareCatalogVersions } from '../../../src/pull-request/layout/layout.ts'
import { detectLayout, addNewCatalogsToLayout } from '../../../src/pull-request/layout/detect-layout.ts'

const packageBlobYaml = '---\nschema: olm.package\nname: x\n'
const detectTestLayout = (paths: readonly string[], fbc: (path: string) => boolean = () => true) =>
  detectLayout(paths, [], (path) => (fbc(path) ? packageBlobYaml : '{}'))
const formatCatalogRoots = (layout: { catalogs: readonly { root: string; version?: string }[] }) =>
  layout.catalogs.map(({ root, version }) => (version === undefined ? root : `${root} = ${version}`))

const repositoryLayoutCases: [name: string, paths: string[], expected: string[]][] = [
  [
    'L1, versions as numbers',
    [
      'catalogs/v5.0/a/catalog.yaml',
      'catalogs/v4.9/a/catalog.yaml',
      'catalogs/v4.20/a/catalog.yaml',
      'catalogs/v4.20/a/README.md',
      'operators/a/ci.yaml',
      'operators/a/catalog-templates/v4.20.yaml',
      'operators/a/1.0.0/manifests/a.yaml',
      'config.yaml',
    ],
    ['catalogs/v4.9 = 4.9', 'catalogs/v4.20 = 4.20', 'catalogs/v5.0 = 5.0'],
  ],
  ['L2, bundles only', ['operators/a/1.0.0/manifests/csv.yaml', 'operators/a/ci.yaml'], []],
  [
    'L2, with the proposed catalog',
    ['operators/a/1.0.0/manifests/csv.yaml', 'catalogs/latest/a/catalog.yaml'],
    ['catalogs/latest'],
  ],
  [
    'L3',
    [
      'v4.9/catalog/kueue-operator/catalog.json',
      'v4.20/catalog/kueue-operator/catalog.json',
      'v4.20/catalog-template.yaml',
      'v4.20/Containerfile.catalog',
      'OWNERS',
    ],
    ['v4.9/catalog = 4.9', 'v4.20/catalog = 4.20'],
  ],
  [
    'L3, below fbc/',
    ['fbc/v4.18/catalog/s/catalog.yaml', 'fbc/v4.18/catalog-template.yaml', 'config/crd/x.yaml', 'go.mod'],
    ['fbc/v4.18/catalog = 4.18'],
  ],
  [
    'L4',
    ['v4.17/catalog/rhtpa-operator/catalog.json', 'v4.17/graph.yaml', 'v4.17/catalog.Dockerfile'],
    ['v4.17/catalog = 4.17'],
  ],
  ['L5', ['catalog/v4.16/rhbk-operator/catalog.yaml', 'config.yaml'], ['catalog/v4.16 = 4.16']],
  [
    'L5, with a recipe that opm would refuse to read in each catalog',
    [
      'catalog/v4.9/rhbk-operator/catalog.yaml',
      'catalog/v4.9/Dockerfile',
      'catalog/v4.16/rhbk-operator/catalog.yaml',
      'catalog/v4.16/Dockerfile',
    ],
    ['catalog/v4.9/rhbk-operator = 4.9', 'catalog/v4.16/rhbk-operator = 4.16'],
  ],
  [
    'L5, with a recipe that opm is told to pass over',
    ['catalog/v4.16/rhbk-operator/catalog.yaml', 'catalog/v4.16/Dockerfile', 'catalog/v4.16/.indexignore'],
    ['catalog/v4.16 = 4.16'],
  ],
  [
    'L5, with a recipe beside several packages, which only a configuration can tell apart',
    ['catalog/v4.16/a/catalog.yaml', 'catalog/v4.16/b/catalog.yaml', 'catalog/v4.16/Containerfile.catalog'],
    ['catalog/v4.16 = 4.16'],
  ],
  [
    'L5, a shared tree and an older one',
    [
      'catalog/costmanagement-metrics-operator/catalog.yaml',
      'catalog-old/costmanagement-metrics-operator/catalog.yaml',
      'catalog-template/basic-template.yaml',
      'Dockerfile.v4-20',
    ],
    ['catalog', 'catalog-old'],
  ],
  [
    'L6',
    [
      'catalog/coo-product/catalog.yaml',
      'catalog/coo-product-v4.20/catalog.yaml',
      'catalog/coo-product-v4.9/catalog.yaml',
      'catalog/catalog-template.yaml',
      'Dockerfile-4.20.catalog',
    ],
    ['catalog/coo-product', 'catalog/coo-product-v4.9 = 4.9', 'catalog/coo-product-v4.20 = 4.20'],
  ],
  [
    'L7',
    [
      'catalog-4-9/package.yaml',
      'catalog-4-20/package.yaml',
      'catalog-4-20/channels/channel-stable.yaml',
      'catalog-4-20/bundles/bundle-v0.20.1+0.1.yaml.yml',
      'catalog-template.yaml',
    ],
    ['catalog-4-9 = 4.9', 'catalog-4-20 = 4.20'],
  ],
  [
    'L8',
    [
      'catalog-bundle-object/rhacs-operator/catalog.json',
      'catalog-csv-metadata/rhacs-operator/catalog.json',
      'catalog-template.yaml',
      'bundles.yaml',
      'CODEOWNERS',
    ],
    ['catalog-bundle-object', 'catalog-csv-metadata'],
  ],
  [
    'L9, several packages',
    ['catalog/a/catalog.yaml', 'catalog/a/OWNERS', 'catalog/b/operator.json', 'catalog/b/.indexignore'],
    ['catalog'],
  ],
  ['L9, one file', ['catalog/index.yaml', 'Dockerfile'], ['catalog']],
  ['L9, flat files', ['catalog/index.yaml', 'catalog/ocs.yaml', 'catalog/rook.yaml'], ['catalog']],
  [
    'L9, inside a source repository',
    ['catalog/operator.yaml', 'OWNERS', 'main.go', 'config/manager/manager.yaml'],
    ['catalog'],
  ],
  ['L9, with veneers', ['veneer/a.yaml', 'catalog/a/catalog.yaml', 'catalog/.indexignore'], ['catalog']],
  ['L10', ['catalog/a/index.yaml', 'catalog-template.yaml', 'Dockerfile'], ['catalog']],
  ['L11, rendered only in CI', ['catalog-template.yaml', 'deepshore-catalog.Dockerfile'], []],
  [
    'L12',
    [
      'catalog/package.yaml',
      'catalog/channel.yaml',
      'catalog/lvms-operator/v0.0.1.yaml',
      'release/catalog/lvm-operator-catalog-template.yaml',
      'OWNERS_ALIASES',
    ],
    ['catalog'],
  ],
  ['L13', ['catalog/a/catalog.yaml', 'catalog/b/catalog.yaml', 'catalog-templates/a.yaml'], ['catalog']],
  ['L14', ['catalogs.yaml', 'contributions.yaml', 'CATALOG_OWNERS'], []],
]

describe('without any configuration', () => {
  test.each(repositoryLayoutCases)('%s is recognized from its paths', (_, paths, expected) => {
    expect(formatCatalogRoots(detectLayout(paths, []))).toEqual(expected)
  })
  test.each(repositoryLayoutCases)(
    '%s is recognized in the same way if file content is available',
    (_, paths, expected) => {
      expect(formatCatalogRoots(detectTestLayout(paths))).toEqual(expected)
    },
  )
  test('a directory that is named like a catalog is not a catalog if it contains no blobs', () => {
    expect(formatCatalogRoots(detectTestLayout(['catalog/prices.yaml', 'src/main.ts'], () => false))).toEqual(
      [],
    )
  })
  test('a directory that ends in a version is a package if there are other packages next to it', () => {
    const paths = ['catalog/nginx-1.25/catalog.yaml', 'catalog/redis/catalog.yaml']
    expect(formatCatalogRoots(detectLayout(paths, []))).toEqual(['catalog'])
  })
  test('a catalog in an unusual directory is found by its blobs', () => {
    const paths = [
      'index/v4.9/a/catalog.yaml',
      'index/v4.20/a/catalog.yaml',
      'index/v4.20/b/catalog.yaml',
      'deploy/values.yaml',
      'testdata/c/catalog.yaml',
    ]
    expect(formatCatalogRoots(detectTestLayout(paths, (path) => path.endsWith('catalog.yaml')))).toEqual([
      'index/v4.9 = 4.9',
      'index/v4.20 = 4.20',
    ])
  })
  test('a catalog below another directory is found only if its content confirms it', () => {
    const paths = ['olm/catalog/a/catalog.yaml', 'src/x.yaml']
    expect(formatCatalogRoots(detectLayout(paths, []))).toEqual([])
    expect(formatCatalogRoots(detectTestLayout(paths, (path) => path.startsWith('olm')))).toEqual([
      'olm/catalog',
    ])
  })
  test('no recognized catalog is inside another', () => {
    const layout = detectTestLayout([
      'catalog/v4.20/a/c.yaml',
      'catalog/a/c.yaml',
      'catalogs/x.yaml',
      'catalogs/v4.9/a/c.yaml',
    ])
    expect(formatCatalogRoots(layout)).toEqual(['catalog/v4.20 = 4.20', 'catalogs/v4.9 = 4.9'])
  })
  test('templates are listed separately from catalogs', () => {
    const layout = detectLayout(
      ['v4.17/graph.yaml', 'v4.17/catalog/a/c.json', 'operators/a/catalog-templates/x.yaml'],
      [],
    )
    expect(layout.templates).toEqual(['operators/a/catalog-templates/x.yaml', 'v4.17/graph.yaml'])
  })
})

test('the configuration takes precedence over the detected layout', () => {
  const paths = ['catalogs/v4.20/a/catalog.yaml', 'mine/a/catalog.yaml']
  const layout = detectLayout(paths, [{ path: './mine/', version: 'v4.21' }, { path: 'old-4-9' }])
  expect(formatCatalogRoots(layout)).toEqual(['mine = 4.21', 'old-4-9 = 4.9'])
  expect(formatCatalogRoots(detectLayout(paths, [{ path: '.' }]))).toEqual([''])
})

describe('a pull request', () => {
  const base = detectLayout(['catalogs/v4.20/a/catalog.yaml'], [])
  const extended = (paths: string[]) => formatCatalogRoots(addNewCatalogsToLayout(base, paths, []))
  test('can add a catalog of another version next to the existing ones', () => {
    expect(extended(['catalogs/v4.20/a/catalog.yaml', 'catalogs/v4.9/a/catalog.yaml'])).toEqual([
      'catalogs/v4.9 = 4.9',
      'catalogs/v4.20 = 4.20',
    ])
  })
  test('cannot make another directory a catalog', () => {
    const paths = [
      'v4.21/catalog/a/c.yaml',
      'catalogs/latest/a/c.yaml',
      'catalog/a/c.yaml',
      'catalogs/v4.20/a/c.yaml',
    ]
    expect(extended(paths)).toEqual(['catalogs/v4.20 = 4.20'])
  })
  test('can add the first catalogs of a repository in directories without other files', () => {
    const first = (basePaths: string[], paths: string[]) =>
      formatCatalogRoots(
        addCatalogsToEmptyLayout(detectLayout(basePaths, []), detectLayout(paths, []), basePaths),
      )
    const readme = 'README.md'
    expect(first([readme], [readme, 'catalogs/v4.20/a/c.yaml', 'catalogs/v4.21/a/c.yaml'])).toEqual([
      'catalogs/v4.20 = 4.20',
      'catalogs/v4.21 = 4.21',
    ])
    expect(first(['catalog/Makefile'], ['catalog/Makefile', 'catalog/a/c.yaml'])).toEqual([])
    expect(first([readme], [readme, '.indexignore', 'a/c.yaml', 'b/c.yaml'])).toEqual([])
  })
  test('keeps the catalogs of the base even if it removes their files', () => {
    expect(extended(['README.md'])).toEqual(['catalogs/v4.20 = 4.20'])
  })
})

test('versions are ordered as numbers', () => {
  const versions = ['5.0', '4.20', '4.9', undefined, '4.9.1', 'latest']
  expect([...versions].sort(() => 0).sort(compareCatalogVersions)).toEqual([
    '4.9',
    '4.9.1',
    '4.20',
    '5.0',
    'latest',
    undefined,
  ])
  expect(compareCatalogVersions(undefined, '4.9')).toBeLessThan(0)
})
