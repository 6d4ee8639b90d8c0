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
const formatBundleName = (n: number) => `foo.v${n}`
const createBundleBlobs = (...versions: number[]) =>
  versions.map((n) => buildBundleBlob(formatBundleName(n), 'foo', `${n}.0.0`))
const baseCatalogBlobs = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', [
    formatBundleName(1),
    `${formatBundleName(2)} < ${formatBundleName(1)}`,
    `${formatBundleName(3)} < ${formatBundleName(2)}`,
  ]),
  ...createBundleBlobs(1, 2, 3),
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
const createStableChannelCatalogBlobs = (
  entries: readonly (string | CatalogBlob)[],
  ...more: CatalogBlob[]
) => [buildPackageBlob('foo'), buildChannelBlob('stable', 'foo', entries), ...more]

describe('no finding is reported for', () => {
  test('a new head that replaces the old one', () => {
    const after = createStableChannelCatalogBlobs(
      [
        formatBundleName(1),
        `${formatBundleName(2)} < ${formatBundleName(1)}`,
        `${formatBundleName(3)} < ${formatBundleName(2)}`,
        `${formatBundleName(4)} < ${formatBundleName(3)}`,
      ],
      ...createBundleBlobs(1, 2, 3, 4),
    )
    expect(findUpgradeFindings(baseCatalogBlobs, after)).toEqual([])
  })
  test('a new package, and a new channel', () => {
    const after = [
      ...baseCatalogBlobs,
      buildChannelBlob('fast', 'foo', [formatBundleName(3)]),
      buildPackageBlob('new'),
      buildChannelBlob('a', 'new', ['x']),
    ]
    expect(findUpgradeFindings(baseCatalogBlobs, after)).toEqual([])
  })
  test('removed entries that the new head skips', () => {
    const after = createStableChannelCatalogBlobs(
      [
        {
          name: formatBundleName(4),
          replaces: formatBundleName(3),
          skips: [formatBundleName(1), formatBundleName(2)],
        },
        formatBundleName(3),
      ],
      ...createBundleBlobs(1, 2, 3, 4),
    )
    expect(findUpgradeFindings(baseCatalogBlobs, after)).toEqual([])
  })
  test('removed entries that a skipRange covers', () => {
    const after = createStableChannelCatalogBlobs(
      [{ name: formatBundleName(4), skipRange: '>=1.0.0 <4.0.0' }],
      ...createBundleBlobs(1, 2, 3, 4),
    )
    expect(findUpgradeFindings(baseCatalogBlobs, after)).toEqual([])
  })
})

