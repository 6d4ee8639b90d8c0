// What a whole catalog's references show when nobody is asked, in the profile `full`.
import { describe, expect, test } from '@jest/globals'
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { ruleSetFor } from '../../../src/catalog/model/rule-set.ts'
import { validateFully } from '../../../src/checks/validation/validate-fully.ts'

const digest = `sha256:${'a'.repeat(64)}`

function findingsOf(images: readonly string[], options: Parameters<typeof validateFully>[1] = {}) {
  const bundles = images.map((image, at) => ({
    schema: 'olm.bundle',
    name: `foo.v${at}.0.0`,
    package: 'foo',
    image: `quay.io/foo/bundle${at}@${digest}`,
    relatedImages: [{ name: 'x', image }],
    properties: [{ type: 'olm.package', value: { packageName: 'foo', version: `${at}.0.0` } }],
  }))
  const entries = bundles.map(({ name }, at) => ({ name, ...(at > 0 && { replaces: `foo.v${at - 1}.0.0` }) }))
  const blobs = [
    { schema: 'olm.package', name: 'foo', defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: 'foo', entries },
    ...bundles,
  ]
  const bytes = new TextEncoder().encode(blobs.map((blob) => JSON.stringify(blob)).join('\n'))
  const { findings } = validateFully(assemble([{ path: 'c.json', facts: readFile(bytes) }]), options)
  return findings.filter(({ rule }) => /image-by-tag|malformed|pull-spec|registry/.test(rule))
}

const said = (images: readonly string[]) => findingsOf(images).map(({ what }) => what)

function found(...given: Parameters<typeof findingsOf>): string[] {
  return findingsOf(...given).map(
    ({ rule, severity, at, related }) => `${at?.line} ${rule} ${severity} ${related?.length ?? 0}`,
  )
}

describe('validate tells without asking anybody', () => {
  test('of an image by tag, once, with the other places that name it', () => {
    const images = ['quay.io/foo/a:1', 'quay.io/foo/a:1', `quay.io/foo/a@${digest}`]
    expect(found(images)).toEqual(['3 image-by-tag warning 1'])
  })

  test('of several images of a package by tag in one finding, that counts them', () => {
    expect(found(['quay.io/foo/a:1', 'quay.io/foo/a:1', 'quay.io/foo/b', 'quay.io/foo/c:2'])).toEqual([
      '3 image-by-tag warning 0',
    ])
    expect(said(['quay.io/foo/a:1', 'quay.io/foo/b', 'quay.io/foo/c:2'])).toContain(
      '3 images of package "foo" are named by tag, the first of them quay.io/foo/a:1',
    )
  })

  test('of a registry that the repository does not allow', () => {
    const images = ['docker.io/foo/a:1', `quay.io/bar/a@${digest}`, 'quay.io/foo/a:1']
    expect(found(images, { registries: ['quay.io/foo'] })).toEqual([
      '3 registry-not-allowed error 0',
      '4 registry-not-allowed error 0',
      '5 image-by-tag warning 0',
    ])
  })

  test('of what is no reference, in one sentence: that of opm, where opm has one', () => {
    const images = ['https://quay.io/foo/a', 'quay.io:99999/foo/a:1']
    expect(found(images)).toEqual(['3 invalid-pull-spec error 0', '4 malformed-reference error 0'])
    const early = ruleSetFor('1.60.0')
    expect(early && found(images, { ruleSet: early })).toEqual([
      '3 malformed-reference error 0',
      '4 malformed-reference error 0',
    ])
  })

  test('as severely as the configuration wants it', () => {
    expect(found(['quay.io/foo/a:1'], { settings: { 'image-by-tag': 'error' } })).toEqual([
      '3 image-by-tag error 0',
    ])
    const ignoring = { settings: { 'image-by-tag': { ignore: ['catalogs/v1/**'] } }, root: 'catalogs/v1' }
    expect(found(['quay.io/foo/a:1'], ignoring)).toEqual([])
    expect(found(['quay.io/foo/a:1'], { settings: { 'image-by-tag': 'off' } })).toEqual([])
  })
})
