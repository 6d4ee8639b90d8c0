// Detects missing or changed images in published catalogs. Requires two checks at different times, because one bad
// answer proves nothing.
import { formatImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { ImageLookupResult } from '../lookups.ts'

export const imageScanFailureKinds = ['gone', 'digest-mismatch', 'unsupported', 'tag-moved'] as const
export type ImageScanFailureKind = (typeof imageScanFailureKinds)[number]

/** The result of one check. `unknown`: outages, limits, and images that may be private. */
export type ImageScanResult =
  | { readonly kind: 'well' }
  | { readonly kind: 'unknown' }
  | { readonly kind: ImageScanFailureKind; readonly reason: string }

/** Times are milliseconds since the epoch. */
export interface ImageScanFailureState {
  readonly kind: ImageScanFailureKind
  /** From the last check: `quay.io doesn't have this image (404)`. Can contain untrusted text from the registry. */
  readonly reason: string
  readonly since: number
  /** A later check confirmed it. */
  readonly confirmed: boolean
}

/** The pull request rule for the same fault; its page and settings apply here too. */
export const ruleIdByImageScanFailureKind: Readonly<Record<ImageScanFailureKind, string>> = {
  gone: 'image-missing',
  'digest-mismatch': 'digest-mismatch',
  unsupported: 'image-unsupported',
  'tag-moved': 'tag-moved',
}

export function toImageScanResult(answer: ImageLookupResult): ImageScanResult {
  switch (answer.kind) {
    case 'ok':
      return { kind: 'well' }
    case 'missing':
      return { kind: 'gone', reason: answer.reason }
    case 'digest-mismatch':
    case 'unsupported':
      return { kind: answer.kind, reason: answer.reason }
    // Malformed references were invalid from the start, and a blocked request reveals nothing about the image.
    case 'malformed':
    case 'blocked':
    case 'missing-or-private':
    case 'unknown':
      return { kind: 'unknown' }
  }
}

/**
 * The state after one more check. Undefined if the image exists unchanged. `apart`: minimum milliseconds between two
 * checks that count.
 */
export function updateImageScanFailureState(
  known: ImageScanFailureState | undefined,
  result: ImageScanResult,
  now: number,
  apart: number,
): ImageScanFailureState | undefined {
  if (result.kind === 'well') return undefined
  if (result.kind === 'unknown') return known
  const { kind, reason } = result
  // A different unconfirmed fault starts over. A confirmed fault remains confirmed.
  if (known === undefined || (known.kind !== kind && !known.confirmed))
    return { kind, reason, since: now, confirmed: false }
  // Keeps the first reason, because a reworded error from the registry is not news.
  const message = kind === known.kind && kind !== 'tag-moved' ? known.reason : reason
  return {
    kind,
    reason: message,
    since: known.since,
    confirmed: known.confirmed || now - known.since >= apart,
  }
}

/** Identifies a fault: another move of a tag is a new fault, but a reworded error is not. */
export function toImageScanFailureKey(
  reference: string,
  { kind, reason }: Pick<ImageScanFailureState, 'kind' | 'reason'>,
): string {
  return kind === 'tag-moved' ? `${kind} ${reference} ${reason}` : `${kind} ${reference}`
}

/** The reference by tag alone and the digest beside it, if registries report that kind of digest. */
export function parseImageTagAndDigest(
  text: string,
): { readonly reference: string; readonly tag: string; readonly digest: string } | undefined {
  const { host, repository, tag, digest } = parseImageReference(text).reference ?? {}
  if (host === undefined || repository === undefined || tag === undefined) return undefined
  if (digest?.startsWith('sha256:') !== true) return undefined
  return { reference: formatImageReference({ host, repository, tag }), tag, digest }
}

/**
 * The result for a tag with a digest. It counts as moved only if it pointed to the written digest before: index and
 * image have different digests, and either may be written.
 */
export function detectMovedTag(
  { tag, digest }: { readonly tag: string; readonly digest: string },
  answer: ImageLookupResult,
  stoodForIt: boolean,
): ImageScanResult {
  if (answer.kind !== 'ok' || answer.digest === digest || !stoodForIt) return { kind: 'well' }
  return { kind: 'tag-moved', reason: `the tag "${tag}" now points to ${answer.digest}` }
}
