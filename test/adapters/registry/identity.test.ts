// The identity that cache keys contain covers everything that an answer depends on, and cannot be forged.
import { expect, test } from '@jest/globals'
import type { CredentialSource } from '../../../src/adapters/registry/auth/credentials.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import { RegistryError } from '../../../src/adapters/registry/registry-error.ts'
import { createManualClock } from './manual-clock.ts'
import { createStaticCredentialSource } from './scripted-registry.ts'

const registryMirrorRules = [{ prefix: 'quay.io', mirrors: [{ location: 'mirror.example' }] }]
const failingMirrorCredentialSource: CredentialSource = {
  find: async (host) => {
    if (host === 'mirror.example') throw new RegistryError('credentials', 'a helper failed')
    return undefined
  },
}

async function computeRegistryIdentity(password: string | undefined): Promise<string> {
  const own =
    password === undefined
      ? []
      : [createStaticCredentialSource({ 'quay.io': { kind: 'basic', username: 'u', password } })]
  const client = new HttpRegistryClient({
    clock: createManualClock(),
    rules: registryMirrorRules,
    credentials: [...own, failingMirrorCredentialSource],
  })
  const identity = await client.identity('quay.io/a/b:1')
  await client.close()
  return identity
}

test('different credentials have different identities, even with unreadable mirror credentials', async () => {
  const names = await Promise.all([undefined, 'one', 'two'].map(computeRegistryIdentity))
  expect(new Set(names).size).toBe(3)
  expect(await computeRegistryIdentity('one')).toBe(names[1])
  expect(names.join()).not.toMatch(/one|two/)
})

test('the identity of a blocked image is blocked, and of a malformed reference anonymous', async () => {
  const client = new HttpRegistryClient({
    clock: createManualClock(),
    rules: [{ prefix: 'quay.io', blocked: true }],
  })
  expect(await client.identity('quay.io/a/b:1')).toBe('blocked')
  expect(await client.isPubliclyReadable('quay.io/a/b:1')).toBe(false)
  expect(await client.identity('HTTP://x')).toBe('anonymous')
  await client.close()
})

test('public readability depends on credentials, mirrors, and the operator configuration', async () => {
  const seen = async (options: Partial<ConstructorParameters<typeof HttpRegistryClient>[0]>) => {
    const client = new HttpRegistryClient({ clock: createManualClock(), ...options })
    const answer = await client.isPubliclyReadable('quay.io/a/b:1')
    await client.close()
    return answer
  }
  const basic = { kind: 'basic', username: 'u', password: 'p' } as const
  expect(await seen({})).toBe(true)
  expect(await seen({ rules: registryMirrorRules })).toBe(true)
  expect(await seen({ rules: registryMirrorRules, closedHosts: ['mirror.example'] })).toBe(false)
  expect(await seen({ rules: registryMirrorRules, credentials: [failingMirrorCredentialSource] })).toBe(false)
  expect(
    await seen({
      rules: registryMirrorRules,
      credentials: [createStaticCredentialSource({ 'mirror.example': basic })],
    }),
  ).toBe(false)
  const credentials = [createStaticCredentialSource({ 'quay.io': basic })]
  expect(await seen({ credentials })).toBe(false)
  expect(await seen({ credentials, shown: ['quay.io/a'] })).toBe(true)
  expect(await seen({ credentials, shown: ['quay.io/ab', 'quay'] })).toBe(false)
})
