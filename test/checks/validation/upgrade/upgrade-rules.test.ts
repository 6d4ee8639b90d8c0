import { describe, expect, test } from '@jest/globals'
import { upgradeRules } from '../../../../src/checks/validation/upgrade/rules.ts'
import { runUpgradeRule } from '../../../../src/checks/validation/upgrade/upgrade-rule.ts'
import type { Finding } from '../../../../packages/findings/src/finding.ts'
import {
  buildBundleBlob,
  computeCatalogChange,
  buildChannelBlob,
  buildDeprecationsBlob,
  buildPackageBlob,
  type CatalogBlob,
} from '../../../pull-request/build-catalog.ts'

const catalogPath = 'catalog/foo/catalog.yaml'
const createBundleBlobs = (versions: readonly number[]) =>
  versions.map((n) => buildBundleBlob(`foo.v${n}`, 'foo', `${n}.0.0`))
const baseBlobs = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['foo.v1', 'foo.v2 < foo.v1', 'foo.v3 < foo.v2']),
  ...createBundleBlobs([1, 2, 3]),
]

const findUpgradeFindings = (
  before: readonly CatalogBlob[],
  after: readonly CatalogBlob[] | undefined,
): Finding[] => {
  const unrelatedFiles = { 'catalog/other/c.yaml': [buildPackageBlob('other')] }
  const change = computeCatalogChange(
    { ...unrelatedFiles, [catalogPath]: before },
    after ? { ...unrelatedFiles, [catalogPath]: after } : unrelatedFiles,
  )
  return change.catalogs.flatMap((catalog) =>
    upgradeRules.flatMap((rule) => [...runUpgradeRule(rule, catalog)]),
  )
}
const listRuleIds = (findings: readonly Finding[]) => findings.map(({ rule }) => rule).sort()
const listUpgradeRules = (...sides: Parameters<typeof findUpgradeFindings>) =>
  listRuleIds(findUpgradeFindings(...sides))
const createStableCatalog = (
  entries: readonly (string | CatalogBlob)[],
  versions: readonly number[] = [],
): CatalogBlob[] => [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', entries),
  ...createBundleBlobs(versions),
]

test.each<[change: string, after: readonly CatalogBlob[]]>([
  [
    'a new head that replaces the old one',
    createStableCatalog(['foo.v1', 'foo.v2 < foo.v1', 'foo.v3 < foo.v2', 'foo.v4 < foo.v3'], [1, 2, 3, 4]),
  ],
  [
    'a new package, and a new channel',
    [
      ...baseBlobs,
      buildChannelBlob('fast', 'foo', ['foo.v3']),
      buildPackageBlob('new'),
      buildChannelBlob('a', 'new', ['x']),
    ],
  ],
  [
    'removed entries that the new head skips',
    createStableCatalog(
      [{ name: 'foo.v4', replaces: 'foo.v3', skips: ['foo.v1', 'foo.v2'] }, 'foo.v3'],
      [1, 2, 3, 4],
    ),
  ],
  [
    'removed entries that a skipRange covers',
    createStableCatalog([{ name: 'foo.v4', skipRange: '>=1.0.0 <4.0.0' }], [1, 2, 3, 4]),
  ],
])('no finding is reported for %s', (_, after) => {
  expect(findUpgradeFindings(baseBlobs, after)).toEqual([])
})

