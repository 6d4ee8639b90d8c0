// Our parser accepts exactly the image references that opm accepts, except for ports.
import { describe, expect, test } from '@jest/globals'
import fc from '../../../../seeded.ts'
import {
  formatImageReference,
  parseImageReference,
  findPullSpecError,
} from '../../../../../packages/fbc/src/go/reference/image-reference.ts'

const createHexDigits = (digits: number) => 'a1'.repeat(digits / 2)
const createImageNameOfLength = (length: number) => `quay.io/${'a'.repeat(length - 'quay.io/'.length)}`

const imageHostCases = [
  '',
  'quay.io/',
  'Quay.IO/',
  'localhost/',
  'localhost:5000/',
  'x:5000/',
  'docker.io/',
  'Docker.io/',
  'index.docker.io/',
  'INDEX.docker.io/',
  '127.0.0.1/',
  '-a.b/',
  'a..b/',
  'a.b-/',
  '[::1]/',
  'a_b.c/',
  'a.b:/',
  'a.b:x/',
  'a.b:0/',
  'a.b:65535/',
  'user@quay.io/',
  'ünicode.example/',
  'quay/',
]
const imagePathCases = [
  'a',
  'a/b',
  'a/b/c',
  'a--b',
  'a__b',
  'a___b',
  'a.b',
  'a..b',
  'a_.b',
  '-a',
  'a-',
  '.a',
  'A',
  'a/B',
  'a//b',
  'a/',
  '',
  ' a',
  'a b',
  'ä',
  'library/a',
  createHexDigits(64),
  `${createHexDigits(64)}/a`,
  'a%2f',
  'a?b',
  'a#b',
  '$IMAGE',
  '../a',
]
const imageTagCases = [
  '',
  ':1',
  ':v1.0_x-y',
  ':',
  ':-1',
  ':.x',
  ':latest',
  ':ä',
  ':a:b',
  `:${'t'.repeat(128)}`,
  `:${'t'.repeat(129)}`,
  ':a/b',
]
const imageDigestCases = [
  '',
  '@',
  `@sha256:${createHexDigits(64)}`,
  `@sha256:${createHexDigits(62)}`,
  `@sha256:${createHexDigits(66)}`,
  `@sha256:${createHexDigits(64).toUpperCase()}`,
  `@sha384:${createHexDigits(96)}`,
  `@sha512:${createHexDigits(128)}`,
  `@md5:${createHexDigits(32)}`,
  `@SHA256:${createHexDigits(64)}`,
  `@constructor:${createHexDigits(64)}`,
  `@sha256:${createHexDigits(64)}@sha256:${createHexDigits(64)}`,
  `@sha256+b64:${createHexDigits(64)}`,
  `@sha256:abc`,
  `@sha256:${createHexDigits(64)}/a`,
]

/** How the two parsers disagree about a text, as a sentence; undefined if they agree. */
function findParserDisagreement(text: string): string | undefined {
  const { reference, reason } = parseImageReference(text)
  const error = findPullSpecError(text)
  const shown = JSON.stringify(text)
  if (!reference) {
    if (!/\w/.test(reason)) return `${shown} is refused without a reason`
    // The one difference: opm accepts invalid port numbers.
    return error === undefined && !/^"\d+" is not a port$/.test(reason) ? `opm takes ${shown}` : undefined
  }
  if (error !== undefined) return `opm refuses ${shown}: ${error}`
  // The formatted parts are the same reference for both parsers.
  const full = formatImageReference(reference)
  const again = parseImageReference(full).reference
  return findPullSpecError(full) === undefined && again && formatImageReference(again) === full
    ? undefined
    : `${shown} becomes ${full}, which is something else`
}

describe('one grammar', () => {
  test('for every name with a few suffixes, and every suffix with a few names', () => {
    const names = imageHostCases.flatMap((host) => imagePathCases.map((path) => host + path))
    const ends = imageTagCases.flatMap((tag) => imageDigestCases.map((digest) => tag + digest))
    const texts = [
      ...names.flatMap((one) => ['', ':v1', `:v1@sha256:${createHexDigits(64)}`].map((end) => one + end)),
      ...['a', 'quay.io/a/b', 'x:5000/a', createHexDigits(64)].flatMap((one) => ends.map((end) => one + end)),
    ]
    expect(texts.map(findParserDisagreement).filter((difference) => difference !== undefined)).toEqual([])
  })
  test('at the length limits', () => {
    const tail = `:${'t'.repeat(128)}@sha512:${createHexDigits(128)}`
    for (const length of [254, 255, 256, 300])
      for (const end of ['', tail])
        expect(findParserDisagreement(createImageNameOfLength(length) + end)).toBeUndefined()
    // The longest possible reference: the long name of Docker Hub counts as the short one.
    const maxLengthReference = `index.docker.io/a/${'b'.repeat(255 - 'docker.io/a/'.length)}`
    expect(findPullSpecError(maxLengthReference + tail)).toBeUndefined()
    expect(parseImageReference(maxLengthReference + tail).reference?.repository).toHaveLength(245)
    expect(findParserDisagreement(`${maxLengthReference}b${tail}`)).toBeUndefined()
    for (const text of ['a'.repeat(5000), 'a/'.repeat(5000), '-'.repeat(5000)])
      expect(findParserDisagreement(text)).toBeUndefined()
  })
  test('except for invalid ports, which only opm accepts', () => {
    for (const port of ['65536', '99999', '123456', '00000080']) {
      expect(findPullSpecError(`quay.io:${port}/a`)).toBeUndefined()
      expect(parseImageReference(`quay.io:${port}/a`).reason).toBe(`"${port}" is not a port`)
    }
  })
  test('for random strings', () => {
    const piece = fc.constantFrom(
      ...'aA0._-:/@$ ',
      'sha256:',
      createHexDigits(64),
      'quay.io',
      'docker.io',
      'ß',
      '\n',
      '::',
      '//',
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.string({ maxLength: 40 }),
      fc
        .tuple(
          ...[imageHostCases, imagePathCases, imageTagCases, imageDigestCases].map((part) =>
            fc.constantFrom(...part),
          ),
        )
        .chain((parts) =>
          fc.tuple(fc.constant(parts.join('')), fc.nat(), fc.constantFrom(...'a.:/@-_A'), fc.nat(2)),
        )
        // One character is inserted, removed, or replaced.
        .map(([whole, at, character, cut]) => {
          const insertAt = at % (whole.length + 1)
          return (
            whole.slice(0, insertAt) +
            (cut === 1 ? '' : character) +
            whole.slice(insertAt + (cut === 0 ? 0 : 1))
          )
        }),
    )
    fc.assert(
      fc.property(text, (one) => findParserDisagreement(one) === undefined),
      { numRuns: 5_000 },
    )
  })
})
