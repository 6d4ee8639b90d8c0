// DSSE envelopes (https://github.com/secure-systems-lab/dsse) around in-toto statements, as in cosign attestations.
import { z } from 'zod'
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import { formatImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { marshalObject, marshalString } from '@catalog-bot/fbc/go/json/json'
import { goObject, parseStrictJson } from '../../registry/strict-json.ts'
import type { SigningKey, VerifyingKey } from './signing-key.ts'
import { RegistryError } from '../../registry/registry-error.ts'

export const simpleSigningMediaType = 'application/vnd.dev.cosign.simplesigning.v1+json'

const cosignSignatureType = 'cosign container image signature'

export interface SignedImage {
  readonly repository: string
  readonly digest: string
}

const signingPayloadSchema = goObject({
  critical: goObject({
    identity: goObject({ 'docker-reference': z.string() }),
    image: goObject({ 'docker-manifest-digest': z.string() }),
    type: z.string(),
  }),
  optional: z.unknown(),
})

export const dsseEnvelopeMediaType = 'application/vnd.dsse.envelope.v1+json'
export const inTotoMediaType = 'application/vnd.in-toto+json'

export function createSignedEnvelope(statement: Uint8Array, key: SigningKey): Uint8Array {
  const envelope = {
    payloadType: inTotoMediaType,
    payload: Buffer.from(statement).toString('base64'),
    signatures: [
      {
        keyid: '',
        sig: Buffer.from(key.sign(encodeDssePreAuthentication(inTotoMediaType, statement))).toString(
          'base64',
        ),
      },
    ],
  }
  return Buffer.from(JSON.stringify(envelope))
}

const dsseEnvelopeSchema = goObject({
  payloadType: z.string(),
  payload: z.string(),
  signatures: z.array(goObject({ keyid: z.string(), sig: z.string() })),
})

/** Returns the statement if this key signed the envelope. Otherwise, returns the reason for rejecting it. */
export function verifyEnvelope(
  bytes: Uint8Array,
  key: VerifyingKey,
): { readonly statement: Uint8Array } | { readonly problem: string } {
  const read = parseProvenanceJson(bytes, dsseEnvelopeSchema, 'the envelope')
  if ('problem' in read) return read
  const { claim: envelope } = read
  if (envelope.payloadType !== inTotoMediaType)
    return { problem: 'the envelope does not contain an in-toto statement' }
  const statement = decodeBase64(envelope.payload ?? '')
  if (typeof statement === 'number') return { problem: 'the envelope is not valid base64' }
  const signed = encodeDssePreAuthentication(inTotoMediaType, statement)
  for (const { sig } of envelope.signatures ?? []) {
    const signature = decodeBase64(sig ?? '')
    if (typeof signature !== 'number' && key.verifies(signed, signature)) return { statement }
  }
  return { problem: 'the envelope was not signed with this key' }
}

/** DSSE's "pre-authentication encoding": the signature covers the type too. */
function encodeDssePreAuthentication(type: string, payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload])
}

/**
 * cosign's "simple signing" payload with the signed digest and name. Pure. signing-key.ts verifies signatures. The
 * bytes that cosign signs for the same image.
 */
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

/**
 * The reason why a payload does not match this image; undefined if it matches. Stricter than cosign, which ignores the
 * name. A signature for one repository must not count for another with the same bytes.
 */
export function findSigningPayloadProblem(payload: Uint8Array, image: SignedImage): string | undefined {
  const read = parseProvenanceJson(payload, signingPayloadSchema, 'the payload')
  if ('problem' in read) return read.problem
  const { type, image: signed, identity } = read.claim.critical ?? {}
  if (type !== cosignSignatureType) return 'the payload is not an image signature'
  const digest = signed?.['docker-manifest-digest']
  if (digest !== image.digest) return `the payload specifies the digest ${digest ?? '(none)'}`
  const name = identity?.['docker-reference'] ?? ''
  if (parseImageRepositoryName(name) !== parseImageRepositoryName(image.repository))
    return `the payload specifies the image ${name === '' ? '(none)' : name}`
  return undefined
}

/** The full name without tag and digest, because a repository name can be written in several ways. */
export function parseImageRepositoryName(name: string): string | undefined {
  const { reference } = parseImageReference(name)
  return reference && formatImageReference({ host: reference.host, repository: reference.repository })
}

/** Strictly parses untrusted attachments and rejects anything ambiguous. */
export function parseProvenanceJson<Schema extends z.ZodType>(
  bytes: Uint8Array,
  schema: Schema,
  label: string,
): { readonly claim: z.output<Schema> } | { readonly problem: string } {
  try {
    return { claim: parseStrictJson(bytes, schema) }
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    return { problem: `${label} is invalid: ${error.message}` }
  }
}
