import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { upgradeRules } from '../../../../src/checks/validation/upgrade/rules.ts'
import { runUpgradeRule } from '../../../../src/checks/validation/upgrade/upgrade-rule.ts'
import type { Finding } from '../../../../packages/findings/src/finding.ts'
import {
  bundleBlob,
  computeCatalogChange,
  channelBlob,
  deprecationsBlob,
  packageBlob,
  type CatalogBlob,
} from '../../../pull-request/build-catalog.ts'

const catalogPath = 'catalog/foo/catalog.yaml'
const bundleName = (n: number) => `foo.v${n}`
const bundleBlobs = (...versions: number[]) =>
  versions.map((n) => bundleBlob(bundleName(n), 'foo', `${n}.0.0`))
const baseBlobs = [
  packageBlob('foo'),
  channelBlob('stable', 'foo', [
    bundleName(1),
    `${bundleName(2)} < ${bundleName(1)}`,
    `${bundleName(3)} < ${bundleName(2)}`,
  ]),
  ...bundleBlobs(1, 2, 3),
]

const findUpgradeFindings = (
  before: readonly CatalogBlob[],
  after: readonly CatalogBlob[] | undefined,
): Finding[] => {
  const unrelatedFiles = { 'catalog/other/c.yaml': [packageBlob('other')] }
  const change = computeCatalogChange(
    { ...unrelatedFiles, [catalogPath]: before },
    after ? { ...unrelatedFiles, [catalogPath]: after } : unrelatedFiles,
  )
  return change.catalogs.flatMap((catalog) =>
    upgradeRules.flatMap((rule) => [...runUpgradeRule(rule, catalog)]),
  )
}
const listRuleIds = (findings: readonly Finding[]) => findings.map(({ rule }) => rule).sort()
const createStableCatalogBlobs = (entries: readonly (string | CatalogBlob)[], ...more: CatalogBlob[]) => [
  packageBlob('foo'),
  channelBlob('stable', 'foo', entries),
  ...more,
]

describe('no finding is reported for', () => {
  test('a new head that replaces the old one', () => {
    const after = createStableCatalogBlobs(
      [
        bundleName(1),
        `${bundleName(2)} < ${bundleName(1)}`,
        `${bundleName(3)} < ${bundleName(2)}`,
        `${bundleName(4)} < ${bundleName(3)}`,
      ],
      ...bundleBlobs(1, 2, 3, 4),
    )
    expect(findUpgradeFindings(baseBlobs, after)).toEqual([])
  })
  test('a new package, and a new channel', () => {
    const after = [
      ...baseBlobs,
      channelBlob('fast', 'foo', [bundleName(3)]),
      packageBlob('new'),
      channelBlob('a', 'new', ['x']),
    ]
    expect(findUpgradeFindings(baseBlobs, after)).toEqual([])
  })
  test('removed entries that the new head skips', () => {
    const after = createStableCatalogBlobs(
      [
        { name: bundleName(4), replaces: bundleName(3), skips: [bundleName(1), bundleName(2)] },
        bundleName(3),
      ],
      ...bundleBlobs(1, 2, 3, 4),
    )
    expect(findUpgradeFindings(baseBlobs, after)).toEqual([])
  })
  test('removed entries that a skipRange covers', () => {
    const after = createStableCatalogBlobs(
      [{ name: bundleName(4), skipRange: '>=1.0.0 <4.0.0' }],
      ...bundleBlobs(1, 2, 3, 4),
    )
    expect(findUpgradeFindings(baseBlobs, after)).toEqual([])
  })
})

