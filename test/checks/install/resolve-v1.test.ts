// The resolution of OLM v1, and what it rejects.
import { describe, expect, test } from '@jest/globals'
import {
  resolveBundleLikeOlmV1,
  type OlmV1ResolutionRequest,
} from '../../../src/checks/install/resolutions.ts'
import { assembleCatalogFromBlobs } from './resolve-problem.ts'
import { parseCatalogBlobsFromLines } from './parse-catalog-lines.ts'

const upgradeChainCatalogLines = [
  'foo/stable 1.1.0 replaces 1.0.0',
  'foo/stable 1.0.0',
  'foo/fast 2.0.0 replaces 1.1.0',
  'foo/fast 1.1.0',
]

describe('OLM v1', () => {
  test.each<
    [claim: string, lines: readonly string[], channels: readonly string[] | undefined, bundle: string]
  >([
    ['highest version of all channels', upgradeChainCatalogLines, undefined, 'foo.v2.0.0'],
    ['highest version of the named channels', upgradeChainCatalogLines, ['stable'], 'foo.v1.1.0'],
    [
      'highest version, not the head',
      ['foo/stable 1.0.0 replaces 2.0.0', 'foo/stable 2.0.0'],
      undefined,
      'foo.v2.0.0',
    ],
    [
      'higher release of the same version',
      ['foo/stable 1.0.0+2 replaces 1.0.0+10', 'foo/stable 1.0.0+10'],
      undefined,
      'foo.v1.0.0+10',
    ],
  ])('takes the %s', (_, lines, channels, bundle) => {
    expect(resolveBundleNameLikeOlmV1(lines, channels ? { channels } : {})).toBe(bundle)
  })

  test('takes only successors of the installed version, or the installed version', () => {
    const from = (version: string) => ({ installed: { name: `foo.v${version}`, version } })
    expect(resolveBundleNameLikeOlmV1(upgradeChainCatalogLines, from('1.0.0'))).toBe('foo.v1.1.0')
    expect(resolveBundleNameLikeOlmV1(upgradeChainCatalogLines, from('2.0.0'))).toBe('foo.v2.0.0')
    expect(resolveBundleNameLikeOlmV1(['foo/stable 1.5.0 range "<1.5.0"'], from('0.1.0'))).toBe('foo.v1.5.0')
    expect(resolveBundleNameLikeOlmV1(upgradeChainCatalogLines, from('0.1.0'))).toBe(
      'error upgrading from currently installed version "0.1.0": no bundles found for package "foo"',
    )
  })

  test('takes a deprecated bundle only if there is no other', () => {
    const deprecations = [
      {
        schema: 'olm.deprecations',
        package: 'foo',
        entries: [{ reference: { schema: 'olm.bundle', name: 'foo.v2.0.0' }, message: 'old' }],
      },
    ]
    expect(resolveBundleNameLikeOlmV1(upgradeChainCatalogLines, {}, deprecations)).toBe('foo.v1.1.0')
    expect(
      resolveBundleLikeOlmV1(
        assembleCatalogFromBlobs([...parseCatalogBlobsFromLines(['foo/stable 2.0.0']), ...deprecations]),
        { package: 'foo' },
      ),
    ).toMatchObject({ isDeprecated: true })
  })

  test.each([
    ['foo 1.0.0 needs bar "1.x"', 'olm.package.required'],
    ['foo 1.0.0 needs Red', 'olm.gvk.required'],
    ['foo 1.0.0 constraint {"gvk":{}}', 'olm.constraint'],
  ])('rejects %s', (line, type) => {
    expect(resolveBundleNameLikeOlmV1(['foo/stable 1.0.0', line], {})).toBe(
      `validating bundle "foo.v1.0.0": bundle "foo.v1.0.0" has a dependency declared via property "${type}" which is currently not supported`,
    )
  })

  test('reports the package and the channels that it searched', () => {
    expect(resolveBundleNameLikeOlmV1(upgradeChainCatalogLines, { channels: ['a', 'b'] })).toBe(
      'no bundles found for package "foo" in channels [a b]',
    )
  })
})

function resolveBundleNameLikeOlmV1(
  lines: readonly string[],
  request: Partial<OlmV1ResolutionRequest>,
  more: Parameters<typeof assembleCatalogFromBlobs>[0] = [],
) {
  const resolution = resolveBundleLikeOlmV1(
    assembleCatalogFromBlobs([...parseCatalogBlobsFromLines(lines), ...more]),
    { package: 'foo', ...request },
  )
  return resolution.kind === 'resolved' ? resolution.bundle.name : resolution.message
}
