// `sign` and `verify` from the command line, with a registry in this process: exit codes and output.
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { startMockRegistry } from '../../sandbox/registry/registry.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('verify')
const resolveTestFilePath = (name: string) => join(temporaryDirectory, name)
for (const name of ['ours', 'other']) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  writeFileSync(resolveTestFilePath(`${name}.key`), privateKey.export({ format: 'pem', type: 'pkcs8' }))
  writeFileSync(resolveTestFilePath(`${name}.pub`), publicKey.export({ format: 'pem', type: 'spki' }))
}
const mockRegistry = await startMockRegistry()
mockRegistry.putImage('org/catalog', 'v1', { labels: {}, files: { a: 'a' } })
afterAll(() => mockRegistry.stop())

test('an image is verified after it is signed, and only by that key', async () => {
  const image = `${mockRegistry.host}/org/catalog:v1`
  const run = (command: string, key: string, ...more: string[]) =>
    runCatalogBot(
      command,
      image,
      '--key',
      resolveTestFilePath(key),
      '--insecure-registry',
      mockRegistry.host,
      ...more,
    )
  const before = await run('verify', 'ours.pub')
  expect(before).toMatchObject({ code: 1, err: '' })
  expect(before.out).toContain('Not signed with this key.')
  expect(await run('sign', 'ours.key')).toMatchObject({ code: 0, out: expect.stringMatching(/^Signed: /) })
  const [again, good, other] = await Promise.all([
    run('sign', 'ours.key'),
    run('verify', 'ours.pub', '-o', 'json'),
    run('verify', 'other.pub'),
  ])
  expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/^Already signed: /) })
  expect(good.code).toBe(0)
  expect(JSON.parse(good.out)).toMatchObject({ verified: true, signatures: 1, refused: [], provenance: [] })
  expect(other).toMatchObject({
    code: 1,
    out: expect.stringContaining('the signature cannot be verified with this key'),
  })
})