describe('installed-version-stranded', () => {
  const stranded = (findings: Finding[]) =>
    findings.filter(({ rule }) => rule === 'installed-version-stranded').map(({ data }) => data?.bundles)
  const strandedBy = (after: readonly CatalogBlob[]) => stranded(findUpgradeFindings(baseBlobs, after))
  test('names entries that are removed and not skipped', () => {
    const after = createStableCatalog([{ name: 'foo.v3', skips: ['foo.v2'] }, 'foo.v2'], [1, 2, 3])
    const found = findUpgradeFindings(baseBlobs, after)
    expect(stranded(found)).toEqual([['foo.v1']])
    expect(found[0]).toMatchObject({
      severity: 'error',
      at: { file: catalogPath, line: 2 },
      subject: 'catalog/foo/stable',
    })
  })
  test('names every old entry if only an unconnected new head remains', () => {
    const after = createStableCatalog(
      ['foo.v1', 'foo.v2 < foo.v1', 'foo.v3 < foo.v2', 'foo.v4'],
      [1, 2, 3, 4],
    )
    expect(strandedBy(after)).toEqual([])
    const alone = createStableCatalog(['foo.v4'], [1, 2, 3, 4])
    expect(strandedBy(alone)).toEqual([['foo.v1', 'foo.v2', 'foo.v3']])
  })
  test('names a withdrawn head, together with head-moves-backwards', () => {
    const after = createStableCatalog(['foo.v1', 'foo.v2 < foo.v1'], [1, 2, 3])
    const found = findUpgradeFindings(baseBlobs, after)
    expect(stranded(found)).toEqual([['foo.v3']])
    expect(listRuleIds(found)).toContain('head-moves-backwards')
  })
  test('never suggests replacing a newer version with an older one', () => {
    const fixOf = (after: readonly CatalogBlob[]) =>
      findUpgradeFindings(baseBlobs, after).find(({ rule }) => rule === 'installed-version-stranded')?.fix
    expect(fixOf(createStableCatalog(['foo.v1', 'foo.v2 < foo.v1'], [1, 2, 3]))).toBe(
      'Keep foo.v3, because an older version must not replace a newer one. Add an upgrade to a newer version, or deprecate it.',
    )
    expect(fixOf(createStableCatalog(['foo.v2'], [1, 2, 3]))).toMatch(/^Make foo.v2, .* Keep foo.v3, /)
    expect(fixOf(createStableCatalog(['foo.v3'], [1, 2, 3]))).toMatch(/^Make foo.v3, [^K]*$/)
  })
  test('is not reported for a withdrawn head that the previous version skips', () => {
    const after = createStableCatalog(
      ['foo.v1', { name: 'foo.v2', replaces: 'foo.v1', skips: ['foo.v3'] }],
      [1, 2, 3],
    )
    expect(listUpgradeRules(baseBlobs, after)).toEqual(['head-moves-backwards'])
  })
  test('is not reported for versions that were already stranded', () => {
    const before = createStableCatalog(['foo.v1', 'foo.v2', { name: 'foo.v3', skips: ['foo.v2'] }], [1, 2, 3])
    const after = createStableCatalog(
      ['foo.v1', 'foo.v2', { name: 'foo.v3', skips: ['foo.v2'] }, 'foo.v4 < foo.v3'],
      [1, 2, 3, 4],
    )
    expect(stranded(findUpgradeFindings(before, after))).toEqual([])
  })
  test('applies a skipRange literally, and ignores an invalid one', () => {
    const ranged = (skipRange: string) => createStableCatalog([{ name: 'foo.v3', skipRange }], [1, 2, 3])
    expect(strandedBy(ranged('>=1.0.0 <3.0.0'))).toEqual([])
    expect(strandedBy(ranged('>=2.0.0 <3.0.0'))).toEqual([['foo.v1']])
    expect(strandedBy(ranged('not a range'))).toEqual([['foo.v1', 'foo.v2']])
  })
  test('names the versions of a disconnected cycle, which opm accepts if an entry skips them', () => {
    const after = createStableCatalog(
      ['foo.v3', 'foo.v1 < foo.v2', { name: 'foo.v2', replaces: 'foo.v1', skips: ['foo.v2', 'foo.v1'] }],
      [1, 2, 3],
    )
    expect(strandedBy(after)).toEqual([['foo.v1', 'foo.v2']])
  })
})

describe('bundle-edited', () => {
  const editFirstBundle = (fields: CatalogBlob): CatalogBlob[] =>
    baseBlobs.map((blob, index) => (index === 2 ? { ...blob, ...fields } : blob))
  test('is an error if the image of the bundle changes', () => {
    expect(findUpgradeFindings(baseBlobs, editFirstBundle({ image: 'quay.io/x/y:1' }))).toMatchObject([
      {
        rule: 'bundle-edited',
        severity: 'error',
        at: { file: catalogPath, line: 3 },
        data: { bundle: 'foo.v1', fields: ['image'] },
      },
    ])
  })
  test('separates edits of displayed metadata from edits of properties that affect resolution', () => {
    const csv = { type: 'olm.csv.metadata', value: { displayName: 'x' } }
    const its = baseBlobs[2]!.properties as CatalogBlob[]
    const listRules = (...added: CatalogBlob[]) =>
      listUpgradeRules(baseBlobs, editFirstBundle({ properties: [...its, ...added] }))
    expect(listRules(csv)).toEqual(['bundle-metadata-edited'])
    expect(listRules(csv, { type: 'olm.gvk', value: {} })).toEqual(['bundle-edited'])
  })

  test('objects of a bundle without an image are what clusters install, so a change to them is an edit', () => {
    const its = baseBlobs[2]!.properties as CatalogBlob[]
    const withObject = (data: string) =>
      editFirstBundle({ image: '', properties: [...its, { type: 'olm.bundle.object', value: { data } }] })
    expect(listUpgradeRules(withObject('e30='), withObject('e31='))).toContain('bundle-edited')
  })
})