describe('installed-version-stranded', () => {
  const stranded = (findings: Finding[]) =>
    findings.filter(({ rule }) => rule === 'installed-version-stranded').map(({ data }) => data?.bundles)
  test('names entries that are removed and not skipped', () => {
    const after = createStableChannelCatalogBlobs(
      [{ name: formatBundleName(3), skips: [formatBundleName(2)] }, formatBundleName(2)],
      ...createBundleBlobs(1, 2, 3),
    )
    const found = findUpgradeFindings(baseCatalogBlobs, after)
    expect(stranded(found)).toEqual([[formatBundleName(1)]])
    expect(found[0]).toMatchObject({
      severity: 'error',
      at: { file: catalogPath, line: 2 },
      subject: 'catalog/foo/stable',
    })
  })
  test('names every old entry if only an unconnected new head remains', () => {
    const after = createStableChannelCatalogBlobs(
      [
        formatBundleName(1),
        `${formatBundleName(2)} < ${formatBundleName(1)}`,
        `${formatBundleName(3)} < ${formatBundleName(2)}`,
        formatBundleName(4),
      ],
      ...createBundleBlobs(1, 2, 3, 4),
    )
    expect(stranded(findUpgradeFindings(baseCatalogBlobs, after))).toEqual([])
    const alone = createStableChannelCatalogBlobs([formatBundleName(4)], ...createBundleBlobs(1, 2, 3, 4))
    expect(stranded(findUpgradeFindings(baseCatalogBlobs, alone))).toEqual([
      [formatBundleName(1), formatBundleName(2), formatBundleName(3)],
    ])
  })
  test('names a withdrawn head, together with head-moves-backwards', () => {
    const after = createStableChannelCatalogBlobs(
      [formatBundleName(1), `${formatBundleName(2)} < ${formatBundleName(1)}`],
      ...createBundleBlobs(1, 2, 3),
    )
    const found = findUpgradeFindings(baseCatalogBlobs, after)
    expect(stranded(found)).toEqual([[formatBundleName(3)]])
    expect(listRuleIds(found)).toContain('head-moves-backwards')
  })
  test('never suggests replacing a newer version with an older one', () => {
    const fixOf = (after: readonly CatalogBlob[]) =>
      findUpgradeFindings(baseCatalogBlobs, after).find(({ rule }) => rule === 'installed-version-stranded')
        ?.fix
    expect(
      fixOf(
        createStableChannelCatalogBlobs(
          [formatBundleName(1), `${formatBundleName(2)} < ${formatBundleName(1)}`],
          ...createBundleBlobs(1, 2, 3),
        ),
      ),
    ).toBe(
      'Keep foo.v3, because an older version must not replace a newer one. Add an upgrade to a newer version, or deprecate it.',
    )
    expect(
      fixOf(createStableChannelCatalogBlobs([formatBundleName(2)], ...createBundleBlobs(1, 2, 3))),
    ).toMatch(/^Make foo.v2, .* Keep foo.v3, /)
    expect(
      fixOf(createStableChannelCatalogBlobs([formatBundleName(3)], ...createBundleBlobs(1, 2, 3))),
    ).toMatch(/^Make foo.v3, [^K]*$/)
  })
  test('is not reported for a withdrawn head that the previous version skips', () => {
    const after = createStableChannelCatalogBlobs(
      [
        formatBundleName(1),
        { name: formatBundleName(2), replaces: formatBundleName(1), skips: [formatBundleName(3)] },
      ],
      ...createBundleBlobs(1, 2, 3),
    )
    expect(listRuleIds(findUpgradeFindings(baseCatalogBlobs, after))).toEqual(['head-moves-backwards'])
  })
  test('is not reported for versions that were already stranded', () => {
    const before = createStableChannelCatalogBlobs(
      [formatBundleName(1), formatBundleName(2), { name: formatBundleName(3), skips: [formatBundleName(2)] }],
      ...createBundleBlobs(1, 2, 3),
    )
    const after = createStableChannelCatalogBlobs(
      [
        formatBundleName(1),
        formatBundleName(2),
        { name: formatBundleName(3), skips: [formatBundleName(2)] },
        `${formatBundleName(4)} < ${formatBundleName(3)}`,
      ],
      ...createBundleBlobs(1, 2, 3, 4),
    )
    expect(stranded(findUpgradeFindings(before, after))).toEqual([])
  })
  test('applies a skipRange literally, and ignores an invalid one', () => {
    const ranged = (skipRange: string) =>
      createStableChannelCatalogBlobs(
        [{ name: formatBundleName(3), skipRange }],
        ...createBundleBlobs(1, 2, 3),
      )
    expect(stranded(findUpgradeFindings(baseCatalogBlobs, ranged('>=1.0.0 <3.0.0')))).toEqual([])
    expect(stranded(findUpgradeFindings(baseCatalogBlobs, ranged('>=2.0.0 <3.0.0')))).toEqual([
      [formatBundleName(1)],
    ])
    expect(stranded(findUpgradeFindings(baseCatalogBlobs, ranged('not a range')))).toEqual([
      [formatBundleName(1), formatBundleName(2)],
    ])
  })
  test('names the versions of a disconnected cycle, which opm accepts if an entry skips them', () => {
    const after = createStableChannelCatalogBlobs(
      [
        formatBundleName(3),
        `${formatBundleName(1)} < ${formatBundleName(2)}`,
        {
          name: formatBundleName(2),
          replaces: formatBundleName(1),
          skips: [formatBundleName(2), formatBundleName(1)],
        },
      ],
      ...createBundleBlobs(1, 2, 3),
    )
    expect(stranded(findUpgradeFindings(baseCatalogBlobs, after))).toEqual([
      [formatBundleName(1), formatBundleName(2)],
    ])
  })
})

describe('bundle-edited', () => {
  test('is an error if the image of the bundle changes', () => {
    const after = [
      ...baseCatalogBlobs.slice(0, 2),
      { ...baseCatalogBlobs[2]!, image: 'quay.io/x/y:1' },
      ...baseCatalogBlobs.slice(3),
    ]
    expect(findUpgradeFindings(baseCatalogBlobs, after)).toMatchObject([
      {
        rule: 'bundle-edited',
        severity: 'error',
        at: { file: catalogPath, line: 3 },
        data: { bundle: formatBundleName(1), fields: ['image'] },
      },
    ])
  })
  test('separates edits of displayed metadata from edits of properties that affect resolution', () => {
    const csv = { type: 'olm.csv.metadata', value: { displayName: 'x' } }
    const its = baseCatalogBlobs[2]!.properties as CatalogBlob[]
    const edited = (properties: CatalogBlob[]) => [
      ...baseCatalogBlobs.slice(0, 2),
      { ...baseCatalogBlobs[2]!, properties },
      ...baseCatalogBlobs.slice(3),
    ]
    expect(listRuleIds(findUpgradeFindings(baseCatalogBlobs, edited([...its, csv])))).toEqual([
      'bundle-metadata-edited',
    ])
    expect(
      listRuleIds(
        findUpgradeFindings(baseCatalogBlobs, edited([...its, csv, { type: 'olm.gvk', value: {} }])),
      ),
    ).toEqual(['bundle-edited'])
  })

  test('objects of a bundle without an image are what clusters install, so a change to them is an edit', () => {
    const [packageBlob, channelBlob, first, ...others] = baseCatalogBlobs
    const withObject = (data: string) => [
      packageBlob!,
      channelBlob!,
      {
        ...first!,
        image: '',
        properties: [
          ...(first!['properties'] as CatalogBlob[]),
          { type: 'olm.bundle.object', value: { data } },
        ],
      },
      ...others,
    ]
    expect(listRuleIds(findUpgradeFindings(withObject('e30='), withObject('e31=')))).toContain(
      'bundle-edited',
    )
  })
})

