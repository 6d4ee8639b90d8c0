// Reads cosign's keys: password-protected private keys (`cosign.key`: PKCS #8 in a NaCl secretbox, scrypt), plain PKCS
// #8 keys, and PEM public keys. Supports cosign's algorithms.
import { createPrivateKey, createPublicKey, scrypt, sign, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { goObject, parseStrictJson } from '../../registry/strict-json.ts'

export interface SigningKey {
  /** The signature of the unmodified bytes, as cosign encodes it. */
  sign(message: Uint8Array): Uint8Array
  readonly verifier: VerifyingKey
}

export interface VerifyingKey {
  verifies(message: Uint8Array, signature: Uint8Array): boolean
}

/** The message describes the problem and never quotes the key. */
class SigningKeyError extends Error {
  override readonly name = 'KeyError'
}

const encryptedKeyPemLabels = ['ENCRYPTED SIGSTORE PRIVATE KEY', 'ENCRYPTED COSIGN PRIVATE KEY']

/** `password` is for encrypted keys. An empty string means no password, as in cosign. */
export async function parseSigningKeyPem(pem: string, password = ''): Promise<SigningKey> {
  const { label, body } = parsePem(pem)
  const der = encryptedKeyPemLabels.includes(label) ? await decryptPrivateKey(body, password) : body
  if (!encryptedKeyPemLabels.includes(label) && label !== 'PRIVATE KEY')
    throw new SigningKeyError(`the key file contains a ${label}, which cannot be used for signing`)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
  } catch {
    // Drops the cause, because it may quote the key.
    throw new SigningKeyError('the private key cannot be parsed')
  }
  const algorithm = getHashAlgorithm(key)
  return {
    sign: (message) => sign(algorithm, message, key),
    verifier: createVerifyingKey(createPublicKey(key)),
  }
}

/** Accepts only public keys. Node.js would also derive one from a private key or a certificate. */
export function parseVerifyingKeyPem(pem: string): VerifyingKey {
  const { label, body } = parsePem(pem)
  if (label !== 'PUBLIC KEY')
    throw new SigningKeyError(
      `the file contains a ${label}; use the public key (cosign.pub) for verification`,
    )
  let key: KeyObject
  try {
    key = createPublicKey({ key: Buffer.from(body), format: 'der', type: 'spki' })
  } catch {
    throw new SigningKeyError('the public key cannot be parsed')
  }
  return createVerifyingKey(key)
}

function createVerifyingKey(key: KeyObject): VerifyingKey {
  const algorithm = getHashAlgorithm(key)
  return { verifies: (message, signature) => verify(algorithm, message, key, signature) }
}

const minRsaBits = 2048
const allowedEllipticCurves: ReadonlySet<string | undefined> = new Set([
  'prime256v1',
  'secp384r1',
  'secp521r1',
])

/** SHA-256, except for Ed25519, which hashes internally. Equals sigstore's LoadVerifier with cosign's settings. */
function getHashAlgorithm(key: KeyObject): 'sha256' | null {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {}
  const kind = key.asymmetricKeyType
  if (kind === 'ed25519') return null
  if (kind === 'ec') {
    if (allowedEllipticCurves.has(namedCurve)) return 'sha256'
    throw new SigningKeyError('cosign does not support the elliptic curve of the key')
  }
  if (kind !== 'rsa') throw new SigningKeyError('cosign does not support this type of key')
  if ((modulusLength ?? 0) >= minRsaBits) return 'sha256'
  throw new SigningKeyError(`the RSA key is too weak; it must have at least ${minRsaBits} bits`)
}

function parsePem(pem: string): { readonly label: string; readonly body: Uint8Array } {
  const found =
    /^\s*-----BEGIN (?<label>[A-Z ]+)-----\r?\n(?<body>[A-Za-z0-9+/=\r\n]+)-----END \k<label>-----\s*$/.exec(
      pem,
    )
  if (!found?.groups) throw new SigningKeyError('the key file must contain exactly one key in PEM format')
  const { label = '', body = '' } = found.groups
  return { label, body: Buffer.from(body, 'base64') }
}

const encryptedKeySchema = goObject({
  kdf: goObject({
    name: z.string(),
    params: goObject({ N: z.int(), r: z.int(), p: z.int() }),
    salt: z.base64(),
  }),
  cipher: goObject({ name: z.string(), nonce: z.base64() }),
  ciphertext: z.base64(),
})

/** cosign's current and earlier parameters. Others could require excessive work. */
const allowedScryptParameters: ReadonlySet<string> = new Set(['32768,8,1', '65536,8,1'])

async function decryptPrivateKey(body: Uint8Array, password: string): Promise<Uint8Array> {
  let file: z.output<typeof encryptedKeySchema>
  try {
    file = parseStrictJson(body, encryptedKeySchema)
  } catch {
    throw new SigningKeyError('the key file is not an encrypted cosign key')
  }
  const { N, r, p } = file.kdf?.params ?? {}
  const isKnown = file.kdf?.name === 'scrypt' && file.cipher?.name === 'nacl/secretbox'
  if (!isKnown || !allowedScryptParameters.has([N, r, p].join()))
    throw new SigningKeyError('the key uses an unsupported encryption method')
  const salt = Buffer.from(file.kdf?.salt ?? '', 'base64')
  const nonce = Buffer.from(file.cipher?.nonce ?? '', 'base64')
  if (nonce.length !== 24) throw new SigningKeyError('the key uses an unsupported encryption method')
  const secret = await deriveScryptKey(password, salt, { N: N ?? 0, r: r ?? 0, p: p ?? 0 })
  try {
    return xsalsa20poly1305(secret, nonce).decrypt(Buffer.from(file.ciphertext ?? '', 'base64'))
  } catch {
    throw new SigningKeyError('the password for the key is incorrect')
  }
}

function deriveScryptKey(
  password: string,
  salt: Uint8Array,
  cost: { readonly N: number; readonly r: number; readonly p: number },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) =>
    scrypt(password, salt, 32, { ...cost, maxmem: 256 * cost.N * cost.r }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}