test('bundle-removed names all removed bundles in one finding', () => {
  const after = createStableCatalog(['foo.v3 < foo.v2'], [3])
  const found = findUpgradeFindings(baseBlobs, after)
  expect(listRuleIds(found)).toEqual(['bundle-removed', 'installed-version-stranded'])
  expect(found[0]).toMatchObject({
    rule: 'bundle-removed',
    data: { bundles: ['foo.v1', 'foo.v2'] },
    at: { file: catalogPath, line: 1 },
  })
})

test('package-removed is the only finding for a removed package, and has its deprecation', () => {
  expect(findUpgradeFindings(baseBlobs, undefined)).toMatchObject([
    { rule: 'package-removed', data: { bundles: 3, deprecated: false, package: 'foo' } },
  ])
  expect(
    findUpgradeFindings(
      [...baseBlobs, buildDeprecationsBlob('foo', [['olm.package', '', 'x']])],
      undefined,
    )[0]?.data?.deprecated,
  ).toBe(true)
})

test('a channel may be removed if an earlier change deprecated it, but not if the same change does', () => {
  const two = [...baseBlobs, buildChannelBlob('old', 'foo', ['foo.v1'])]
  const announced = [...two, buildDeprecationsBlob('foo', [['olm.channel', 'old', 'use stable']])]
  expect(listUpgradeRules(two, baseBlobs)).toEqual(['channel-removed'])
  expect(
    listUpgradeRules(two, [...baseBlobs, buildDeprecationsBlob('foo', [['olm.package', '', 'x']])]),
  ).toEqual(['channel-removed', 'newly-deprecated'])
  expect(listUpgradeRules(announced, baseBlobs)).toEqual(['deprecated-channel-removed'])
})

test('changes of the default channel and new deprecations are reported', () => {
  const after = [
    buildPackageBlob('foo', 'fast'),
    ...baseBlobs.slice(1),
    buildChannelBlob('fast', 'foo', ['foo.v3']),
    buildDeprecationsBlob('foo', [['olm.bundle', 'foo.v1', 'too old']]),
  ]
  expect(
    findUpgradeFindings(baseBlobs, after).map(({ rule, severity, at }) => [rule, severity, at?.line]),
  ).toEqual([
    ['default-channel-changed', 'warning', 1],
    ['newly-deprecated', 'info', 7],
  ])
})

test('default-channel-changed names the versions without an upgrade path in the new channel', () => {
  const changed = (...entries: (string | CatalogBlob)[]) => {
    const after = [
      buildPackageBlob('foo', 'new'),
      ...baseBlobs.slice(1),
      buildChannelBlob('new', 'foo', entries),
    ]
    const [found, ...others] = findUpgradeFindings(baseBlobs, after)
    expect([found?.rule, others]).toEqual(['default-channel-changed', []])
    return found
  }
  expect(changed('foo.v3')?.data?.leftBehind).toEqual(['foo.v1', 'foo.v2'])
  expect(changed('foo.v3')?.what).toContain('"new", which has no upgrade path from foo.v1, foo.v2')
  expect(changed('foo.v1', 'foo.v2 < foo.v1', 'foo.v3 < foo.v2')?.what).toMatch(/"new"$/)
  expect(changed({ name: 'foo.v3', skipRange: '<3.0.0' })?.data?.leftBehind).toEqual([])
})

test('no rule throws for a removed catalog or for one with a replaces cycle', () => {
  const change = computeCatalogChange({ [catalogPath]: baseBlobs }, {})
  expect(
    change.catalogs.flatMap((catalog) => upgradeRules.flatMap((rule) => [...runUpgradeRule(rule, catalog)])),
  ).toEqual([])
  expect(() =>
    findUpgradeFindings(baseBlobs, createStableCatalog(['foo.v1 < foo.v2', 'foo.v2 < foo.v1'])),
  ).not.toThrow()
})

test('every rule has a unique id', () => {
  expect(new Set(upgradeRules.map(({ id }) => id)).size).toBe(upgradeRules.length)
})