test('bundle-removed names all removed bundles in one finding', () => {
  const after = createStableChannelCatalogBlobs(
    [`${formatBundleName(3)} < ${formatBundleName(2)}`],
    ...createBundleBlobs(3),
  )
  const found = findUpgradeFindings(baseCatalogBlobs, after)
  expect(listRuleIds(found)).toEqual(['bundle-removed', 'installed-version-stranded'])
  expect(found[0]).toMatchObject({
    rule: 'bundle-removed',
    data: { bundles: [formatBundleName(1), formatBundleName(2)] },
    at: { file: catalogPath, line: 1 },
  })
})

test('package-removed is the only finding for a removed package, and has its deprecation', () => {
  expect(findUpgradeFindings(baseCatalogBlobs, undefined)).toMatchObject([
    { rule: 'package-removed', data: { bundles: 3, deprecated: false, package: 'foo' } },
  ])
  expect(
    findUpgradeFindings(
      [...baseCatalogBlobs, buildDeprecationsBlob('foo', [['olm.package', '', 'x']])],
      undefined,
    )[0]?.data?.deprecated,
  ).toBe(true)
})

test('a channel may be removed if an earlier change deprecated it, but not if the same change does', () => {
  const two = [...baseCatalogBlobs, buildChannelBlob('old', 'foo', [formatBundleName(1)])]
  const announced = [...two, buildDeprecationsBlob('foo', [['olm.channel', 'old', 'use stable']])]
  expect(listRuleIds(findUpgradeFindings(two, baseCatalogBlobs))).toEqual(['channel-removed'])
  expect(
    listRuleIds(
      findUpgradeFindings(two, [
        ...baseCatalogBlobs,
        buildDeprecationsBlob('foo', [['olm.package', '', 'x']]),
      ]),
    ),
  ).toEqual(['channel-removed', 'newly-deprecated'])
  expect(listRuleIds(findUpgradeFindings(announced, baseCatalogBlobs))).toEqual([
    'deprecated-channel-removed',
  ])
})

test('changes of the default channel and new deprecations are reported', () => {
  const after = [
    buildPackageBlob('foo', 'fast'),
    ...baseCatalogBlobs.slice(1),
    buildChannelBlob('fast', 'foo', [formatBundleName(3)]),
    buildDeprecationsBlob('foo', [['olm.bundle', formatBundleName(1), 'too old']]),
  ]
  expect(
    findUpgradeFindings(baseCatalogBlobs, after).map(({ rule, severity, at }) => [rule, severity, at?.line]),
  ).toEqual([
    ['default-channel-changed', 'warning', 1],
    ['newly-deprecated', 'info', 7],
  ])
})

test('default-channel-changed names the versions without an upgrade path in the new channel', () => {
  const changed = (...entries: (string | CatalogBlob)[]) => {
    const after = [
      buildPackageBlob('foo', 'new'),
      ...baseCatalogBlobs.slice(1),
      buildChannelBlob('new', 'foo', entries),
    ]
    const [found, ...others] = findUpgradeFindings(baseCatalogBlobs, after)
    expect([found?.rule, others]).toEqual(['default-channel-changed', []])
    return found
  }
  expect(changed(formatBundleName(3))?.data?.leftBehind).toEqual([formatBundleName(1), formatBundleName(2)])
  expect(changed(formatBundleName(3))?.what).toContain('"new", which has no upgrade path from foo.v1, foo.v2')
  expect(
    changed(
      formatBundleName(1),
      `${formatBundleName(2)} < ${formatBundleName(1)}`,
      `${formatBundleName(3)} < ${formatBundleName(2)}`,
    )?.what,
  ).toMatch(/"new"$/)
  expect(changed({ name: formatBundleName(3), skipRange: '<3.0.0' })?.data?.leftBehind).toEqual([])
})

test('no rule throws for a removed catalog or for one with a replaces cycle', () => {
  const change = computeCatalogChange({ [catalogPath]: baseCatalogBlobs }, {})
  expect(
    change.catalogs.flatMap((catalog) => upgradeRules.flatMap((rule) => [...runUpgradeRule(rule, catalog)])),
  ).toEqual([])
  expect(() =>
    findUpgradeFindings(
      baseCatalogBlobs,
      createStableChannelCatalogBlobs([
        `${formatBundleName(1)} < ${formatBundleName(2)}`,
        `${formatBundleName(2)} < ${formatBundleName(1)}`,
      ]),
    ),
  ).not.toThrow()
})

describe('every rule', () => {
  test('has a unique id', () => {
    expect(new Set(upgradeRules.map(({ id }) => id)).size).toBe(upgradeRules.length)
  })
})
