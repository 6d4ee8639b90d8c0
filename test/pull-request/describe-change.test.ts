import { describe, expect, test } from '@jest/globals'
import {
  buildBundleBlob,
  computeCatalogChange,
  buildChannelBlob,
  buildDeprecationsBlob,
  buildPackageBlob,
  type CatalogFiles,
} from './build-catalog.ts'

const fooPackageBlobs = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['foo.v1', 'foo.v2 < foo.v1']),
  buildBundleBlob('foo.v1', 'foo', '1.0.0'),
  buildBundleBlob('foo.v2', 'foo', '2.0.0', {
    relatedImages: [{ name: '', image: 'quay.io/test/helper:1' }],
  }),
]
const barPackageBlobs = [
  buildPackageBlob('bar'),
  buildChannelBlob('stable', 'bar', ['bar.v1']),
  buildBundleBlob('bar.v1', 'bar', '1.0.0'),
]
const baseCatalogFiles: CatalogFiles = {
  'catalog/foo/catalog.yaml': fooPackageBlobs,
  'catalog/bar/catalog.yaml': barPackageBlobs,
}

const requireOnlyChangedPackage = (change: ReturnType<typeof computeCatalogChange>) => {
  expect(change.catalogs.length).toBe(1)
  expect(change.catalogs[0]?.packages.length).toBe(1)
  const found = change.catalogs[0]?.packages[0]
  if (!found) throw new Error('no package differs')
  return found
}
const replaceCatalogFile = (file: string, blobs: CatalogFiles[string] | undefined): CatalogFiles => {
  const files = { ...baseCatalogFiles, [file]: blobs }
  if (blobs === undefined) delete files[file]
  return files as CatalogFiles
}

describe('an update of a package', () => {
  const v3 = buildBundleBlob('foo.v3', 'foo', '3.0.0', {
    relatedImages: [
      { name: 'h', image: 'quay.io/test/helper:1' },
      { name: 'n', image: 'quay.io/test/new:1' },
    ],
  })
  const change = computeCatalogChange(
    baseCatalogFiles,
    replaceCatalogFile('catalog/foo/catalog.yaml', [
      fooPackageBlobs[0]!,
      buildChannelBlob('stable', 'foo', ['foo.v1', 'foo.v2 < foo.v1', 'foo.v3 < foo.v2']),
      fooPackageBlobs[2]!,
      fooPackageBlobs[3]!,
      v3,
    ]),
  )
  test('names the bundle, the entry, and the head', () => {
    const found = requireOnlyChangedPackage(change)
    expect(found).toMatchObject({
      name: 'foo',
      kind: 'changed',
      directories: ['foo'],
      metadata: [],
      others: 0,
    })
    expect(found.bundles.added).toMatchObject([
      { name: 'foo.v3', version: '3.0.0', place: { file: 'catalog/foo/catalog.yaml', line: 5 } },
    ])
    expect(found.bundles.changed).toEqual([])
    expect(found.channels.changed).toEqual([
      {
        name: 'stable',
        head: { before: 'foo.v2', after: 'foo.v3' },
        entries: { added: ['foo.v3'], removed: [], changed: [] },
      },
    ])
  })
  test('names only the images that are new in the catalog', () => {
    expect(change.references.map(({ reference, role, bundle }) => [reference, role, bundle])).toEqual([
      [v3.image, 'bundle', 'foo.v3'],
      ['quay.io/test/new:1', 'related', 'foo.v3'],
    ])
  })
  test('classifies its path', () => {
    expect(change.paths).toMatchObject([
      { path: 'catalog/foo/catalog.yaml', role: { kind: 'catalog', catalog: 'catalog', directory: 'foo' } },
    ])
  })
})

describe('a change without new content', () => {
  test('a different order of blobs is not a change', () => {
    expect(
      computeCatalogChange(
        baseCatalogFiles,
        replaceCatalogFile('catalog/foo/catalog.yaml', [...fooPackageBlobs].reverse()),
      ).catalogs[0]?.packages,
    ).toEqual([])
  })
  test('a different order of keys and entries is not a change', () => {
    const [a, , c, d] = fooPackageBlobs
    const result = [
      Object.fromEntries(Object.entries(a!).reverse()),
      buildChannelBlob('stable', 'foo', ['foo.v2 < foo.v1', 'foo.v1']),
      Object.fromEntries(Object.entries(c!).reverse()),
      d!,
    ]
    expect(
      computeCatalogChange(baseCatalogFiles, replaceCatalogFile('catalog/foo/catalog.yaml', result))
        .catalogs[0]?.packages,
    ).toEqual([])
  })
  test('a file that moves within its package is not a change', () => {
    const { 'catalog/foo/catalog.yaml': _, ...rest } = baseCatalogFiles
    const change = computeCatalogChange(baseCatalogFiles, {
      ...rest,
      'catalog/foo/other.yaml': fooPackageBlobs,
    })
    expect(change.paths.map(({ path }) => path)).toEqual([
      'catalog/foo/catalog.yaml',
      'catalog/foo/other.yaml',
    ])
    expect(change.catalogs[0]?.packages).toEqual([])
    expect(change.references).toEqual([])
  })
  test('a change outside catalogs changes no catalog', () => {
    expect(
      computeCatalogChange({ ...baseCatalogFiles, 'a.md': 'x' }, { ...baseCatalogFiles, 'a.md': 'y' }),
    ).toMatchObject({ catalogs: [], paths: [{ path: 'a.md', role: { kind: 'infrastructure' } }] })
  })
})

