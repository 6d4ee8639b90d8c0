import { describe, expect, test } from '@jest/globals'
import {
  updateMissingImageState,
  parseTagAndDigest,
  toMissingImageKey,
  toImageScanResult,
  toTagScanResult,
  type MissingImageState,
  type ImageScanResult,
} from '../../../src/checks/images/missing-images.ts'
import { decideIssueAction } from '../../../src/checks/images/missing-images-issue.ts'
import type { ImageAnswer } from '../../../src/checks/questions.ts'

const hourMs = 3600_000
const imageGone: ImageScanResult = { kind: 'gone', reason: 'the registry does not have it (404)' }
const imageDigest = `sha256:${'a'.repeat(64)}`
const otherDigest = `sha256:${'b'.repeat(64)}`

/** Looks at these hours, one after the other. */
function applySightings(
  ...sightings: readonly (readonly [at: number, sighting: ImageScanResult])[]
): MissingImageState | undefined {
  return sightings.reduce<MissingImageState | undefined>(
    (known, [at, sighting]) => updateMissingImageState(known, sighting, at * hourMs, hourMs),
    undefined,
  )
}

describe('a reference', () => {
  test('is only suspected after one bad look, and missing after a second one an hour later', () => {
    expect(applySightings([0, imageGone])).toMatchObject({ kind: 'gone', since: 0, confirmed: false })
    expect(applySightings([0, imageGone], [0.9, imageGone])).toMatchObject({ since: 0, confirmed: false })
    expect(applySightings([0, imageGone], [0.5, imageGone], [1, imageGone])).toMatchObject({
      since: 0,
      confirmed: true,
    })
  })
  test('is well as soon as it is seen well once, and is suspected anew after that', () => {
    expect(applySightings([0, imageGone], [1, imageGone], [2, { kind: 'well' }])).toBeUndefined()
    expect(applySightings([0, imageGone], [1, { kind: 'well' }], [2, imageGone])).toMatchObject({
      since: 2 * hourMs,
      confirmed: false,
    })
  })
  test('stays what it is when a registry does not say', () => {
    expect(applySightings([0, { kind: 'unknown' }])).toBeUndefined()
    expect(applySightings([0, imageGone], [5, { kind: 'unknown' }])).toMatchObject({ confirmed: false })
    expect(applySightings([0, imageGone], [5, { kind: 'unknown' }], [9, imageGone])).toMatchObject({
      since: 0,
      confirmed: true,
    })
    expect(applySightings([0, imageGone], [1, imageGone], [2, { kind: 'unknown' }])).toMatchObject({
      confirmed: true,
    })
  })
  test('with another fault than the suspected one is suspected of that, from then on', () => {
    const wrong: ImageScanResult = { kind: 'digest-mismatch', reason: 'other bytes' }
    expect(applySightings([0, imageGone], [2, wrong])).toMatchObject({
      kind: wrong.kind,
      since: 2 * hourMs,
      confirmed: false,
    })
    expect(applySightings([0, imageGone], [1, imageGone], [2, wrong])).toMatchObject({
      kind: wrong.kind,
      since: 0,
      confirmed: true,
    })
  })
  test('keeps the words of the first look, so that a registry that words it anew changes nothing', () => {
    expect(applySightings([0, imageGone], [1, { kind: 'gone', reason: 'other words' }])?.reason).toBe(
      imageGone.reason,
    )
  })
})

describe('one look', () => {
  test.each<[ImageAnswer, ImageScanResult['kind']]>([
    [{ kind: 'ok', digest: imageDigest, mediaType: '', size: 1 }, 'well'],
    [{ kind: 'missing', reason: '' }, 'gone'],
    [{ kind: 'digest-mismatch', reason: '' }, 'digest-mismatch'],
    [{ kind: 'unsupported', reason: 'schema 1' }, 'unsupported'],
    [{ kind: 'missing-or-private', reason: '' }, 'unknown'],
    [{ kind: 'blocked', reason: '' }, 'unknown'],
    [{ kind: 'malformed', reason: '' }, 'unknown'],
    [{ kind: 'unknown', reason: 'it answered 503', retryAfter: 60 }, 'unknown'],
  ])('that brings %j shows: %s', (answer, kind) => {
    expect(toImageScanResult(answer).kind).toBe(kind)
  })
})

describe('a tag beside a digest', () => {
  const pinned = { tag: 'v1', digest: imageDigest }
  const imageFound = (now: string): ImageAnswer => ({ kind: 'ok', digest: now, mediaType: '', size: 1 })

  test('moved when it is known to have stood for the digest, and stands for another now', () => {
    expect(toTagScanResult(pinned, imageFound(otherDigest), true)).toMatchObject({ kind: 'tag-moved' })
  })
  test('did not move when it never was seen to stand for it: an index and its images have digests of their own', () => {
    expect(toTagScanResult(pinned, imageFound(otherDigest), false)).toEqual({ kind: 'well' })
  })
  test('is no matter when it is gone or nobody says: the digest is what is installed', () => {
    expect(toTagScanResult(pinned, { kind: 'missing', reason: '' }, true)).toEqual({ kind: 'well' })
    expect(toTagScanResult(pinned, { kind: 'unknown', reason: '', retryAfter: 1 }, true)).toEqual({
      kind: 'well',
    })
  })
  test('is asked for only where both are written', () => {
    expect(parseTagAndDigest(`quay.io/a/b:v1@${imageDigest}`)).toEqual({
      reference: 'quay.io/a/b:v1',
      tag: 'v1',
      digest: imageDigest,
    })
    for (const text of ['quay.io/a/b:v1', `quay.io/a/b@${imageDigest}`, 'no reference'])
      expect(parseTagAndDigest(text)).toBeUndefined()
  })
  test('that moves on is another fault; a missing image that is told of in other words is the same', () => {
    const moved = (now: string) => toMissingImageKey('x', { kind: 'tag-moved', reason: now })
    expect(moved('b')).not.toBe(moved('c'))
    expect(toMissingImageKey('x', { kind: 'gone', reason: 'b' })).toBe(
      toMissingImageKey('x', { kind: 'gone', reason: 'c' }),
    )
  })
})

describe('the issue', () => {
  const wanted = { title: 'two are gone', body: 'both' }
  const open = { state: 'open', title: 'one is gone', body: 'one' } as const
  const closed = { ...open, state: 'closed' } as const

  test('is opened where there is none', () => {
    expect(decideIssueAction(undefined, wanted, true)).toBe('open')
  })
  test('is edited when it says something else, and left alone when it does not', () => {
    expect(decideIssueAction(open, wanted, true)).toBe('edit')
    expect(decideIssueAction({ ...open, ...wanted }, wanted, false)).toBe('nothing')
  })
  test('is closed when all is well, and stays closed', () => {
    expect(decideIssueAction(open, undefined, false)).toBe('close')
    expect(decideIssueAction(closed, undefined, false)).toBe('nothing')
    expect(decideIssueAction(undefined, undefined, false)).toBe('nothing')
  })
  test('that a person closed is opened again for a newly missing image alone', () => {
    expect(decideIssueAction(closed, wanted, false)).toBe('nothing')
    expect(decideIssueAction(closed, wanted, true)).toBe('reopen')
  })
})
