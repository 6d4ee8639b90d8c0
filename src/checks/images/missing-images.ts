// Missing images: references of published catalogs whose images are certainly missing or changed. Says what one look
// means, and what two looks at different times mean together. One bad answer, or no answer, proves nothing.
import { formatImageReference, parseImageReference } from '../../go/reference/image-reference.ts'
import type { ImageAnswer } from '../questions.ts'

export const missingImageKinds = ['gone', 'digest-mismatch', 'unsupported', 'tag-moved'] as const
export type MissingImageKind = (typeof missingImageKinds)[number]

/** What one look at a reference showed. `unknown`: outages, limits, and what may be private. */
export type LookResult =
  | { readonly kind: 'well' }
  | { readonly kind: 'unknown' }
  | { readonly kind: MissingImageKind; readonly reason: string }

/** A reference that did not look well, from the first such look on. Times are milliseconds since the epoch. */
export interface MissingImage {
  readonly kind: MissingImageKind
  /** For people, from the last look: `quay.io does not have it (404)`. Text of a registry may be in it. */
  readonly reason: string
  readonly since: number
  /** A second look, long enough after the first, showed it too. Until then it is a suspicion. */
  readonly confirmed: boolean
}

/** The rule that says the same of a pull request; its page explains, and its settings hold here too. */
export const ruleOfMissingImage: Readonly<Record<MissingImageKind, string>> = {
  gone: 'image-missing',
  'digest-mismatch': 'digest-mismatch',
  unsupported: 'image-unsupported',
  'tag-moved': 'tag-moved',
}

export function lookResultOf(answer: ImageAnswer): LookResult {
  switch (answer.kind) {
    case 'ok':
      return { kind: 'well' }
    case 'missing':
      return { kind: 'gone', reason: answer.reason }
    case 'digest-mismatch':
    case 'unsupported':
      return { kind: answer.kind, reason: answer.reason }
    // A reference that nobody can read is the author's matter since it was written; what is refused before any
    // request says nothing about the image.
    case 'malformed':
    case 'blocked':
    case 'missing-or-private':
    case 'unknown':
      return { kind: 'unknown' }
  }
}

/** What is known of a reference after one more look; undefined when it is well. `apart`: milliseconds between two looks that count. */
export function afterLook(
  known: MissingImage | undefined,
  result: LookResult,
  now: number,
  apart: number,
): MissingImage | undefined {
  if (result.kind === 'well') return undefined
  if (result.kind === 'unknown') return known
  const { kind, reason } = result
  // A suspicion of something else begins anew; what was confirmed once is bad whatever it is now.
  if (known === undefined || (known.kind !== kind && !known.confirmed))
    return { kind, reason, since: now, confirmed: false }
  // A registry that words its refusal anew says nothing new.
  const words = kind === known.kind && kind !== 'tag-moved' ? known.reason : reason
  return { kind, reason: words, since: known.since, confirmed: known.confirmed || now - known.since >= apart }
}

/** Tells one fault from another: a tag that moves on is a new fault, a registry that words its refusal anew is not. */
export function missingImageKey(
  reference: string,
  { kind, reason }: Pick<MissingImage, 'kind' | 'reason'>,
): string {
  return kind === 'tag-moved' ? `${kind} ${reference} ${reason}` : `${kind} ${reference}`
}

/** The reference by its tag alone where a digest of the kind that registries tell stands beside the tag, with that digest. */
export function pinnedTag(
  text: string,
): { readonly reference: string; readonly tag: string; readonly digest: string } | undefined {
  const { host, repository, tag, digest } = parseImageReference(text).reference ?? {}
  if (host === undefined || repository === undefined || tag === undefined) return undefined
  if (digest?.startsWith('sha256:') !== true) return undefined
  return { reference: formatImageReference({ host, repository, tag }), tag, digest }
}

/**
 * What a tag beside a digest tells. That it stands for another digest now is a move only when it is known to have stood
 * for the written one: an index has a digest, and each of its images another, and either may be written.
 */
export function lookResultOfTag(
  { tag, digest }: { readonly tag: string; readonly digest: string },
  answer: ImageAnswer,
  stoodForIt: boolean,
): LookResult {
  if (answer.kind !== 'ok' || answer.digest === digest || !stoodForIt) return { kind: 'well' }
  return { kind: 'tag-moved', reason: `its tag "${tag}" now points to ${answer.digest}` }
}
