import { describe, expect, test } from '@jest/globals'
import type { CheckInput } from '../../../src/checks/check.ts'
import { createLookupResults } from '../../../src/checks/lookups.ts'
import { validationCheck } from '../../../src/checks/validation/validation.ts'
import { defaultConfig, type Config } from '../../../src/config/config.ts'
import {
  buildBundleBlob,
  computeCatalogChange,
  buildChannelBlob,
  buildPackageBlob,
} from '../../pull-request/build-catalog.ts'
import type { CatalogBlob, CatalogFiles } from '../../pull-request/build-catalog.ts'

const emptyLookupResults = createLookupResults(new Map())
const catalogPath = 'catalog/foo/catalog.yaml'

function evaluateValidation(base: CatalogFiles, result: CatalogFiles, config: Partial<Config> = {}) {
  const input = {
    config: { ...defaultConfig, ...config },
    change: computeCatalogChange(base, result),
    ownerFiles: { base: new Map(), result: new Map() },
  }
  return validationCheck.judge(input as unknown as CheckInput, emptyLookupResults)
}
const formatValidationFindings = (outcome: ReturnType<typeof evaluateValidation>) =>
  outcome.findings.map(({ rule, severity }) => `${rule} ${severity}`)

const evaluateFile = (
  base: readonly CatalogBlob[],
  result: readonly CatalogBlob[],
  config?: Partial<Config>,
) => evaluateValidation({ [catalogPath]: base }, { [catalogPath]: result }, config)
const formatFindingsOfFile = (...change: Parameters<typeof evaluateFile>) =>
  formatValidationFindings(evaluateFile(...change))

/** A bundle without findings from our own rules. */
function createBundle(name: string, version: string, more: CatalogBlob = {}): CatalogBlob {
  const plain = buildBundleBlob(name, 'foo', version)
  return {
    ...plain,
    relatedImages: [{ name: '', image: plain.image ?? '' }],
    properties: [
      { type: 'olm.package', value: { packageName: 'foo', version } },
      {
        type: 'olm.csv.metadata',
        value: {
          displayName: 'Foo',
          minKubeVersion: '',
          installModes: [{ type: 'AllNamespaces', supported: true }],
        },
      },
    ],
    ...more,
  }
}
const blobsBefore = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['foo.v1.0.0']),
  createBundle('foo.v1.0.0', '1.0.0'),
]
const blobsAfter = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['foo.v1.0.0', 'foo.v1.1.0 < foo.v1.0.0']),
  createBundle('foo.v1.0.0', '1.0.0'),
  createBundle('foo.v1.1.0', '1.1.0'),
]
/** The next version, with its image missing from the related images. */
const blobsWithoutRelatedImage = [
  ...blobsAfter.slice(0, 3),
  createBundle('foo.v1.1.0', '1.1.0', { relatedImages: [] }),
]

