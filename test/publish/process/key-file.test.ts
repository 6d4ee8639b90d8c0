// How the publishing process reads the signing key: a new key takes effect at once, and errors reveal nothing about it.
import { writeFileSync } from 'node:fs'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createSigningKeyLoader } from '../../../src/publish/process/publish-context.ts'
import { cosignPrivateKey } from '../../adapters/image/provenance/cosign-test-key.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('key-file')

test('opens a key with its password, and caches it until the file changes', async () => {
  const file = join(temporaryDirectory, 'cosign.key')
  writeFileSync(file, cosignPrivateKey)
  const open = createSigningKeyLoader(file, 'test')
  const first = await open()
  expect(await open()).toBe(first)
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const message = Buffer.from('message')
  expect(first.verifier.verifies(message, (await open()).sign(message))).toBe(false)
})

test('reports errors without the path of the file, its content, or the password', async () => {
  const file = join(temporaryDirectory, 'other.key')
  const open = createSigningKeyLoader(file, 'guessed')
  await expect(open()).rejects.toMatchObject({
    message: 'the image signing key cannot be used: ENOENT',
    retryable: true,
  })
  writeFileSync(file, cosignPrivateKey)
  await expect(open()).rejects.toMatchObject({
    message: 'the image signing key cannot be used: the password for the key is incorrect',
  })
})
