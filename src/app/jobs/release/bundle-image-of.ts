// The image of a bundle directory, by the name that the configuration gives it: its digest, as the registry tells it now,
// and then what is inside. Nothing that the registry does not say is anybody's fault: it is asked again.
import type { BundleImage } from '../../../examine/release/release-order.ts'
import type { Registries } from '../../../examine/registries.ts'

type Asked<T> =
  | { readonly kind: 'found'; readonly value: T }
  /** A clause for people, without a full stop. */
  | { readonly kind: 'not-yet'; readonly reason: string }

/** Milliseconds for one answer; the registry is asked again later. */
const patience = 60_000

/** The reference by digest. What was remembered of the tag does not count: it is being pushed about now. */
export async function digestOfImage(image: string, registries: Registries): Promise<Asked<string>> {
  const answer = await registries.lookAgain(image, AbortSignal.timeout(patience))
  if (answer.kind !== 'ok') return { kind: 'not-yet', reason: answer.reason }
  return { kind: 'found', value: `${image.slice(0, image.lastIndexOf(':'))}@${answer.digest}` }
}

/** `reference`: by digest. An image that is there and is no bundle has no content. */
export async function contentOfImage(reference: string, registries: Registries): Promise<Asked<BundleImage>> {
  const answer = await registries.forOneLook()({ kind: 'bundle', reference })
  switch (answer.kind) {
    case 'bundle':
      return { kind: 'found', value: { reference, content: answer.content } }
    case 'unsupported':
    case 'malformed':
      return { kind: 'found', value: { reference } }
    case 'missing':
    case 'missing-or-private':
    case 'digest-mismatch':
    case 'blocked':
    case 'unknown':
      return { kind: 'not-yet', reason: answer.reason }
  }
}
