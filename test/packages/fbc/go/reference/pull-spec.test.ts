import { describe, expect, test } from '@jest/globals'
import {
  findPullSpecError,
  parsePullSpec,
} from '../../../../../packages/fbc/src/go/reference/image-reference.ts'

const sampleSha256Hex = '0123456789abcdef'.repeat(4)

describe('a pull spec', () => {
  test.each([
    'foo',
    'foo:v1',
    'localhost/x',
    'x:5000/y',
    'Quay.IO/foo/bar',
    `quay.io/foo/bar@sha256:${sampleSha256Hex}`,
    `quay.io/foo/bar:v1@sha256:${sampleSha256Hex}`,
    `sha256:${sampleSha256Hex}`,
    'a--b/c__d.e_f',
    `quay.io/foo@sha512:${sampleSha256Hex}${sampleSha256Hex}`,
  ])('can be %s', (text) => {
    expect(findPullSpecError(text)).toBeUndefined()
  })

  test.each([
    [
      sampleSha256Hex,
      `invalid repository name (${sampleSha256Hex}), cannot specify 64-byte hexadecimal strings`,
    ],
    ['docker://quay.io/a/b', 'invalid reference format'],
    ['https://quay.io/a/b', 'invalid reference format'],
    ['quay.io/a//b', 'invalid reference format'],
    ['quay.io/a___b', 'invalid reference format'],
    ['quay.io/a:', 'invalid reference format'],
    ['quay.io/a/', 'invalid reference format'],
    [' quay.io/a', 'invalid reference format'],
    ['$IMAGE', 'invalid reference format: repository name must be lowercase'],
    // The Kelvin sign and the dotted I would make a valid host in lower case.
    ['\u212a.io/x', 'repository name must be lowercase'],
    ['\u0130.io/x', 'repository name must be lowercase'],
    ['quay.io/\u1c89', 'invalid reference format'],
    ['quay.io/Foo/bar', 'invalid reference format: repository name must be lowercase'],
    [`quay.io/a@md5:${sampleSha256Hex}`, 'unsupported digest algorithm'],
    [`quay.io/a@sha256:${sampleSha256Hex.slice(1)}`, 'invalid checksum digest length'],
    [`quay.io/a@sha256:${sampleSha256Hex.toUpperCase()}`, 'invalid checksum digest format'],
    ['quay.io/a@sha256:abc', 'invalid reference format'],
    [`quay.io/${'a'.repeat(250)}`, 'repository name must not be more than 255 characters'],
  ])('cannot be %s', (text, error) => {
    expect(findPullSpecError(text)).toBe(error)
  })

  test('of a megabyte is rejected', () => {
    for (const part of ['a', 'a/', '-', 'a-', 'a.', 'A.']) {
      expect(findPullSpecError(part.repeat(1_000_000 / part.length))).toBeDefined()
    }
  })

  test('has the same result if its name was checked before with another digest', () => {
    const names = [
      'a',
      'Q.io/A/b',
      'q.io/a:v1',
      'q.io/a:',
      ' q.io/a',
      '',
      'q.io/a@b',
      `q.io/${'a'.repeat(300)}`,
    ]
    const digests = [
      `@sha256:${sampleSha256Hex}`,
      `@sha256:${'f'.repeat(64)}`,
      `@sha256:${'F'.repeat(64)}`,
      `@sha256:${sampleSha256Hex}0`,
    ]
    for (const name of names)
      for (const digest of digests)
        expect([name, findPullSpecError(name + digest)]).toEqual([name, parsePullSpec(name + digest).error])
  })
})
