// Resolves a bundle directory's image through the name its configuration gives, then reads it. A registry failure is
// not an error in the bundle: the request is retried.
import type { BundleImage } from './worker/release-messages.ts'
import type { Registries } from '../catalogs/registries.ts'

type RegistryLookupResult<T> =
  | { readonly kind: 'found'; readonly value: T }
  /** A clause without a full stop. */
  | { readonly kind: 'not-yet'; readonly reason: string }

/** Milliseconds for one answer. */
const registryTimeoutMs = 60_000

/** Ignores cached tags, because the tag is probably being pushed now. */
export async function resolveImageDigest(
  image: string,
  registries: Registries,
): Promise<RegistryLookupResult<string>> {
  const answer = await registries.refreshImage(image, AbortSignal.timeout(registryTimeoutMs))
  if (answer.kind !== 'ok') return { kind: 'not-yet', reason: answer.reason }
  return { kind: 'found', value: `${image.slice(0, image.lastIndexOf(':'))}@${answer.digest}` }
}

/** `reference`: by digest. An image that is not a bundle has no content. */
export async function fetchBundleImage(
  reference: string,
  registries: Registries,
): Promise<RegistryLookupResult<BundleImage>> {
  const answer = await registries.forEvaluation()({ kind: 'bundle', reference })
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
