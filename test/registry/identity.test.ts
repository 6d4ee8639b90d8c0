// Under which name answers are remembered: by all that they depend on, and by nothing that one could pass for another.
import { expect, test } from '@jest/globals'
import { fixedCredentials, type CredentialSource } from '../../src/registry/auth/credentials.ts'
import { openRegistry } from '../../src/registry/open-registry.ts'
import { RegistryError } from '../../src/registry/registry-error.ts'
import { handClock } from './manual-clock.ts'

const rules = [{ prefix: 'quay.io', mirrors: [{ location: 'mirror.example' }] }]
const brokenMirror: CredentialSource = {
  find: async (host) => {
    if (host === 'mirror.example') throw new RegistryError('credentials', 'a helper failed')
    return undefined
  },
}

async function identityAs(password: string | undefined): Promise<string> {
  const own =
    password === undefined
      ? []
      : [fixedCredentials({ 'quay.io': { kind: 'basic', username: 'u', password } })]
  const client = openRegistry({ clock: handClock(), rules, credentials: [...own, brokenMirror] })
  const identity = await client.identity('quay.io/a/b:1')
  await client.close()
  return identity
}

test('two credentials are two names, also while those of a mirror cannot be read', async () => {
  const names = await Promise.all([undefined, 'one', 'two'].map(identityAs))
  expect(new Set(names).size).toBe(3)
  expect(await identityAs('one')).toBe(names[1])
  expect(names.join()).not.toMatch(/one|two/)
})

test('what the operator blocks is nobody’s, and a reference that says nothing is anonymous', async () => {
  const client = openRegistry({ clock: handClock(), rules: [{ prefix: 'quay.io', blocked: true }] })
  expect(await client.identity('quay.io/a/b:1')).toBe('blocked')
  expect(await client.isSeenByAll('quay.io/a/b:1')).toBe(false)
  expect(await client.identity('HTTP://x')).toBe('anonymous')
  await client.close()
})

test('who may be told what an image says follows credentials, mirrors and the operator’s word', async () => {
  const seen = async (options: Partial<Parameters<typeof openRegistry>[0]>) => {
    const client = openRegistry({ clock: handClock(), ...options })
    const answer = await client.isSeenByAll('quay.io/a/b:1')
    await client.close()
    return answer
  }
  const basic = { kind: 'basic', username: 'u', password: 'p' } as const
  expect(await seen({})).toBe(true)
  expect(await seen({ rules })).toBe(true)
  expect(await seen({ rules, closedHosts: ['mirror.example'] })).toBe(false)
  expect(await seen({ rules, credentials: [brokenMirror] })).toBe(false)
  expect(await seen({ rules, credentials: [fixedCredentials({ 'mirror.example': basic })] })).toBe(false)
  const credentials = [fixedCredentials({ 'quay.io': basic })]
  expect(await seen({ credentials })).toBe(false)
  expect(await seen({ credentials, shown: ['quay.io/a'] })).toBe(true)
  expect(await seen({ credentials, shown: ['quay.io/ab', 'quay'] })).toBe(false)
})
