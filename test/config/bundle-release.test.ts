// The configuration of releases: where the images of bundle directories will be, and when releases are opened.
import { describe, expect, test } from '@jest/globals'
import { expandBundleImageTemplate } from '../../src/config/catalog-sources.ts'
import { parseConfig } from '../../src/config/config.ts'

const findConfigProblems = (text: string) => {
  const parsed = parseConfig(text)
  return parsed.kind === 'config' ? [] : parsed.findings.map(({ what }) => what)
}
const parseReleaseConfig = (text: string) => {
  const parsed = parseConfig(text)
  return parsed.kind === 'config' ? parsed.config.bundles.release : undefined
}

describe('releases', () => {
  test('are off by default', () => {
    const off = { enabled: false, wait: '24h' }
    expect(parseReleaseConfig('')).toEqual(off)
    expect(parseReleaseConfig('bundles: {image: "quay.io/a/{package}:{version}"}\n')).toEqual(off)
  })

  test('require the location of images', () => {
    expect(findConfigProblems('bundles: {release: {enabled: true}}\n')).toEqual([
      expect.stringContaining('image'),
    ])
  })

  test.each([
    ['without a version', 'quay.io/a/{package}:latest'],
    ['without a tag', 'quay.io/a/{package}-{version}'],
    ['without a registry', '{package}:{version}'],
    ['by digest', `quay.io/a/b@sha256:${'a'.repeat(64)}`],
    ['with another placeholder', 'quay.io/a/{name}:{version}'],
  ])('with an image pattern %s are rejected', (_, image) => {
    expect(findConfigProblems(`bundles: {image: '${image}', release: {enabled: true}}\n`)).not.toEqual([])
  })
})

test('an image name contains its directory names, if they are valid in an image reference', () => {
  const pattern = 'registry.example:5000/org/{package}-bundle:{package}-v{version}'
  expect(expandBundleImageTemplate(pattern, 'foo', '1.2.3')).toBe(
    'registry.example:5000/org/foo-bundle:foo-v1.2.3',
  )
  for (const directory of ['Foo', 'foo/bar', '..', '{version}', 'foo@x', ''])
    expect(expandBundleImageTemplate(pattern, directory, '1.2.3')).toBeUndefined()
  for (const version of ['1.2.3+4', '-1', 'a/b', 'a:b', '{package}', '', 'x'.repeat(200)])
    expect(expandBundleImageTemplate(pattern, 'foo', version)).toBeUndefined()
})
