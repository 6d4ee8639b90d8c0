import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { upgradeRules } from '../../../../src/checks/validation/upgrade/rules.ts'
import { findIn } from '../../../../src/checks/validation/upgrade/upgrade-rule.ts'
import type { Finding } from '../../../../src/findings/finding.ts'
import {
  bundle,
  changeBetween,
  channel,
  deprecations,
  pkg,
  type Blob,
} from '../../../change/build-catalog.ts'

const file = 'catalog/foo/catalog.yaml'
const v = (n: number) => `foo.v${n}`
const bundles = (...versions: number[]) => versions.map((n) => bundle(v(n), 'foo', `${n}.0.0`))
const base = [
  pkg('foo'),
  channel('stable', 'foo', [v(1), `${v(2)} < ${v(1)}`, `${v(3)} < ${v(2)}`]),
  ...bundles(1, 2, 3),
]

const find = (before: readonly Blob[], after: readonly Blob[] | undefined): Finding[] => {
  const keep = { 'catalog/other/c.yaml': [pkg('other')] }
  const change = changeBetween({ ...keep, [file]: before }, after ? { ...keep, [file]: after } : keep)
  return change.catalogs.flatMap((catalog) => upgradeRules.flatMap((rule) => [...findIn(rule, catalog)]))
}
const ids = (findings: readonly Finding[]) => findings.map(({ rule }) => rule).sort()
const stable = (entries: readonly (string | Blob)[], ...more: Blob[]) => [
  pkg('foo'),
  channel('stable', 'foo', entries),
  ...more,
]

describe('nothing is said of', () => {
  test('a new head that replaces the old one', () => {
    const after = stable(
      [v(1), `${v(2)} < ${v(1)}`, `${v(3)} < ${v(2)}`, `${v(4)} < ${v(3)}`],
      ...bundles(1, 2, 3, 4),
    )
    expect(find(base, after)).toEqual([])
  })
  test('a new package, and a new channel', () => {
    const after = [...base, channel('fast', 'foo', [v(3)]), pkg('new'), channel('a', 'new', ['x'])]
    expect(find(base, after)).toEqual([])
  })
  test('entries that leave while the new head skips them', () => {
    const after = stable([{ name: v(4), replaces: v(3), skips: [v(1), v(2)] }, v(3)], ...bundles(1, 2, 3, 4))
    expect(find(base, after)).toEqual([])
  })
  test('entries that leave while a skipRange covers them', () => {
    const after = stable([{ name: v(4), skipRange: '>=1.0.0 <4.0.0' }], ...bundles(1, 2, 3, 4))
    expect(find(base, after)).toEqual([])
  })
})

describe('installed-version-stranded', () => {
  const stranded = (findings: Finding[]) =>
    findings.filter(({ rule }) => rule === 'installed-version-stranded').map(({ data }) => data?.bundles)
  test('names those that are taken out and not skipped', () => {
    const after = stable([{ name: v(3), skips: [v(2)] }, v(2)], ...bundles(1, 2, 3))
    const found = find(base, after)
    expect(stranded(found)).toEqual([[v(1)]])
    expect(found[0]).toMatchObject({
      severity: 'error',
      at: { file, line: 2 },
      subject: 'catalog/foo/stable',
    })
  })
  test('names all that stood behind a new head that forgets them', () => {
    const after = stable([v(1), `${v(2)} < ${v(1)}`, `${v(3)} < ${v(2)}`, v(4)], ...bundles(1, 2, 3, 4))
    expect(stranded(find(base, after))).toEqual([])
    const alone = stable([v(4)], ...bundles(1, 2, 3, 4))
    expect(stranded(find(base, alone))).toEqual([[v(1), v(2), v(3)]])
  })
  test('names a head that is withdrawn, and says that it moves backwards', () => {
    const after = stable([v(1), `${v(2)} < ${v(1)}`], ...bundles(1, 2, 3))
    const found = find(base, after)
    expect(stranded(found)).toEqual([[v(3)]])
    expect(ids(found)).toContain('head-moves-backwards')
  })
  test('asks nobody to replace a newer version by an older one', () => {
    const fixOf = (after: readonly Blob[]) =>
      find(base, after).find(({ rule }) => rule === 'installed-version-stranded')?.fix
    expect(fixOf(stable([v(1), `${v(2)} < ${v(1)}`], ...bundles(1, 2, 3)))).toBe(
      'Keep foo.v3, which nothing older should replace, and lead on from there to a newer version, or deprecate it.',
    )
    expect(fixOf(stable([v(2)], ...bundles(1, 2, 3)))).toMatch(/^Let foo.v2, .* Keep foo.v3, /)
    expect(fixOf(stable([v(3)], ...bundles(1, 2, 3)))).toMatch(/^Let foo.v3, [^K]*$/)
  })
  test('is silent on a head that is taken back by the one before it', () => {
    const after = stable([v(1), { name: v(2), replaces: v(1), skips: [v(3)] }], ...bundles(1, 2, 3))
    expect(ids(find(base, after))).toEqual(['head-moves-backwards'])
  })
  test('is silent on those that were stranded before', () => {
    const before = stable([v(1), v(2), { name: v(3), skips: [v(2)] }], ...bundles(1, 2, 3))
    const after = stable(
      [v(1), v(2), { name: v(3), skips: [v(2)] }, `${v(4)} < ${v(3)}`],
      ...bundles(1, 2, 3, 4),
    )
    expect(stranded(find(before, after))).toEqual([])
  })
  test('takes a skipRange at its word', () => {
    const ranged = (skipRange: string) => stable([{ name: v(3), skipRange }], ...bundles(1, 2, 3))
    expect(stranded(find(base, ranged('>=1.0.0 <3.0.0')))).toEqual([])
    expect(stranded(find(base, ranged('>=2.0.0 <3.0.0')))).toEqual([[v(1)]])
    expect(stranded(find(base, ranged('not a range')))).toEqual([[v(1), v(2)]])
  })
  test('names a circle that is cut off, though opm takes it when something skips it', () => {
    const after = stable(
      [v(3), `${v(1)} < ${v(2)}`, { name: v(2), replaces: v(1), skips: [v(2), v(1)] }],
      ...bundles(1, 2, 3),
    )
    expect(stranded(find(base, after))).toEqual([[v(1), v(2)]])
  })
})

