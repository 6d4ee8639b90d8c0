import { describe, expect, test } from '@jest/globals'
import type { Catalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { catalogModelRules } from '../../../../packages/fbc/src/model/rules/all.ts'
import { defaultOpmRuleSet, findOpmRuleSet } from '../../../../packages/fbc/src/model/rule-set.ts'
import { validateCatalog, validateAsOpm } from '../../../../packages/fbc/src/model/validate-catalog.ts'
import {
  createBundleBlob,
  createCatalog,
  createChannelBlob,
  createPackageBlob,
  createBundleProperty,
  createDeprecationBlob,
  createCatalogWithChannel,
} from '../facts/create-facts.ts'

function listRuleIds(catalog: Catalog): string[] {
  return validateAsOpm(catalog).findings.map((found) => found.rule)
}

function findMessage(catalog: Catalog, release?: string): string | undefined {
  return validateAsOpm(catalog, release === undefined ? defaultOpmRuleSet : findOpmRuleSet(release)).message
}

describe('a valid catalog', () => {
  test('passes without findings', () => {
    const catalog = createCatalogWithChannel([
      'foo.v2 replaces foo.v1 skips foo.v0 range >=1.0.0 <1.2.0',
      'foo.v1',
    ])
    expect(validateAsOpm(catalog)).toEqual({ passed: true, findings: [] })
  })

  test('can be empty', () => {
    expect(validateAsOpm(createCatalog()).passed).toBe(true)
  })
})

describe('the conversion', () => {
  test('has the first error of opm as its message, and finds the other errors as well', () => {
    const catalog = createCatalogWithChannel(['a', 'b', 'a'], {
      packages: [createPackageBlob(), createPackageBlob()],
    })
    expect(findMessage(catalog)).toBe('duplicate package "foo"')
    expect(new Set(listRuleIds(catalog))).toEqual(
      new Set(['duplicate-package', 'duplicate-entry', 'duplicate-bundle', 'several-heads']),
    )
  })

  test.each([
    ['', 'config contains package with no name', 'nameless-package'],
    ['a.b', 'invalid package name "a.b": [must not contain dots]', 'invalid-package-name'],
    [
      'Foo',
      expect.stringMatching(/^invalid package name "Foo": \[a lowercase RFC 1123/),
      'invalid-package-name',
    ],
  ])('rejects the package name %j', (name, text, rule) => {
    const catalog = createCatalog({ packages: [createPackageBlob({ name })] })
    expect(findMessage(catalog)).toEqual(text)
    expect(listRuleIds(catalog)).toContain(rule)
  })

  test('locates a duplicate, and refers to the first occurrence', () => {
    const catalog = createCatalogWithChannel(['a'])
    const again = createBundleBlob('a', '2.0.0')
    const { findings } = validateAsOpm({ ...catalog, bundles: [...catalog.bundles, again] })
    expect(findings).toMatchObject([
      {
        rule: 'duplicate-bundle',
        at: { file: 'catalog.yaml', line: again.place.line },
        related: [{ at: { line: catalog.bundles[0]?.place.line } }],
      },
    ])
  })

  test('names a channel or bundle whose package does not exist', () => {
    expect(findMessage(createCatalog({ channels: [createChannelBlob(['a'])] }))).toBe(
      'unknown package "foo" for channel "stable"',
    )
    expect(findMessage(createCatalog({ bundles: [createBundleBlob('a', '1.0.0')] }))).toBe(
      'unknown package "foo" for bundle "a"',
    )
    expect(
      listRuleIds(createCatalog({ bundles: [createBundleBlob('a', '1.0.0', { package: '' })] })),
    ).toEqual(['missing-package'])
  })

  test('reports an invalid property first, but also a wrong package, image, version, and channel', () => {
    const broken = createBundleBlob('a', 'v1', {
      image: 'oci://x',
      properties: [
        { ...createBundleProperty('olm.gvk', null), error: 'no such thing' },
        createBundleProperty('olm.package', { packageName: 'bar', version: 'v1' }),
      ],
    })
    const catalog = createCatalogWithChannel(['b'], { bundles: [broken, createBundleBlob('b', '1.0.0')] })
    expect(findMessage(catalog)).toBe(
      'parse properties for bundle "a": parse property[0] of type "olm.gvk": no such thing',
    )
    expect(new Set(listRuleIds(catalog))).toEqual(
      new Set([
        'invalid-property',
        'package-mismatch',
        'invalid-pull-spec',
        'invalid-version',
        'bundle-in-no-channel',
      ]),
    )
  })

  test('requires exactly one olm.package property', () => {
    const none = createCatalogWithChannel(['a'], {
      bundles: [createBundleBlob('a', '1.0.0', { properties: [] })],
    })
    expect(findMessage(none)).toBe(
      'package "foo" bundle "a" must have exactly 1 "olm.package" property, found 0',
    )
  })
})

describe('an entry without a bundle', () => {
  test('is reported by name if it is in the channel that was loaded last', () => {
    const catalog = createCatalogWithChannel(['b replaces gone', 'gone'])
    const message = 'no olm.bundle blobs found in package "foo" for olm.channel entries [gone]'
    const bundles = catalog.bundles.slice(0, 1)
    expect(validateAsOpm({ ...catalog, bundles })).toMatchObject({ message })
    expect(listRuleIds({ ...catalog, bundles })).toEqual(['entry-without-bundle'])
  })

  test('appears in the error tree if it is in an earlier channel', () => {
    const catalog = createCatalog({
      packages: [createPackageBlob()],
      channels: [createChannelBlob(['b replaces gone', 'gone']), createChannelBlob(['b'], { name: 'next' })],
      bundles: [createBundleBlob('b', '1.0.0')],
    })
    expect(findMessage(catalog)).toBe(
      [
        'invalid index:',
        '└── invalid package "foo":',
        '    └── invalid channel "stable":',
        '        └── invalid bundle "gone":',
        '            ├── must be exactly one property with type "olm.package"',
        '            └── bundle image must be set',
      ].join('\n'),
    )
    expect(listRuleIds(catalog)).toEqual(['entry-without-bundle'])
  })
})

describe('the error tree', () => {
  test('nests packages, channels, and bundles, and marks the last item of each level', () => {
    const catalog = createCatalog({
      packages: [
        createPackageBlob({ defaultChannel: '' }),
        createPackageBlob({ name: 'bar', defaultChannel: '' }),
      ],
      channels: [createChannelBlob(['a skips ,'], { name: 'x' })],
      bundles: [createBundleBlob('a', '1.0.0', { image: '' })],
      deprecations: [createDeprecationBlob([['olm.package', '', '']])],
    })
    expect(findMessage(catalog)).toBe(
      [
        'invalid index:',
        '├── invalid package "bar":',
        '│   ├── default channel must be set',
        '│   └── package must contain at least one channel',
        '└── invalid package "foo":',
        '    ├── default channel must be set',
        '    ├── invalid channel "x":',
        '    │   └── invalid bundle "a":',
        '    │       ├── skip[0] is empty',
        '    │       ├── skip[1] is empty',
        '    │       └── bundle image must be set',
        '    └── invalid deprecation: message must be set',
      ].join('\n'),
    )
  })

  test('shows an unknown default channel as an empty channel, and the finding has the actual problem', () => {
    const catalog = createCatalogWithChannel(['a'], {
      packages: [createPackageBlob({ defaultChannel: 'nope' })],
    })
    expect(findMessage(catalog)).toContain(
      'invalid channel "nope":\n        └── channel must contain at least one',
    )
    expect(listRuleIds(catalog)).toEqual(['unknown-default-channel'])
  })

  test('lists bundles with the same version, sorted as strings', () => {
    const catalog = createCatalogWithChannel(['d replaces c', 'c replaces b', 'b replaces a', 'a'])
    const bundles = ['d 9.0.0', 'c 10.0.0', 'b 9.0.0', 'a 10.0.0'].map((text) =>
      createBundleBlob(text.slice(0, 1), text.slice(2)),
    )
    expect(findMessage({ ...catalog, bundles })).toContain(
      'duplicate versions found in bundles: [{10.0.0: [a, c]} {9.0.0: [b, d]}]',
    )
    expect(listRuleIds({ ...catalog, bundles })).toEqual(['duplicate-version', 'duplicate-version'])
  })

  test('repeats an error of a bundle in two channels, but there is only one finding', () => {
    const catalog = createCatalog({
      packages: [createPackageBlob()],
      channels: [createChannelBlob(['a']), createChannelBlob(['a'], { name: 'next' })],
      bundles: [createBundleBlob('a', '1.0.0', { image: '' })],
    })
    expect(findMessage(catalog)?.match(/bundle image must be set/g)).toHaveLength(2)
    expect(listRuleIds(catalog)).toEqual(['bundle-without-image'])
  })

  test('accepts manifests in place of an image', () => {
    const bundle = createBundleBlob('a', '1.0.0', { image: '' })
    const properties = [...bundle.properties, createBundleProperty('olm.bundle.object', null)]
    expect(
      findMessage(createCatalogWithChannel(['a'], { bundles: [{ ...bundle, properties }] })),
    ).toBeUndefined()
  })
})

describe('deprecations', () => {
  test.each([
    [['', 'x', 'm'], 'schema must be set for deprecation entry [0] for package "foo"'],
    [['olm.bundle', 'x', 'm'], 'cannot deprecate bundle "x" for package "foo": bundle not found'],
    [['olm.channel', 'x', 'm'], 'cannot deprecate channel "x" for package "foo": channel not found'],
    [['olm.package', 'x', 'm'], 'package name must be empty for deprecated package "foo" (specified "x")'],
    [
      ['olm.x', 'x', 'm'],
      'cannot deprecate object declcfg.PackageScopedReference{Schema:"olm.x", Name:"x"} referenced by entry 0 for package "foo": object schema unknown',
    ],
  ] as const)('with the entry %j are rejected', (entry, text) => {
    expect(
      findMessage(createCatalogWithChannel(['a'], { deprecations: [createDeprecationBlob([entry])] })),
    ).toBe(text)
  })

  test('can refer to a default channel that opm added', () => {
    const catalog = createCatalog({
      packages: [createPackageBlob()],
      deprecations: [createDeprecationBlob([['olm.channel', 'stable', 'gone']])],
    })
    expect(findMessage(catalog)).toMatch(/^invalid index/)
  })

  test('must be in one blob per package', () => {
    const catalog = createCatalogWithChannel(['a'], {
      deprecations: [createDeprecationBlob([]), createDeprecationBlob([])],
    })
    expect(findMessage(catalog)).toBe('expected a maximum of one deprecation per package: "foo"')
  })
})

describe('the rule set', () => {
  const withRange = createCatalogWithChannel(['a range ^1.0.0'])
  const withOddImage = createCatalogWithChannel(['a'], {
    bundles: [createBundleBlob('a', '1.0.0', { image: 'oci://x' })],
  })
  const withSkippedChain = createCatalogWithChannel(['c replaces b skips b', 'b replaces a', 'a'])
  const withTwins = createCatalogWithChannel(['b replaces a', 'a'], {
    bundles: [createBundleBlob('a', '1.0.0'), createBundleBlob('b', '1.0.0')],
  })
  const withOddName = createCatalog({
    packages: [createPackageBlob({ name: 'Foo_1', defaultChannel: 'stable' })],
  })
  const channelProperty = createBundleProperty('olm.channel', { channelName: 'x', priority: 'high' })
  const withPriority = createCatalogWithChannel(['a'], {
    bundles: [
      {
        ...createBundleBlob('a', '1.0.0'),
        properties: [...createBundleBlob('a', '1.0.0').properties, channelProperty],
      },
    ],
  })

  test.each([
    ['1.68.0', '1.69.0', withRange],
    ['1.63.0', '1.64.0', withOddImage],
    ['1.57.0', '1.58.0', withSkippedChain],
    ['1.46.0', '1.47.0', withTwins],
  ])('of %s accepts a catalog that the one of %s rejects', (before, after, catalog) => {
    expect(findMessage(catalog, before)).toBeUndefined()
    expect(findMessage(catalog, after)).toBeDefined()
  })

  test('does not check package names before v1.41.0', () => {
    expect(findMessage(withOddName, 'v1.40.0')).toMatch(/^invalid index/)
    expect(findMessage(withOddName, 'v1.41.0')).toMatch(/^invalid package name/)
  })

  test('of v1.73.0, the default, requires an integer priority, and later ones ignore the priority', () => {
    expect(findMessage(withPriority)).toBe(
      'parse properties for bundle "a": parse property[1] of type "olm.channel": ' +
        'json: cannot unmarshal string into Go struct field Channel.priority of type int',
    )
    expect(findMessage(withPriority, '1.73.0')).toBe(findMessage(withPriority))
    expect(findMessage(withPriority, '1.73.1')).toBeUndefined()
  })

  test('exists for v1.28.0 and later', () => {
    expect(findOpmRuleSet('1.28.0')?.deprecations).toBe(false)
    expect(findOpmRuleSet('1.27.9')).toBeUndefined()
    expect(findOpmRuleSet('latest')).toBeUndefined()
  })
})

describe('a catalog with a file that does not load', () => {
  const loadErrors = [
    { file: 'a.yaml', message: 'first' },
    { file: 'b.yaml', message: 'second' },
  ]

  test('fails with the first load error, even if there are other errors', () => {
    expect(validateCatalog({ ...createCatalogWithChannel(['a', 'b']), loadErrors })).toMatchObject({
      passed: false,
      message: 'first',
      findings: [{ rule: 'several-heads' }],
    })
  })

  test('gets no findings about content that could be in the broken file', () => {
    const catalog = { ...createCatalogWithChannel(['b replaces a', 'a']), bundles: [] }
    expect(validateCatalog({ ...catalog, loadErrors }).findings).toEqual([])
    expect(validateCatalog(catalog).findings).toHaveLength(2)
  })
})

test('the rules of the model have unique ids, and titles that start with a capital and have no period', () => {
  const ids = catalogModelRules.map((rule) => rule.id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const rule of catalogModelRules) {
    expect(rule.id).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(rule.title).toMatch(/^[A-Z].*[^.]$/)
  }
})
