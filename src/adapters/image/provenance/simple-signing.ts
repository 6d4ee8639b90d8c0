// cosign's "simple signing" payload with the signed digest and name. Pure. signing-key.ts verifies signatures.
import { formatImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { marshalObject, marshalString } from '@catalog-bot/fbc/go/json/json'
import type { JsonShape } from '../../registry/strict-json.ts'
import { parseJsonClaim } from './parse-claim.ts'

export const simpleSigningMediaType = 'application/vnd.dev.cosign.simplesigning.v1+json'
const cosignSignatureType = 'cosign container image signature'

export interface SignedImage {
  readonly repository: string
  readonly digest: string
}

/** The bytes that cosign signs for the same image. */
export function createSigningPayload({ repository, digest }: SignedImage): Uint8Array {
  const critical = marshalObject([
    ['identity', marshalObject([['docker-reference', marshalString(repository)]])],
    ['image', marshalObject([['docker-manifest-digest', marshalString(digest)]])],
    ['type', marshalString(cosignSignatureType)],
  ])
  return new TextEncoder().encode(
    marshalObject([
      ['critical', critical],
      ['optional', 'null'],
    ]),
  )
}

const signingPayloadShape: JsonShape = {
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

interface SimpleSigningPayload {
  readonly critical?: {
    readonly identity?: { readonly 'docker-reference'?: string }
    readonly image?: { readonly 'docker-manifest-digest'?: string }
    readonly type?: string
  }
}

/**
 * The reason why a payload does not match this image; undefined if it matches. Stricter than cosign, which ignores the
 * name. A signature for one repository must not count for another with the same bytes.
 */
export function findSigningPayloadProblem(payload: Uint8Array, image: SignedImage): string | undefined {
  const read = parseJsonClaim<SimpleSigningPayload>(payload, signingPayloadShape, 'its payload')
  if ('problem' in read) return read.problem
  const { type, image: signed, identity } = read.claim.critical ?? {}
  if (type !== cosignSignatureType) return 'its payload is not an image signature'
  const digest = signed?.['docker-manifest-digest']
  if (digest !== image.digest) return `it signs ${digest ?? 'no digest'}`
  const name = identity?.['docker-reference'] ?? ''
  if (parseRepositoryName(name) !== parseRepositoryName(image.repository))
    return `it is for ${name === '' ? 'no image name' : name}`
  return undefined
}

/** The full name without tag and digest, because a repository name can be written in several ways. */
export function parseRepositoryName(name: string): string | undefined {
  const { reference } = parseImageReference(name)
  return reference && formatImageReference({ host: reference.host, repository: reference.repository })
}
