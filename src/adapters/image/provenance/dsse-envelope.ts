// DSSE envelopes (https://github.com/secure-systems-lab/dsse) around in-toto statements, the format of cosign
// attestations.
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import type { JsonShape } from '../../registry/strict-json.ts'
import { parseJsonClaim } from './parse-claim.ts'
import type { SigningKey, VerifyingKey } from './signing-key.ts'

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

const dsseEnvelopeShape: JsonShape = {
  fields: {
    payloadType: 'string',
    payload: 'string',
    signatures: { list: { fields: { keyid: 'string', sig: 'string' } } },
  },
}

interface DsseEnvelope {
  readonly payloadType?: string
  readonly payload?: string
  readonly signatures?: readonly { readonly sig?: string }[]
}

/** Returns the statement if this key signed the envelope. Otherwise, returns the reason for rejecting it. */
export function verifyEnvelope(
  bytes: Uint8Array,
  key: VerifyingKey,
): { readonly statement: Uint8Array } | { readonly problem: string } {
  const read = parseJsonClaim<DsseEnvelope>(bytes, dsseEnvelopeShape, 'its envelope')
  if ('problem' in read) return read
  const { claim: envelope } = read
  if (envelope.payloadType !== inTotoMediaType)
    return { problem: 'its envelope does not contain an in-toto statement' }
  const statement = decodeBase64(envelope.payload ?? '')
  if (typeof statement === 'number') return { problem: 'its envelope is not valid base64' }
  const signed = encodeDssePreAuthentication(inTotoMediaType, statement)
  for (const { sig } of envelope.signatures ?? []) {
    const signature = decodeBase64(sig ?? '')
    if (typeof signature !== 'number' && key.verifies(signed, signature)) return { statement }
  }
  return { problem: 'its envelope was not signed with this key' }
}

/** DSSE's "pre-authentication encoding": the signature covers the type too. */
function encodeDssePreAuthentication(type: string, payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload])
}
