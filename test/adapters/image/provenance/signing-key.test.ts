// Keys: a cosign key opens with its password, weak keys and wrong kinds are rejected, and no error contains a key.
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import {
  parseSigningKeyPem,
  parseVerifyingKeyPem,
} from '../../../../src/adapters/image/provenance/signing-key.ts'
import { cosignPrivateKey, cosignPublicKey } from './cosign-test-key.ts'

const exportPrivateKeyPem = (key: ReturnType<typeof generateKeyPairSync>['privateKey']) =>
  key.export({ format: 'pem', type: 'pkcs8' }) as string
const derivePublicKeyPem = (privatePem: string) =>
  createPublicKey(privatePem).export({ format: 'pem', type: 'spki' }) as string
const signedMessage = Buffer.from('a message')

describe('a private key', () => {
  test('written by cosign opens only with its password, and matches its public key', async () => {
    const key = await parseSigningKeyPem(cosignPrivateKey, 'test')
    expect(parseVerifyingKeyPem(cosignPublicKey).verifies(signedMessage, key.sign(signedMessage))).toBe(true)
    expect(key.verifier.verifies(Buffer.from('another'), key.sign(signedMessage))).toBe(false)
    await expect(parseSigningKeyPem(cosignPrivateKey, 'tess')).rejects.toThrow(
      'the password for the key is incorrect',
    )
    await expect(parseSigningKeyPem(cosignPrivateKey)).rejects.toThrow(
      'the password for the key is incorrect',
    )
  })
  test('with a higher scrypt cost than cosign uses is rejected', async () => {
    const [, label = '', body = ''] = /-----BEGIN (.*)-----\n([^-]*)/.exec(cosignPrivateKey) ?? []
    const costly = Buffer.from(body, 'base64')
      .toString()
      .replace(/"N":\d+/, '"N":1073741824')
    const text = `-----BEGIN ${label}-----\n${Buffer.from(costly).toString('base64')}\n-----END ${label}-----\n`
    await expect(parseSigningKeyPem(text, 'test')).rejects.toThrow('the key uses an unsupported encryption')
  })
  test('in PKCS #8 must be RSA with 2048 bits, a supported curve, or Ed25519', async () => {
    const good = [
      generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
      generateKeyPairSync('ed25519'),
      generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ]
    for (const { privateKey } of good) {
      const key = await parseSigningKeyPem(exportPrivateKeyPem(privateKey))
      expect(
        parseVerifyingKeyPem(derivePublicKeyPem(exportPrivateKeyPem(privateKey))).verifies(
          signedMessage,
          key.sign(signedMessage),
        ),
      ).toBe(true)
    }
    const weak = [
      generateKeyPairSync('rsa', { modulusLength: 1024 }),
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
      generateKeyPairSync('ed448'),
    ]
    for (const { privateKey } of weak) {
      await expect(parseSigningKeyPem(exportPrivateKeyPem(privateKey))).rejects.toMatchObject({
        name: 'KeyError',
      })
      expect(() => parseVerifyingKeyPem(derivePublicKeyPem(exportPrivateKeyPem(privateKey)))).toThrow(/key/)
    }
  })
})

describe('a file', () => {
  test('with a private key cannot verify, and one with a public key cannot sign', async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    expect(() => parseVerifyingKeyPem(exportPrivateKeyPem(privateKey))).toThrow(
      'use the public key (cosign.pub) for verification',
    )
    await expect(parseSigningKeyPem(derivePublicKeyPem(exportPrivateKeyPem(privateKey)))).rejects.toThrow(
      'cannot be used for signing',
    )
  })
  test('that is not a key or is broken is rejected without showing its content', async () => {
    const broken = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'
    for (const text of ['', 'secret', broken, broken + broken, broken.replace('c2VjcmV0', 'c2 cmV0')]) {
      const error: unknown = await parseSigningKeyPem(text).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'KeyError' })
      expect(String(error)).not.toMatch(/secret|c2V/)
    }
  })
})