describe('bundle-edited', () => {
  test('is an error wherever the bundle resolves or installs in another way', () => {
    const after = [...base.slice(0, 2), { ...base[2]!, image: 'quay.io/x/y:1' }, ...base.slice(3)]
    const found = find(base, after)
    expect(found).toMatchObject([
      {
        rule: 'bundle-edited',
        severity: 'error',
        at: { file, line: 3 },
        data: { bundle: v(1), fields: ['image'] },
      },
    ])
  })
  test('tells displayed metadata from the properties that resolve', () => {
    const csv = { type: 'olm.csv.metadata', value: { displayName: 'x' } }
    const its = base[2]!.properties as Blob[]
    const edited = (properties: Blob[]) => [
      ...base.slice(0, 2),
      { ...base[2]!, properties },
      ...base.slice(3),
    ]
    expect(ids(find(base, edited([...its, csv])))).toEqual(['bundle-metadata-edited'])
    expect(ids(find(base, edited([...its, csv, { type: 'olm.gvk', value: {} }])))).toEqual(['bundle-edited'])
  })
})

test('bundle-removed names them once', () => {
  const after = stable([`${v(3)} < ${v(2)}`], ...bundles(3))
  const found = find(base, after)
  expect(ids(found)).toEqual(['bundle-removed', 'installed-version-stranded'])
  expect(found[0]).toMatchObject({
    rule: 'bundle-removed',
    data: { bundles: [v(1), v(2)] },
    at: { file, line: 1 },
  })
})

test('package-removed says all there is to say of a removed package', () => {
  expect(find(base, undefined)).toMatchObject([
    { rule: 'package-removed', data: { bundles: 3, deprecated: false, package: 'foo' } },
  ])
  expect(
    find([...base, deprecations('foo', [['olm.package', '', 'x']])], undefined)[0]?.data?.deprecated,
  ).toBe(true)
})

test('channels may go when they were deprecated before, and not by the same change', () => {
  const two = [...base, channel('old', 'foo', [v(1)])]
  const announced = [...two, deprecations('foo', [['olm.channel', 'old', 'use stable']])]
  expect(ids(find(two, base))).toEqual(['channel-removed'])
  expect(ids(find(two, [...base, deprecations('foo', [['olm.package', '', 'x']])]))).toEqual([
    'channel-removed',
    'newly-deprecated',
  ])
  expect(ids(find(announced, base))).toEqual(['deprecated-channel-removed'])
})

test('default channels and deprecations are pointed out', () => {
  const after = [
    pkg('foo', 'fast'),
    ...base.slice(1),
    channel('fast', 'foo', [v(3)]),
    deprecations('foo', [['olm.bundle', v(1), 'too old']]),
  ]
  expect(find(base, after).map(({ rule, severity, at }) => [rule, severity, at?.line])).toEqual([
    ['default-channel-changed', 'warning', 1],
    ['newly-deprecated', 'info', 7],
  ])
})

test('a new default channel names the versions that it leaves behind', () => {
  const changed = (...entries: (string | Blob)[]) => {
    const after = [pkg('foo', 'new'), ...base.slice(1), channel('new', 'foo', entries)]
    const [found, ...others] = find(base, after)
    expect([found?.rule, others]).toEqual(['default-channel-changed', []])
    return found
  }
  expect(changed(v(3))?.data?.leftBehind).toEqual([v(1), v(2)])
  expect(changed(v(3))?.what).toContain('"new", which has no way on from foo.v1, foo.v2')
  expect(changed(v(1), `${v(2)} < ${v(1)}`, `${v(3)} < ${v(2)}`)?.what).toMatch(/"new"$/)
  expect(changed({ name: v(3), skipRange: '<3.0.0' })?.data?.leftBehind).toEqual([])
})

test('a removed catalog, and one that nobody could load, make no rule fail', () => {
  const change = changeBetween({ [file]: base }, {})
  expect(
    change.catalogs.flatMap((catalog) => upgradeRules.flatMap((rule) => [...findIn(rule, catalog)])),
  ).toEqual([])
  expect(() => find(base, stable([`${v(1)} < ${v(2)}`, `${v(2)} < ${v(1)}`]))).not.toThrow()
})

describe('every rule', () => {
  const pages = join(import.meta.dirname, '../../../../docs/rules')
  test.each(upgradeRules.map((rule) => [rule.id, rule] as const))(
    '%s has a page that says what it is',
    (id, rule) => {
      const page = join(pages, `${id}.md`)
      expect(existsSync(page)).toBe(true)
      const text = readFileSync(page, 'utf8').replace(/ +/g, ' ')
      expect(text.startsWith(`# ${id}\n`)).toBe(true)
      expect(text).toContain(rule.title)
      expect(text).toContain(`| ${rule.check} | ${rule.severity} | ${rule.since} | no |`)
    },
  )
  test('has an id of its own', () => {
    expect(new Set(upgradeRules.map(({ id }) => id)).size).toBe(upgradeRules.length)
  })
})