describe('installed-version-stranded', () => {
  const stranded = (findings: Finding[]) =>
    findings.filter(({ rule }) => rule === 'installed-version-stranded').map(({ data }) => data?.bundles)
  test('names entries that are removed and not skipped', () => {
    const after = createStableCatalogBlobs(
      [{ name: bundleName(3), skips: [bundleName(2)] }, bundleName(2)],
      ...bundleBlobs(1, 2, 3),
    )
    const found = findUpgradeFindings(baseBlobs, after)
    expect(stranded(found)).toEqual([[bundleName(1)]])
    expect(found[0]).toMatchObject({
      severity: 'error',
      at: { file: catalogPath, line: 2 },
      subject: 'catalog/foo/stable',
    })
  })
  test('names every old entry if only an unconnected new head remains', () => {
    const after = createStableCatalogBlobs(
      [
        bundleName(1),
        `${bundleName(2)} < ${bundleName(1)}`,
        `${bundleName(3)} < ${bundleName(2)}`,
        bundleName(4),
      ],
      ...bundleBlobs(1, 2, 3, 4),
    )
    expect(stranded(findUpgradeFindings(baseBlobs, after))).toEqual([])
    const alone = createStableCatalogBlobs([bundleName(4)], ...bundleBlobs(1, 2, 3, 4))
    expect(stranded(findUpgradeFindings(baseBlobs, alone))).toEqual([
      [bundleName(1), bundleName(2), bundleName(3)],
    ])
  })
  test('names a withdrawn head, together with head-moves-backwards', () => {
    const after = createStableCatalogBlobs(
      [bundleName(1), `${bundleName(2)} < ${bundleName(1)}`],
      ...bundleBlobs(1, 2, 3),
    )
    const found = findUpgradeFindings(baseBlobs, after)
    expect(stranded(found)).toEqual([[bundleName(3)]])
    expect(listRuleIds(found)).toContain('head-moves-backwards')
  })
  test('never suggests replacing a newer version with an older one', () => {
    const fixOf = (after: readonly CatalogBlob[]) =>
      findUpgradeFindings(baseBlobs, after).find(({ rule }) => rule === 'installed-version-stranded')?.fix
    expect(
      fixOf(
        createStableCatalogBlobs(
          [bundleName(1), `${bundleName(2)} < ${bundleName(1)}`],
          ...bundleBlobs(1, 2, 3),
        ),
      ),
    ).toBe(
      'Keep foo.v3, because an older version must not replace a newer one. Add an upgrade to a newer version, or deprecate it.',
    )
    expect(fixOf(createStableCatalogBlobs([bundleName(2)], ...bundleBlobs(1, 2, 3)))).toMatch(
      /^Make foo.v2, .* Keep foo.v3, /,
    )
    expect(fixOf(createStableCatalogBlobs([bundleName(3)], ...bundleBlobs(1, 2, 3)))).toMatch(
      /^Make foo.v3, [^K]*$/,
    )
  })
  test('is not reported for a withdrawn head that the previous version skips', () => {
    const after = createStableCatalogBlobs(
      [bundleName(1), { name: bundleName(2), replaces: bundleName(1), skips: [bundleName(3)] }],
      ...bundleBlobs(1, 2, 3),
    )
    expect(listRuleIds(findUpgradeFindings(baseBlobs, after))).toEqual(['head-moves-backwards'])
  })
  test('is not reported for versions that were already stranded', () => {
    const before = createStableCatalogBlobs(
      [bundleName(1), bundleName(2), { name: bundleName(3), skips: [bundleName(2)] }],
      ...bundleBlobs(1, 2, 3),
    )
    const after = createStableCatalogBlobs(
      [
        bundleName(1),
        bundleName(2),
        { name: bundleName(3), skips: [bundleName(2)] },
        `${bundleName(4)} < ${bundleName(3)}`,
      ],
      ...bundleBlobs(1, 2, 3, 4),
    )
    expect(stranded(findUpgradeFindings(before, after))).toEqual([])
  })
  test('applies a skipRange literally, and ignores an invalid one', () => {
    const ranged = (skipRange: string) =>
      createStableCatalogBlobs([{ name: bundleName(3), skipRange }], ...bundleBlobs(1, 2, 3))
    expect(stranded(findUpgradeFindings(baseBlobs, ranged('>=1.0.0 <3.0.0')))).toEqual([])
    expect(stranded(findUpgradeFindings(baseBlobs, ranged('>=2.0.0 <3.0.0')))).toEqual([[bundleName(1)]])
    expect(stranded(findUpgradeFindings(baseBlobs, ranged('not a range')))).toEqual([
      [bundleName(1), bundleName(2)],
    ])
  })
  test('names the versions of a disconnected cycle, which opm accepts if an entry skips them', () => {
    const after = createStableCatalogBlobs(
      [
        bundleName(3),
        `${bundleName(1)} < ${bundleName(2)}`,
        { name: bundleName(2), replaces: bundleName(1), skips: [bundleName(2), bundleName(1)] },
      ],
      ...bundleBlobs(1, 2, 3),
    )
    expect(stranded(findUpgradeFindings(baseBlobs, after))).toEqual([[bundleName(1), bundleName(2)]])
  })
})

describe('bundle-edited', () => {
  test('is an error if the image of the bundle changes', () => {
    const after = [
      ...baseBlobs.slice(0, 2),
      { ...baseBlobs[2]!, image: 'quay.io/x/y:1' },
      ...baseBlobs.slice(3),
    ]
    const found = findUpgradeFindings(baseBlobs, after)
    expect(found).toMatchObject([
      {
        rule: 'bundle-edited',
        severity: 'error',
        at: { file: catalogPath, line: 3 },
        data: { bundle: bundleName(1), fields: ['image'] },
      },
    ])
  })
  test('separates edits of displayed metadata from edits of properties that affect resolution', () => {
    const csv = { type: 'olm.csv.metadata', value: { displayName: 'x' } }
    const its = baseBlobs[2]!.properties as CatalogBlob[]
    const edited = (properties: CatalogBlob[]) => [
      ...baseBlobs.slice(0, 2),
      { ...baseBlobs[2]!, properties },
      ...baseBlobs.slice(3),
    ]
    expect(listRuleIds(findUpgradeFindings(baseBlobs, edited([...its, csv])))).toEqual([
      'bundle-metadata-edited',
    ])
    expect(
      listRuleIds(findUpgradeFindings(baseBlobs, edited([...its, csv, { type: 'olm.gvk', value: {} }]))),
    ).toEqual(['bundle-edited'])
  })
})

