// What a cosign signature says ("simple signing"): which digest was signed, and under which name. Making it, and judging
// one that was found. Pure; whether somebody signed it is the key's to say (signing-key.ts).
import { formatImageReference, parseImageReference } from '../../go/reference/image-reference.ts'
import { marshalObject, marshalString } from '../../go/json/marshal.ts'
import type { Shape } from '../../registry/strict-json.ts'
import { readClaim } from './read-claim.ts'

export const simpleSigningType = 'application/vnd.dev.cosign.simplesigning.v1+json'
const claimType = 'cosign container image signature'

/** An image as it is signed: by its repository and the digest of its top document. */
export interface SignedImage {
  /** `quay.io/org/catalog`. */
  readonly repository: string
  readonly digest: string
}

/** The bytes to sign: those that cosign signs for the same image. */
export function signedPayload({ repository, digest }: SignedImage): Uint8Array {
  const critical = marshalObject([
    ['identity', marshalObject([['docker-reference', marshalString(repository)]])],
    ['image', marshalObject([['docker-manifest-digest', marshalString(digest)]])],
    ['type', marshalString(claimType)],
  ])
  return new TextEncoder().encode(
    marshalObject([
      ['critical', critical],
      ['optional', 'null'],
    ]),
  )
}

const payloadShape: Shape = {
  fields: {
    critical: {
      fields: {
        identity: { fields: { 'docker-reference': 'string' } },
        image: { fields: { 'docker-manifest-digest': 'string' } },
        type: 'string',
      },
    },
    optional: 'any',
  },
}

interface Payload {
  readonly critical?: {
    readonly identity?: { readonly 'docker-reference'?: string }
    readonly image?: { readonly 'docker-manifest-digest'?: string }
    readonly type?: string
  }
}

/**
 * Why a payload does not speak of this image; undefined where it does. Asks more than cosign, which does not look at the
 * name: a signature for one repository says nothing of another that holds the same bytes.
 */
export function payloadProblem(payload: Uint8Array, image: SignedImage): string | undefined {
  const read = readClaim<Payload>(payload, payloadShape, 'its payload')
  if ('problem' in read) return read.problem
  const { type, image: signed, identity } = read.claim.critical ?? {}
  if (type !== claimType) return 'its payload is no signature of an image'
  const digest = signed?.['docker-manifest-digest']
  if (digest !== image.digest) return `it signs ${digest ?? 'no digest'}`
  const name = identity?.['docker-reference'] ?? ''
  if (repositoryOf(name) !== repositoryOf(image.repository))
    return `it signs ${name === '' ? 'no name' : name}`
  return undefined
}

/** The name in full, without tag and digest: the same repository has several spellings. */
export function repositoryOf(name: string): string | undefined {
  const { reference } = parseImageReference(name)
  return reference && formatImageReference({ host: reference.host, repository: reference.repository })
}
