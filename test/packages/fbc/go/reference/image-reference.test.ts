import { describe, expect, test } from '@jest/globals'
import {
  formatImageReference,
  parseImageReference,
} from '../../../../../packages/fbc/src/go/reference/image-reference.ts'

const sampleSha256Hex = 'a'.repeat(64)

describe('an image reference', () => {
  test.each([
    ['foo', 'docker.io', 'library/foo', undefined, undefined],
    ['org/foo', 'docker.io', 'org/foo', undefined, undefined],
    ['index.docker.io/foo:1', 'docker.io', 'library/foo', '1', undefined],
    ['localhost/x', 'localhost', 'x', undefined, undefined],
    ['x:5000/y', 'x:5000', 'y', undefined, undefined],
    ['Quay.IO/a/b:v1.2', 'quay.io', 'a/b', 'v1.2', undefined],
    [`quay.io/a/b@sha256:${sampleSha256Hex}`, 'quay.io', 'a/b', undefined, `sha256:${sampleSha256Hex}`],
    [`quay.io/a/b:t@sha256:${sampleSha256Hex}`, 'quay.io', 'a/b', 't', `sha256:${sampleSha256Hex}`],
    [`sha256:${sampleSha256Hex}`, 'docker.io', 'library/sha256', sampleSha256Hex, undefined],
    ['quay.io/a__b/c---d/e.f', 'quay.io', 'a__b/c---d/e.f', undefined, undefined],
    ['127.0.0.1/x', '127.0.0.1', 'x', undefined, undefined],
  ])('%s is parsed', (text, host, repository, tag, digest) => {
    const { reference } = parseImageReference(text)
    expect(reference).toEqual({ host, repository, ...(tag && { tag }), ...(digest && { digest }) })
    if (reference) expect(parseImageReference(formatImageReference(reference)).reference).toEqual(reference)
  })

  test.each([
    [''],
    ['docker://quay.io/a/b'],
    ['https://quay.io/a/b'],
    [' quay.io/a'],
    ['quay.io/a\n'],
    ['$IMAGE'],
    ['quay.io/x//y'],
    ['quay.io/x___y'],
    ['quay.io/x:'],
    ['quay.io/x/'],
    ['quay.io/X'],
    ['quay.io/x@sha256:abc'],
    [`quay.io/x@sha256:${sampleSha256Hex}@sha256:${sampleSha256Hex}`],
    [`quay.io/x@sha256:${sampleSha256Hex.toUpperCase()}`],
    [`quay.io/x@md5:${'a'.repeat(32)}`],
    [`quay.io/x@constructor:${sampleSha256Hex}`],
    ['[::1]/x'],
    ['user@quay.io/x'],
    ['quay.io:99999/x'],
    ['a.b:c/x'],
    [sampleSha256Hex],
    [`quay.io/${'a/'.repeat(130)}b`],
    ['x'.repeat(5000)],
    ['ｑuay.io/x'],
    ['quay.io\\evil/x'],
    ['quay.io/x#y'],
    ['quay.io/x?y'],
    ['quay.io/../x'],
    ['quay.io/%2e%2e/x'],
  ])('%j is rejected with a reason', (text) => {
    const { reference, reason } = parseImageReference(text)
    expect(reference).toBeUndefined()
    expect(reason).toMatch(/\w/)
  })
})