describe('the validation check', () => {
  test('by default applies opm v1.73, which requires an integer channel priority', () => {
    const value = { channelName: 'stable', priority: 'high' }
    const plain = createBundle('foo.v1.1.0', '1.1.0')
    const properties = [...(plain['properties'] as CatalogBlob[]), { type: 'olm.channel', value }]
    const result = { [catalogPath]: [...blobsAfter.slice(0, 3), { ...plain, properties }] }
    const errors = (config: Partial<Config>) =>
      evaluateValidation({ [catalogPath]: blobsBefore }, result, config).findings.filter(
        ({ severity }) => severity === 'error',
      )
    expect(errors({}).map(({ what }) => what)).toEqual([
      expect.stringContaining('Channel.priority of type int'),
    ])
    expect(errors({ opm: 'v1.73' })).toEqual(errors({}))
    expect(errors({ opm: 'v1.74' })).toEqual([])
  })

  test('reports required APIs missing from the catalog for new bundles, and for others if configured', () => {
    const rule = 'missing-required-api'
    const needy = (name: string, version: string, group = 'example.com') => {
      const plain = createBundle(name, version)
      const value = { group, version: 'v1', kind: 'Certificate' }
      const properties = [
        ...((plain['properties'] as CatalogBlob[]) ?? []),
        { type: 'olm.gvk.required', value },
      ]
      return { ...plain, properties }
    }
    const old = [
      buildPackageBlob('foo'),
      buildChannelBlob('stable', 'foo', ['foo.v1.0.0']),
      needy('foo.v1.0.0', '1.0.0'),
    ]
    const entries = buildChannelBlob('stable', 'foo', ['foo.v1.0.0', 'foo.v1.1.0 < foo.v1.0.0'])
    const added = [
      buildPackageBlob('foo'),
      entries,
      needy('foo.v1.0.0', '1.0.0'),
      needy('foo.v1.1.0', '1.1.0'),
    ]
    const known = [
      buildPackageBlob('foo'),
      entries,
      needy('foo.v1.0.0', '1.0.0'),
      needy('foo.v1.1.0', '1.1.0', 'cert-manager.io'),
    ]
    const bundles = (
      result: readonly CatalogBlob[],
      config: Partial<Config> = {},
      base: CatalogFiles = { [catalogPath]: old },
    ) =>
      evaluateValidation(base, { [catalogPath]: result }, config).findings.flatMap(({ rule: id, data }) =>
        id === rule ? [data?.['bundle']] : [],
      )
    expect(bundles(added)).toEqual(['foo.v1.1.0'])
    expect(bundles(known)).toEqual([])
    // A bundle that the base already has is not new.
    const other = [...blobsAfter.slice(0, 3), needy('foo.v1.1.0', '1.1.0')]
    expect(bundles(other, {}, { [catalogPath]: blobsAfter })).toEqual([])
    expect(bundles(other, { rules: { [rule]: 'warning' } }, { [catalogPath]: blobsAfter })).toEqual([
      'foo.v1.1.0',
    ])
    expect(bundles(added, { rules: { [rule]: 'off' } })).toEqual([])
  })

  test('asks no questions, and passes a valid new version with a summary of what it checked', () => {
    const outcome = evaluateFile(blobsBefore, blobsAfter)
    expect(validationCheck.ask({} as CheckInput, emptyLookupResults)).toEqual([])
    expect(outcome.findings).toEqual([])
    expect(outcome.summary).toBe('1 catalog, 1 package changed, 2 bundles in it')
  })

  test('reports opm errors, findings of our own rules, and stranded versions of the changed catalog', () => {
    const outcome = evaluateFile(blobsAfter, [
      buildPackageBlob('foo', 'gone'),
      buildChannelBlob('stable', 'foo', ['foo.v1.0.0']),
      ...blobsWithoutRelatedImage.slice(2, 3),
      ...blobsWithoutRelatedImage.slice(3),
    ])
    expect(formatValidationFindings(outcome)).toEqual(
      expect.arrayContaining([
        'bundle-in-no-channel error',
        'bundle-image-not-related warning',
        'installed-version-stranded error',
      ]),
    )
    for (const { at, data } of outcome.findings) {
      if (at) expect(at.file).toBe(catalogPath)
      expect(data).toMatchObject({ catalog: 'catalog' })
    }
  })

  test('a warning that the base also has is not repeated, even if its line moved', () => {
    const moved = [
      { schema: 'example.com.notes', name: 'n' },
      ...blobsWithoutRelatedImage,
      createBundle('foo.v1.2.0', '1.2.0'),
    ]
    const entries = ['foo.v1.0.0', 'foo.v1.1.0 < foo.v1.0.0', 'foo.v1.2.0 < foo.v1.1.0']
    const outcome = evaluateFile(
      blobsWithoutRelatedImage,
      moved.map((blob) =>
        blob.schema === 'olm.channel' ? buildChannelBlob('stable', 'foo', entries) : blob,
      ),
    )
    expect(formatValidationFindings(outcome)).toEqual([])
    expect(outcome.summary).toContain('existing findings omitted')
  })

  test('the same warning about another object is new', () => {
    const worse = [
      ...blobsWithoutRelatedImage.slice(0, 2),
      createBundle('foo.v1.0.0', '1.0.0', { relatedImages: [] }),
      ...blobsWithoutRelatedImage.slice(3),
    ]
    const outcome = evaluateFile(blobsWithoutRelatedImage, worse)
    expect(formatValidationFindings(outcome)).toContain('bundle-image-not-related warning')
    expect(outcome.findings.filter(({ rule }) => rule === 'bundle-image-not-related')).toHaveLength(1)
  })

  test('an error is reported even if the base already has it', () => {
    const broken = (version: string) =>
      [
        buildPackageBlob('foo'),
        buildChannelBlob('stable', 'foo', ['foo.v1.0.0']),
        createBundle('foo.v1.0.0', '1.0.0'),
        buildChannelBlob(version, 'foo', []),
      ] as const
    expect(formatFindingsOfFile(broken('a'), [...broken('a'), { schema: 'x.y', name: 'n' }])).toContain(
      'empty-channel error',
    )
    const served: CatalogBlob = { schema: 'a/b', name: 'n' }
    expect(formatFindingsOfFile([...blobsBefore, served], [...blobsAfter, served])).toEqual([
      'unservable-schema error',
    ])
  })

  test('the configuration can change the severity of our rules, turn them off, and list exceptions', () => {
    const with_ = (rules: Config['rules']) =>
      formatFindingsOfFile(blobsBefore, blobsWithoutRelatedImage, { rules })
    expect(with_({})).toEqual(['bundle-image-not-related warning'])
    expect(with_({ 'bundle-image-not-related': 'error' })).toEqual(['bundle-image-not-related error'])
    expect(with_({ 'bundle-image-not-related': 'off' })).toEqual([])
    expect(with_({ 'bundle-image-not-related': { ignore: ['foo'] } })).toEqual([])
    expect(with_({ 'bundle-image-not-related': { ignore: ['catalog/f*/**'] } })).toEqual([])
    expect(with_({ 'bundle-image-not-related': { severity: 'info', ignore: ['bar', 'other/**'] } })).toEqual([
      'bundle-image-not-related info',
    ])
  })

  test('the configuration cannot turn off an opm error', () => {
    const empty = [...blobsBefore, buildChannelBlob('empty', 'foo', [])]
    const rules: Config['rules'] = { 'empty-channel': 'off', 'no-head': { ignore: ['**', 'foo'] } }
    expect(formatFindingsOfFile(blobsBefore, empty, { rules })).toContain('empty-channel error')
  })

  test('the configured opm release applies, and an unknown release is an error', () => {
    const reference = [
      buildPackageBlob('foo'),
      buildChannelBlob('stable', 'foo', ['foo.v1.0.0']),
      createBundle('foo.v1.0.0', '1.0.0', {
        image: 'oci://x',
        relatedImages: [{ name: '', image: 'oci://x' }],
      }),
    ]
    expect(formatValidationFindings(evaluateValidation({}, { [catalogPath]: reference }))).toContain(
      'invalid-pull-spec error',
    )
    expect(
      formatValidationFindings(evaluateValidation({}, { [catalogPath]: reference }, { opm: 'v1.60' })),
    ).toEqual([])
    expect(
      formatValidationFindings(evaluateValidation({}, { [catalogPath]: blobsBefore }, { opm: 'v1.2' })),
    ).toEqual(['opm-release-unknown error'])
  })

  test('a removed catalog has no findings, and the summary counts it', () => {
    const outcome = evaluateValidation({ [catalogPath]: blobsBefore }, {})
    expect(outcome.findings).toEqual([])
    expect(outcome.summary).toBe('1 catalog, 1 package changed, 0 bundles in it')
  })

  test('if the base exceeds the limit of a rule, its warnings are omitted and its errors are kept', () => {
    const nameless = (count: number, more: object = {}) => [
      ...blobsAfter.slice(0, 3),
      createBundle('foo.v1.1.0', '1.1.0', {
        properties: [
          ...((blobsAfter[3]?.['properties'] ?? []) as readonly CatalogBlob[]),
          ...Array.from({ length: count }, (_, at) => ({ type: '', value: at })),
        ],
        ...more,
      }),
    ]
    const lines = (outcome: ReturnType<typeof evaluateValidation>) =>
      formatValidationFindings(outcome).filter((one) => one.startsWith('untyped'))
    const files = (count: number, more: object = {}) => ({ [catalogPath]: nameless(count, more) })
    expect(lines(evaluateValidation(files(2), files(4)))).toEqual(Array(2).fill('untyped-property warning'))
    expect(lines(evaluateValidation(files(6000), files(6001)))).toEqual([])
    // Blocking findings are reported anyway, with the number of omitted ones.
    const rules = { 'untyped-property': 'error' } as const
    const outcome = evaluateValidation(files(6000), files(6001), { rules })
    expect(lines(outcome)).toHaveLength(5001)
    expect(outcome.findings[0]).toMatchObject({ severity: 'error', data: { leftOut: 1001 } })
  })

  test('a rule ignored for one package still blocks if it omitted findings that may concern others', () => {
    const properties = Array.from({ length: 6000 }, (_, at) => ({ type: '', value: at }))
    const blobs = [...blobsAfter.slice(0, 3), createBundle('foo.v1.1.0', '1.1.0', { properties })]
    const rules = { 'untyped-property': { severity: 'error' as const, ignore: ['foo'] } }
    const outcome = evaluateFile(blobsAfter, blobs, { rules })
    expect(formatValidationFindings(outcome).filter((one) => one.startsWith('untyped'))).toEqual([
      'untyped-property error',
    ])
  })
})
