import { describe, expect, test } from '@jest/globals'
import type { CheckInput } from '../../../src/checks/check.ts'
import { answersFrom } from '../../../src/checks/questions.ts'
import { validationCheck } from '../../../src/checks/validation/validation.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import type { Config } from '../../../src/config/config.ts'
import { bundle, changeBetween, channel, pkg } from '../../change/build-catalog.ts'
import type { Blob, Files } from '../../change/build-catalog.ts'

const answers = answersFrom(new Map())
const file = 'catalog/foo/catalog.yaml'

function judge(base: Files, result: Files, config: Partial<Config> = {}) {
  const input = {
    config: { ...defaultConfig, ...config },
    change: changeBetween(base, result),
    ownerFiles: { base: new Map(), result: new Map() },
  }
  return validationCheck.judge(input as unknown as CheckInput, answers)
}
const said = (outcome: ReturnType<typeof judge>) =>
  outcome.findings.map(({ rule, severity }) => `${rule} ${severity}`)

/** A bundle that no rule of ours complains about. */
function sound(name: string, version: string, more: Blob = {}): Blob {
  const plain = bundle(name, 'foo', version)
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
const first = [pkg('foo'), channel('stable', 'foo', ['foo.v1.0.0']), sound('foo.v1.0.0', '1.0.0')]
const second = [
  pkg('foo'),
  channel('stable', 'foo', ['foo.v1.0.0', 'foo.v1.1.0 < foo.v1.0.0']),
  sound('foo.v1.0.0', '1.0.0'),
  sound('foo.v1.1.0', '1.1.0'),
]
/** The next version, without the image among the related ones. */
const unrelated = [...second.slice(0, 3), sound('foo.v1.1.0', '1.1.0', { relatedImages: [] })]

describe('the validation check', () => {
  test('holds the default to the released opm, whose channel property has an integer priority', () => {
    const value = { channelName: 'stable', priority: 'high' }
    const plain = sound('foo.v1.1.0', '1.1.0')
    const properties = [...(plain['properties'] as Blob[]), { type: 'olm.channel', value }]
    const result = { [file]: [...second.slice(0, 3), { ...plain, properties }] }
    const errors = (config: Partial<Config>) =>
      judge({ [file]: first }, result, config).findings.filter(({ severity }) => severity === 'error')
    expect(errors({}).map(({ what }) => what)).toEqual([
      expect.stringContaining('Channel.priority of type int'),
    ])
    expect(errors({ opm: 'v1.73' })).toEqual(errors({}))
    expect(errors({ opm: 'v1.74' })).toEqual([])
  })

  test('tells what bundles require and the catalog lacks of new bundles, or where the configuration asks', () => {
    const rule = 'missing-required-api'
    const needy = (name: string, version: string, group = 'example.com') => {
      const plain = sound(name, version)
      const value = { group, version: 'v1', kind: 'Certificate' }
      const properties = [...((plain['properties'] as Blob[]) ?? []), { type: 'olm.gvk.required', value }]
      return { ...plain, properties }
    }
    const old = [pkg('foo'), channel('stable', 'foo', ['foo.v1.0.0']), needy('foo.v1.0.0', '1.0.0')]
    const entries = channel('stable', 'foo', ['foo.v1.0.0', 'foo.v1.1.0 < foo.v1.0.0'])
    const added = [pkg('foo'), entries, needy('foo.v1.0.0', '1.0.0'), needy('foo.v1.1.0', '1.1.0')]
    const known = [
      pkg('foo'),
      entries,
      needy('foo.v1.0.0', '1.0.0'),
      needy('foo.v1.1.0', '1.1.0', 'cert-manager.io'),
    ]
    const bundles = (result: readonly Blob[], config: Partial<Config> = {}, base: Files = { [file]: old }) =>
      judge(base, { [file]: result }, config).findings.flatMap(({ rule: id, data }) =>
        id === rule ? [data?.['bundle']] : [],
      )
    expect(bundles(added)).toEqual(['foo.v1.1.0'])
    expect(bundles(known)).toEqual([])
    // A bundle that another place of the package had before is not new.
    const other = [...second.slice(0, 3), needy('foo.v1.1.0', '1.1.0')]
    expect(bundles(other, {}, { [file]: second })).toEqual([])
    expect(bundles(other, { rules: { [rule]: 'warning' } }, { [file]: second })).toEqual(['foo.v1.1.0'])
    expect(bundles(added, { rules: { [rule]: 'off' } })).toEqual([])
  })

  test('asks the world nothing, and passes a sound new version with a line on what was looked at', () => {
    const outcome = judge({ [file]: first }, { [file]: second })
    expect(validationCheck.ask({} as CheckInput, answers)).toEqual([])
    expect(outcome.findings).toEqual([])
    expect(outcome.summary).toBe('1 catalog, 1 package changed, 2 bundles in it')
  })

  test("reports what opm refuses, our own rules' findings and harm to installed clusters, in the order of places", () => {
    const outcome = judge(
      { [file]: second },
      {
        [file]: [
          pkg('foo', 'gone'),
          channel('stable', 'foo', ['foo.v1.0.0']),
          ...unrelated.slice(2, 3),
          ...unrelated.slice(3),
        ],
      },
    )
    expect(said(outcome)).toEqual(
      expect.arrayContaining([
        'bundle-in-no-channel error',
        'bundle-image-not-related warning',
        'installed-version-stranded error',
      ]),
    )
    for (const { at, data } of outcome.findings) {
      if (at) expect(at.file).toBe(file)
      expect(data).toMatchObject({ catalog: 'catalog' })
    }
  })

  test('a warning that the base has too is not repeated, however far its line moved', () => {
    const moved = [{ schema: 'example.com.notes', name: 'n' }, ...unrelated, sound('foo.v1.2.0', '1.2.0')]
    const entries = ['foo.v1.0.0', 'foo.v1.1.0 < foo.v1.0.0', 'foo.v1.2.0 < foo.v1.1.0']
    const outcome = judge(
      { [file]: unrelated },
      {
        [file]: moved.map((blob) =>
          blob.schema === 'olm.channel' ? channel('stable', 'foo', entries) : blob,
        ),
      },
    )
    expect(said(outcome)).toEqual([])
    expect(outcome.summary).toContain('older findings not repeated')
  })

  test('the same warning about another object is new', () => {
    const worse = [
      ...unrelated.slice(0, 2),
      sound('foo.v1.0.0', '1.0.0', { relatedImages: [] }),
      ...unrelated.slice(3),
    ]
    const outcome = judge({ [file]: unrelated }, { [file]: worse })
    expect(said(outcome)).toContain('bundle-image-not-related warning')
    expect(outcome.findings.filter(({ rule }) => rule === 'bundle-image-not-related')).toHaveLength(1)
  })

  test('an error blocks although it was there before', () => {
    const broken = (version: string) =>
      [
        pkg('foo'),
        channel('stable', 'foo', ['foo.v1.0.0']),
        sound('foo.v1.0.0', '1.0.0'),
        channel(version, 'foo', []),
      ] as const
    expect(
      said(judge({ [file]: broken('a') }, { [file]: [...broken('a'), { schema: 'x.y', name: 'n' }] })),
    ).toContain('empty-channel error')
    const served: Blob = { schema: 'a/b', name: 'n' }
    expect(said(judge({ [file]: [...first, served] }, { [file]: [...second, served] }))).toEqual([
      'unservable-schema error',
    ])
  })

  test('the configuration changes the severity of our rules, switches them off, and names exceptions', () => {
    const with_ = (rules: Config['rules']) => said(judge({ [file]: first }, { [file]: unrelated }, { rules }))
    expect(with_({})).toEqual(['bundle-image-not-related warning'])
    expect(with_({ 'bundle-image-not-related': 'error' })).toEqual(['bundle-image-not-related error'])
    expect(with_({ 'bundle-image-not-related': 'off' })).toEqual([])
    expect(with_({ 'bundle-image-not-related': { ignore: ['foo'] } })).toEqual([])
    expect(with_({ 'bundle-image-not-related': { ignore: ['catalog/f*/**'] } })).toEqual([])
    expect(with_({ 'bundle-image-not-related': { severity: 'info', ignore: ['bar', 'other/**'] } })).toEqual([
      'bundle-image-not-related info',
    ])
  })

  test('what opm refuses has no switch', () => {
    const empty = [...first, channel('empty', 'foo', [])]
    const rules: Config['rules'] = { 'empty-channel': 'off', 'no-head': { ignore: ['**', 'foo'] } }
    expect(said(judge({ [file]: first }, { [file]: empty }, { rules }))).toContain('empty-channel error')
  })

  test('the opm release of the configuration decides, and an unknown one passes nothing', () => {
    const reference = [
      pkg('foo'),
      channel('stable', 'foo', ['foo.v1.0.0']),
      sound('foo.v1.0.0', '1.0.0', { image: 'oci://x', relatedImages: [{ name: '', image: 'oci://x' }] }),
    ]
    expect(said(judge({}, { [file]: reference }))).toContain('invalid-pull-spec error')
    expect(said(judge({}, { [file]: reference }, { opm: 'v1.60' }))).toEqual([])
    expect(said(judge({}, { [file]: first }, { opm: 'v1.2' }))).toEqual(['opm-release-unknown error'])
  })

  test('of a catalog that goes away nothing is left to be valid, and the summary says what went', () => {
    const outcome = judge({ [file]: first }, {})
    expect(outcome.findings).toEqual([])
    expect(outcome.summary).toBe('1 catalog, 1 package changed, 0 bundles in it')
  })

  test('where the base has more remarks of a rule than are listed, none of that rule is held against a change', () => {
    const nameless = (count: number, more: object = {}) => [
      ...second.slice(0, 3),
      sound('foo.v1.1.0', '1.1.0', {
        properties: [
          ...((second[3]?.['properties'] ?? []) as readonly Blob[]),
          ...Array.from({ length: count }, (_, at) => ({ type: '', value: at })),
        ],
        ...more,
      }),
    ]
    const lines = (outcome: ReturnType<typeof judge>) =>
      said(outcome).filter((one) => one.startsWith('untyped'))
    const files = (count: number, more: object = {}) => ({ [file]: nameless(count, more) })
    expect(lines(judge(files(2), files(4)))).toEqual(Array(2).fill('untyped-property warning'))
    expect(lines(judge(files(6000), files(6001)))).toEqual([])
    // What blocks is told all the same, with how many more there are.
    const rules = { 'untyped-property': 'error' } as const
    const outcome = judge(files(6000), files(6001), { rules })
    expect(lines(outcome)).toHaveLength(5001)
    expect(outcome.findings[0]).toMatchObject({ severity: 'error', data: { leftOut: 1001 } })
  })

  test('a rule that is ignored for one package blocks where it left findings out: others may be among them', () => {
    const properties = Array.from({ length: 6000 }, (_, at) => ({ type: '', value: at }))
    const blobs = [...second.slice(0, 3), sound('foo.v1.1.0', '1.1.0', { properties })]
    const rules = { 'untyped-property': { severity: 'error' as const, ignore: ['foo'] } }
    const outcome = judge({ [file]: second }, { [file]: blobs }, { rules })
    expect(said(outcome).filter((one) => one.startsWith('untyped'))).toEqual(['untyped-property error'])
  })
})
