import { describe, expect, test } from '@jest/globals'
import {
  updateImageScanFailureState,
  parseImageTagAndDigest,
  toImageScanFailureKey,
  toImageScanResult,
  detectMovedTag,
  type ImageScanFailureState,
  type ImageScanResult,
} from '../../../src/checks/images/missing-images.ts'
import type { ImageLookupResult } from '../../../src/checks/lookups.ts'

const msPerHour = 3600_000
const missingScan: ImageScanResult = { kind: 'gone', reason: 'the registry does not have it (404)' }
const imageDigest = `sha256:${'a'.repeat(64)}`
const secondImageDigest = `sha256:${'b'.repeat(64)}`

/** Applies the results of scans at these hours, one after another. */
function applyScan(
  ...sightings: readonly (readonly [at: number, sighting: ImageScanResult])[]
): ImageScanFailureState | undefined {
  return sightings.reduce<ImageScanFailureState | undefined>(
    (known, [at, sighting]) => updateImageScanFailureState(known, sighting, at * msPerHour, msPerHour),
    undefined,
  )
}

describe('a reference', () => {
  test('is only suspected after one failed scan, and missing after a second one an hour later', () => {
    expect(applyScan([0, missingScan])).toMatchObject({ kind: 'gone', since: 0, confirmed: false })
    expect(applyScan([0, missingScan], [0.9, missingScan])).toMatchObject({ since: 0, confirmed: false })
    expect(applyScan([0, missingScan], [0.5, missingScan], [1, missingScan])).toMatchObject({
      since: 0,
      confirmed: true,
    })
  })
  test('is available after one successful scan, and is suspected again after another failed one', () => {
    expect(applyScan([0, missingScan], [1, missingScan], [2, { kind: 'well' }])).toBeUndefined()
    expect(applyScan([0, missingScan], [1, { kind: 'well' }], [2, missingScan])).toMatchObject({
      since: 2 * msPerHour,
      confirmed: false,
    })
  })
  test('keeps its state if a scan is inconclusive', () => {
    expect(applyScan([0, { kind: 'unknown' }])).toBeUndefined()
    expect(applyScan([0, missingScan], [5, { kind: 'unknown' }])).toMatchObject({ confirmed: false })
    expect(applyScan([0, missingScan], [5, { kind: 'unknown' }], [9, missingScan])).toMatchObject({
      since: 0,
      confirmed: true,
    })
    expect(applyScan([0, missingScan], [1, missingScan], [2, { kind: 'unknown' }])).toMatchObject({
      confirmed: true,
    })
  })
  test('with another fault is suspected of the new fault, but stays missing if it was confirmed', () => {
    const wrong: ImageScanResult = { kind: 'digest-mismatch', reason: 'other bytes' }
    expect(applyScan([0, missingScan], [2, wrong])).toMatchObject({
      kind: wrong.kind,
      since: 2 * msPerHour,
      confirmed: false,
    })
    expect(applyScan([0, missingScan], [1, missingScan], [2, wrong])).toMatchObject({
      kind: wrong.kind,
      since: 0,
      confirmed: true,
    })
  })
  test('keeps the reason of the first scan, so that other wording of the registry changes nothing', () => {
    expect(applyScan([0, missingScan], [1, { kind: 'gone', reason: 'other words' }])?.reason).toBe(
      missingScan.reason,
    )
  })
})

test.each<[ImageLookupResult, ImageScanResult['kind']]>([
  [{ kind: 'ok', digest: imageDigest }, 'well'],
  [{ kind: 'missing', reason: '' }, 'gone'],
  [{ kind: 'digest-mismatch', reason: '' }, 'digest-mismatch'],
  [{ kind: 'unsupported', reason: 'schema 1' }, 'unsupported'],
  [{ kind: 'missing-or-private', reason: '' }, 'unknown'],
  [{ kind: 'blocked', reason: '' }, 'unknown'],
  [{ kind: 'malformed', reason: '' }, 'unknown'],
  [{ kind: 'unknown', reason: 'it answered 503', retryAfter: 60 }, 'unknown'],
])('a scan with the answer %j has the result %s', (answer, kind) => {
  expect(toImageScanResult(answer).kind).toBe(kind)
})

describe('a tag next to a digest', () => {
  const pinned = { tag: 'v1', digest: imageDigest }
  const imageFound = (now: string): ImageLookupResult => ({ kind: 'ok', digest: now })

  test('moved if it is known to have had the digest and has another one now', () => {
    expect(detectMovedTag(pinned, imageFound(secondImageDigest), true)).toMatchObject({ kind: 'tag-moved' })
  })
  test('did not move if it never had the digest, because an index and its images have other digests', () => {
    expect(detectMovedTag(pinned, imageFound(secondImageDigest), false)).toEqual({ kind: 'well' })
  })
  test('is ignored if it is missing or unknown, because the digest is what is installed', () => {
    expect(detectMovedTag(pinned, { kind: 'missing', reason: '' }, true)).toEqual({ kind: 'well' })
    expect(detectMovedTag(pinned, { kind: 'unknown', reason: '', retryAfter: 1 }, true)).toEqual({
      kind: 'well',
    })
  })
  test('is found only if the reference has both', () => {
    expect(parseImageTagAndDigest(`quay.io/a/b:v1@${imageDigest}`)).toEqual({
      reference: 'quay.io/a/b:v1',
      tag: 'v1',
      digest: imageDigest,
    })
    for (const text of ['quay.io/a/b:v1', `quay.io/a/b@${imageDigest}`, 'no reference'])
      expect(parseImageTagAndDigest(text)).toBeUndefined()
  })
  test('that moves again is another fault, but a missing image with another reason is the same fault', () => {
    const moved = (now: string) => toImageScanFailureKey('x', { kind: 'tag-moved', reason: now })
    expect(moved('b')).not.toBe(moved('c'))
    expect(toImageScanFailureKey('x', { kind: 'gone', reason: 'b' })).toBe(
      toImageScanFailureKey('x', { kind: 'gone', reason: 'c' }),
    )
  })
})