test('bundle-removed names all removed bundles in one finding', () => {
  const after = createStableCatalogBlobs([`${bundleName(3)} < ${bundleName(2)}`], ...bundleBlobs(3))
  const found = findUpgradeFindings(baseBlobs, after)
  expect(listRuleIds(found)).toEqual(['bundle-removed', 'installed-version-stranded'])
  expect(found[0]).toMatchObject({
    rule: 'bundle-removed',
    data: { bundles: [bundleName(1), bundleName(2)] },
    at: { file: catalogPath, line: 1 },
  })
})

test('package-removed is the only finding for a removed package, and has its deprecation', () => {
  expect(findUpgradeFindings(baseBlobs, undefined)).toMatchObject([
    { rule: 'package-removed', data: { bundles: 3, deprecated: false, package: 'foo' } },
  ])
  expect(
    findUpgradeFindings([...baseBlobs, deprecationsBlob('foo', [['olm.package', '', 'x']])], undefined)[0]
      ?.data?.deprecated,
  ).toBe(true)
})

test('a channel may be removed if an earlier change deprecated it, but not if the same change does', () => {
  const two = [...baseBlobs, channelBlob('old', 'foo', [bundleName(1)])]
  const announced = [...two, deprecationsBlob('foo', [['olm.channel', 'old', 'use stable']])]
  expect(listRuleIds(findUpgradeFindings(two, baseBlobs))).toEqual(['channel-removed'])
  expect(
    listRuleIds(
      findUpgradeFindings(two, [...baseBlobs, deprecationsBlob('foo', [['olm.package', '', 'x']])]),
    ),
  ).toEqual(['channel-removed', 'newly-deprecated'])
  expect(listRuleIds(findUpgradeFindings(announced, baseBlobs))).toEqual(['deprecated-channel-removed'])
})

test('changes of the default channel and new deprecations are reported', () => {
  const after = [
    packageBlob('foo', 'fast'),
    ...baseBlobs.slice(1),
    channelBlob('fast', 'foo', [bundleName(3)]),
    deprecationsBlob('foo', [['olm.bundle', bundleName(1), 'too old']]),
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
    const after = [packageBlob('foo', 'new'), ...baseBlobs.slice(1), channelBlob('new', 'foo', entries)]
    const [found, ...others] = findUpgradeFindings(baseBlobs, after)
    expect([found?.rule, others]).toEqual(['default-channel-changed', []])
    return found
  }
  expect(changed(bundleName(3))?.data?.leftBehind).toEqual([bundleName(1), bundleName(2)])
  expect(changed(bundleName(3))?.what).toContain('"new", which has no upgrade path from foo.v1, foo.v2')
  expect(
    changed(bundleName(1), `${bundleName(2)} < ${bundleName(1)}`, `${bundleName(3)} < ${bundleName(2)}`)
      ?.what,
  ).toMatch(/"new"$/)
  expect(changed({ name: bundleName(3), skipRange: '<3.0.0' })?.data?.leftBehind).toEqual([])
})

test('no rule throws for a removed catalog or for one with a replaces cycle', () => {
  const change = computeCatalogChange({ [catalogPath]: baseBlobs }, {})
  expect(
    change.catalogs.flatMap((catalog) => upgradeRules.flatMap((rule) => [...runUpgradeRule(rule, catalog)])),
  ).toEqual([])
  expect(() =>
    findUpgradeFindings(
      baseBlobs,
      createStableCatalogBlobs([
        `${bundleName(1)} < ${bundleName(2)}`,
        `${bundleName(2)} < ${bundleName(1)}`,
      ]),
    ),
  ).not.toThrow()
})

describe('every rule', () => {
  const pages = join(import.meta.dirname, '../../../../docs/rules')
  test.each(upgradeRules.map((rule) => [rule.id, rule] as const))(
    '%s has a page with its title, check, severity, and version',
    (id, rule) => {
      const page = join(pages, `${id}.md`)
      expect(existsSync(page)).toBe(true)
      const text = readFileSync(page, 'utf8').replace(/ +/g, ' ')
      expect(text.startsWith(`# ${id}\n`)).toBe(true)
      expect(text).toContain(rule.title)
      expect(text).toContain(`| ${rule.check} | ${rule.severity} | ${rule.since} | no |`)
    },
  )
  test('has a unique id', () => {
    expect(new Set(upgradeRules.map(({ id }) => id)).size).toBe(upgradeRules.length)
  })
})
