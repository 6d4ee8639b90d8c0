// Runs the command as users do: it prints its addresses, answers there, and shuts down cleanly on SIGTERM.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from '@jest/globals'
import { Client, credentials } from '@grpc/grpc-js'
import { request } from 'undici'
import { getGrpcService, type ProtoMessage } from '../../packages/fbc-server/src/grpc-services.ts'
import { startMockRegistry } from '../../sandbox/registry/registry.ts'
import { unusualCatalog, writeUnusualCatalog } from '../packages/fbc-server/unusual-catalog.ts'
import { compileCacheEnvironment } from '../compile-cache.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const cliPath = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const catalogDirectory = createSelfRemovingDirectory('serve-catalog')
writeUnusualCatalog(catalogDirectory)
const mockRegistry = await startMockRegistry()
mockRegistry.putImage('odd/catalog', 'v1', {
  labels: { 'operators.operatorframework.io.index.configs.v1': '/configs' },
  files: Object.fromEntries(Object.entries(unusualCatalog).map(([path, text]) => [`configs/${path}`, text])),
})
afterAll(() => mockRegistry.stop())

const spawnServeCatalog = (...args: readonly string[]) =>
  spawn(
    process.execPath,
    ['--no-warnings', cliPath, 'serve-catalog', '--port', '0', '--http-port', '0', ...args],
    { env: { HOME: '/dev/null', PATH: process.env.PATH, ...compileCacheEnvironment }, timeout: 60_000 },
  )

async function startServeCatalogCommand(...args: readonly string[]) {
  const child = spawnServeCatalog(...args)
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === 3) break
  return {
    lines,
    async stop() {
      child.kill('SIGTERM')
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    },
  }
}

test('a directory and its image serve the same content until SIGTERM', async () => {
  const image = `${mockRegistry.host}/odd/catalog:v1`
  const running = await Promise.all([
    startServeCatalogCommand(catalogDirectory),
    startServeCatalogCommand(image, '--insecure-registry', mockRegistry.host),
  ])
  const answers = await Promise.all(
    running.map(async ({ lines }) => {
      expect(lines[0]).toMatch(/: 4 packages, 5 bundles$/)
      const [grpc = '', http = ''] = lines.slice(1).map((line) => line.slice(line.indexOf(' ') + 1))
      const client = new Client(grpc, credentials.createInsecure())
      const method = getGrpcService('api.Registry')['ListBundles']
      if (!method) throw new Error('no such method')
      const call = client.makeServerStreamRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        {},
      )
      const bundles: ProtoMessage[] = []
      for await (const bundle of call) bundles.push(bundle as ProtoMessage)
      client.close()
      return { bundles, blobs: await (await request(http)).body.text() }
    }),
  )
  expect(answers[0]?.bundles).toHaveLength(6)
  expect(answers[1]).toEqual(answers[0])
  expect(await Promise.all(running.map((one) => one.stop()))).toEqual([0, 0])
})

test('a missing image fails with exit code 2 and nothing on stdout', async () => {
  const name = `${mockRegistry.host}/odd/catalog:v2`
  const other = await runCatalogBot('serve-catalog', name, '--insecure-registry', mockRegistry.host)
  expect(other).toMatchObject({ code: 2, out: '' })
})

test('a port that is in use ends the command with exit code 2, although the other server is running', async () => {
  const child = spawnServeCatalog(catalogDirectory, '--http-port', mockRegistry.host.replace(/.*:/, ''))
  const exited = once(child, 'exit')
  expect(await text(child.stderr)).toBe(`catalog-bot: ${mockRegistry.host}: the address is already in use\n`)
  expect(await exited).toEqual([2, null])
})