describe('a published bundle', () => {
  const edited = (more: Record<string, never> | object) =>
    replaceCatalogFile('catalog/foo/catalog.yaml', [
      fooPackageBlobs[0]!,
      fooPackageBlobs[1]!,
      { ...fooPackageBlobs[2]!, ...more },
      fooPackageBlobs[3]!,
    ])
  test.each([
    ['image', { image: 'quay.io/test/evil:1' }],
    [
      'properties',
      { properties: [{ type: 'olm.package', value: { packageName: 'foo', version: '1.0.1' } }] },
    ],
    ['relatedImages', { relatedImages: [{ name: '', image: 'quay.io/test/evil:1' }] }],
    ['properties', { properties: [{ type: 'example.com/custom', value: { description: 'x' } }] }],
  ])('with a different value of %s is edited in that field', (field, more) => {
    expect(
      requireOnlyChangedPackage(computeCatalogChange(baseCatalogFiles, edited(more))).bundles.changed,
    ).toMatchObject([{ name: 'foo.v1', fields: [field] }])
  })
  test.each([
    ['an unknown field of the bundle', { comment: 'x' }],
    [
      'a description in the value of a property',
      {
        properties: [
          { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0', description: 'x' } },
        ],
      },
    ],
    [
      'a description next to the value of a property',
      {
        properties: [
          { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' }, description: 'x' },
        ],
      },
    ],
  ])('is not edited if OLM does not read the only difference: %s', (_description, more) => {
    const change = computeCatalogChange(baseCatalogFiles, edited(more))
    expect(change.catalogs.flatMap(({ packages }) => packages)).toEqual([])
    expect(change.paths).toHaveLength(1)
  })
  test.each([
    ['value', 'Value', { packageName: 'foo', version: '9.0.0' }],
    ['type', 'TYPE', 'olm.gvk'],
  ])('is edited if a property gets a second %s key that differs only in case', (_name, key, value) => {
    const more = {
      properties: [{ type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' }, [key]: value }],
    }
    expect(
      requireOnlyChangedPackage(computeCatalogChange(baseCatalogFiles, edited(more))).bundles.changed,
    ).toMatchObject([{ name: 'foo.v1' }])
  })
  test('counts as edited if its text is not available', () => {
    const change = computeCatalogChange(baseCatalogFiles, edited({ comment: 'x' }), undefined, {
      unreadable: true,
    })
    expect(requireOnlyChangedPackage(change).bundles.changed.map(({ fields }) => fields)).toEqual([
      ['text'],
      ['text'],
    ])
  })
  test('that gets a second copy is edited', () => {
    const change = computeCatalogChange(
      baseCatalogFiles,
      replaceCatalogFile('catalog/foo/catalog.yaml', [
        ...fooPackageBlobs,
        { ...fooPackageBlobs[2]!, image: 'quay.io/x/y:1' },
      ]),
    )
    expect(requireOnlyChangedPackage(change).bundles.changed).toMatchObject([
      { name: 'foo.v1', fields: ['copies'] },
    ])
  })
  test('that disappears is reported as removed, with its version', () => {
    const change = computeCatalogChange(
      baseCatalogFiles,
      replaceCatalogFile('catalog/foo/catalog.yaml', [
        fooPackageBlobs[0]!,
        buildChannelBlob('stable', 'foo', ['foo.v2']),
        fooPackageBlobs[3]!,
      ]),
    )
    const found = requireOnlyChangedPackage(change)
    expect(found.bundles.removed).toEqual([{ name: 'foo.v1', version: '1.0.0' }])
    expect(found.channels.changed[0]?.entries).toEqual({
      added: [],
      removed: ['foo.v1'],
      changed: ['foo.v2'],
    })
  })
})

describe('T11: content decides which package a change belongs to', () => {
  test('a blob of another package in the directory of a package is a change of the other package', () => {
    const change = computeCatalogChange(
      baseCatalogFiles,
      replaceCatalogFile('catalog/foo/catalog.yaml', [
        ...fooPackageBlobs,
        buildBundleBlob('bar.v2', 'bar', '2.0.0'),
      ]),
    )
    expect(requireOnlyChangedPackage(change)).toMatchObject({
      name: 'bar',
      directories: ['bar', 'foo'],
      bundles: { added: [{ name: 'bar.v2' }] },
    })
  })
  test("T01: a move of another owner's file into the author's directory is reported with both paths", () => {
    const change = computeCatalogChange(baseCatalogFiles, {
      'catalog/foo/catalog.yaml': fooPackageBlobs,
      'catalog/foo/bar.yaml': barPackageBlobs,
    })
    expect(change.paths.map(({ path, role }) => [path, role])).toEqual([
      ['catalog/bar/catalog.yaml', { kind: 'catalog', catalog: 'catalog', directory: 'bar' }],
      ['catalog/foo/bar.yaml', { kind: 'catalog', catalog: 'catalog', directory: 'foo' }],
    ])
  })
  test('T03: text that looks like a diff changes only its field', () => {
    const diffTexts = [
      '--- a/catalog/bar/catalog.yaml\n+++ b/x\n@@ -1 +1 @@\n-x\n+y',
      'rename from a\nrename to b',
    ]
    for (const description of diffTexts) {
      const change = computeCatalogChange(
        baseCatalogFiles,
        replaceCatalogFile('catalog/foo/catalog.yaml', [
          { ...fooPackageBlobs[0]!, description },
          ...fooPackageBlobs.slice(1),
        ]),
      )
      expect(requireOnlyChangedPackage(change)).toMatchObject({ name: 'foo', metadata: ['description'] })
      expect(change.paths.length).toBe(1)
    }
  })
})

test('files that an .indexignore hides are removed, although their paths do not differ', () => {
  const change = computeCatalogChange(
    { ...baseCatalogFiles, 'catalog/.indexignore': '' },
    { ...baseCatalogFiles, 'catalog/.indexignore': 'bar' },
    undefined,
    { hidden: ['catalog/bar/catalog.yaml'] },
  )
  expect(requireOnlyChangedPackage(change)).toMatchObject({
    name: 'bar',
    kind: 'removed',
    bundles: { removed: [{ name: 'bar.v1' }] },
  })
})

test('packages can be added and removed', () => {
  const change = computeCatalogChange(baseCatalogFiles, {
    'catalog/foo/catalog.yaml': fooPackageBlobs,
    'catalog/new/catalog.yaml': [buildPackageBlob('new')],
  })
  expect(change.catalogs[0]?.packages.map(({ name, kind }) => [name, kind])).toEqual([
    ['bar', 'removed'],
    ['new', 'added'],
  ])
})

test('changes of default channel, metadata, deprecations, and other blobs are reported separately', () => {
  const before = [
    ...fooPackageBlobs,
    buildDeprecationsBlob('foo', [
      ['olm.bundle', 'foo.v1', 'old'],
      ['olm.channel', 'stable', 'x'],
    ]),
    { schema: 'mine', package: 'foo', v: 1 },
  ]
  const after = [
    buildPackageBlob('foo', 'fast', { description: 'new' }),
    ...fooPackageBlobs.slice(1),
    buildChannelBlob('fast', 'foo', ['foo.v2']),
    buildDeprecationsBlob('foo', [
      ['olm.bundle', 'foo.v1', 'older'],
      ['olm.package', '', 'gone'],
    ]),
    { schema: 'mine', package: 'foo', v: 2 },
  ]
  expect(
    requireOnlyChangedPackage(
      computeCatalogChange({ 'catalog/c.yaml': before }, { 'catalog/c.yaml': after }),
    ),
  ).toMatchObject({
    directories: [''],
    defaultChannel: { before: 'stable', after: 'fast' },
    metadata: ['description'],
    channels: { added: ['fast'], removed: [], changed: [] },
    deprecations: {
      added: [{ schema: 'olm.package', name: '', message: 'gone' }],
      removed: [{ schema: 'olm.channel', name: 'stable' }],
      changed: [{ schema: 'olm.bundle', name: 'foo.v1' }],
    },
    others: 1,
  })
})

test('an entire catalog can be added, and catalogs are reported in the order of their versions', () => {
  const layout = {
    catalogs: [
      { root: 'catalogs/v4.20', version: '4.20' },
      { root: 'catalogs/v4.9', version: '4.9' },
    ],
  }
  const change = computeCatalogChange(
    { 'catalogs/v4.9/foo/c.yaml': fooPackageBlobs },
    { 'catalogs/v4.9/foo/c.yaml': barPackageBlobs, 'catalogs/v4.20/foo/c.yaml': fooPackageBlobs },
    layout,
  )
  expect(change.catalogs.map(({ root, version, base }) => [root, version, base !== undefined])).toEqual([
    ['catalogs/v4.9', '4.9', true],
    ['catalogs/v4.20', '4.20', false],
  ])
  expect(change.catalogs[1]?.packages[0]?.kind).toBe('added')
  expect(change.references.length).toBe(4)
})
