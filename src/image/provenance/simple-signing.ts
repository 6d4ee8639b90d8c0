// cosign's "simple signing" payload: the signed digest and name. Pure; signing-key.ts verifies signatures.
import { formatImageReference, parseImageReference } from '../../go/reference/image-reference.ts'
import { marshalObject, marshalString } from '../../go/json/marshal.ts'
import type { Shape } from '../../registry/strict-json.ts'
import { readClaim } from './read-claim.ts'

export const simpleSigningType = 'application/vnd.dev.cosign.simplesigning.v1+json'
const claimType = 'cosign container image signature'

export interface SignedImage {
  readonly repository: string
  readonly digest: string
}

/** The bytes that cosign signs for the same image. */
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
 * Why a payload does not match this image; undefined if it does. Stricter than cosign, which ignores the name: a
 * signature for one repository must not count for another with the same bytes.
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

/** The full name without tag and digest, because a repository has several spellings. */
export function repositoryOf(name: string): string | undefined {
  const { reference } = parseImageReference(name)
  return reference && formatImageReference({ host: reference.host, repository: reference.repository })
}
