import { describe, expect, test } from '@jest/globals'
import { changeAsMarkdown, changeAsText, describeChangeLines } from '../../src/messages/describe-change.ts'
import { bundle, changeBetween, channel, deprecations, pkg, type Files } from '../change/build-catalog.ts'

const before = [
  pkg('kube-green', 'alpha'),
  channel('alpha', 'kube-green', ['kube-green.v0.7.0']),
  bundle('kube-green.v0.7.0', 'kube-green', '0.7.0'),
]
const after = [
  pkg('kube-green', 'alpha'),
  channel('alpha', 'kube-green', ['kube-green.v0.7.0', 'kube-green.v0.7.1 < kube-green.v0.7.0']),
  bundle('kube-green.v0.7.0', 'kube-green', '0.7.0'),
  bundle('kube-green.v0.7.1', 'kube-green', '0.7.1'),
]
const layout = {
  catalogs: ['4.9', '4.20'].map((version) => ({ root: `catalogs/v${version}`, version })),
}
const lines = (base: Files, result: Files) => describeChangeLines(changeBetween(base, result, layout))
const text = (base: Files, result: Files) => changeAsText(lines(base, result))
const one = (result: Files[string]) =>
  text({ 'catalogs/v4.20/k/c.yaml': before }, { 'catalogs/v4.20/k/c.yaml': result })

describe('a reader learns', () => {
  test('what an update adds, once for all catalogs that get it', () => {
    const base = { 'catalogs/v4.9/k/c.yaml': before, 'catalogs/v4.20/k/c.yaml': before }
    const result = { 'catalogs/v4.9/k/c.yaml': after, 'catalogs/v4.20/k/c.yaml': after }
    expect(text(base, result)).toEqual([
      'kube-green in 4.9, 4.20:',
      '  0.7.1 added to channel alpha, replaces 0.7.0',
      '  channel alpha: head 0.7.0 → 0.7.1',
    ])
  })
  test('that a published bundle is edited, and where', () => {
    expect(one([...before.slice(0, 2), { ...before[2]!, image: 'x', extra: 1 }])).toEqual([
      'kube-green in 4.20:',
      '  published bundle 0.7.0 edited: image',
    ])
  })
  test('of packages that come and go', () => {
    expect(
      text(
        { 'catalogs/v4.20/k/c.yaml': before },
        { 'catalogs/v4.20/n/c.yaml': [pkg('new', 'alpha'), channel('alpha', 'new', ['a'])] },
      ),
    ).toEqual([
      'kube-green removed, with 1 bundle in 4.20',
      'new is new in 4.20:',
      '  0 bundles, channel alpha; default channel alpha',
    ])
  })
  test('of channels, defaults and deprecations', () => {
    expect(
      one([
        pkg('kube-green', 'beta', { description: 'd' }),
        channel('beta', 'kube-green', [
          { name: 'kube-green.v0.7.0', skipRange: '<0.7.0', skips: ['a', 'b'] },
        ]),
        before[2]!,
        deprecations('kube-green', [
          ['olm.package', '', 'm'],
          ['olm.bundle', 'kube-green.v0.7.0', 'm'],
        ]),
        { schema: 'mine', package: 'kube-green' },
      ]),
    ).toEqual([
      'kube-green in 4.20:',
      '  new channel beta',
      '  channel alpha removed',
      '  default channel alpha → beta',
      '  package metadata: description',
      '  the package is deprecated now',
      '  bundle 0.7.0 is deprecated now',
      '  1 other blob changed',
    ])
  })
  test('which files of the repository itself are touched', () => {
    const result = {
      'operators/k/ci.yaml': 'x',
      'operators/k/1/a.yaml': 'x',
      'operators/k/1/b.yaml': 'x',
      Makefile: 'x',
    }
    expect(text({}, result)).toEqual([
      'sources of k: 2 files',
      'owner file operators/k/ci.yaml',
      '1 file outside packages: Makefile',
    ])
  })
  test('that blobs move between files and nothing else changes', () => {
    const blobs = [pkg('kube-green'), channel('stable', 'kube-green', [])]
    expect(
      text(
        { 'catalogs/v4.20/k/catalog.yaml': blobs },
        { 'catalogs/v4.20/k/package.yaml': [blobs[0]!], 'catalogs/v4.20/k/channel.yaml': [blobs[1]!] },
      ),
    ).toEqual([
      'Nothing in the catalogs. 3 files change without a change of meaning: catalogs/v4.20/k/catalog.yaml, catalogs/v4.20/k/channel.yaml, catalogs/v4.20/k/package.yaml',
    ])
  })
  test('that nothing changes', () => {
    expect(text({}, {})).toEqual(['Nothing: the base branch already has all of it.'])
  })
})

test('names are code in Markdown, and cannot leave it', () => {
  const evil = '`@admin` fixes #1\n# x'
  const found = changeAsMarkdown(
    lines({}, { 'catalogs/v4.20/n/c.yaml': [pkg(evil), channel(evil, evil, [])] }),
  )
  expect(found[0]).toBe('- `` `@admin` fixes #1 # x `` is new in `4.20`:')
  expect(found.join('\n').split('\n').length).toBe(2)
})

test('a change of everything stays short', () => {
  const many = Array.from({ length: 200 }, (_, at) => pkg(`p${at}`))
  const found = lines({}, { 'catalogs/v4.20/n/c.yaml': many })
  expect(found.length).toBe(61)
  expect(found.at(-1)?.words).toEqual(['… and 340 more lines.'])
})
