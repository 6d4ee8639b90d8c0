// Runs `build` as users do: checks the destination of the image, the output, and the exit codes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { startMockRegistry } from '../../sandbox/registry/registry.ts'
import { createSmallCatalog } from '../adapters/image/small-catalog.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const folder = createSelfRemovingDirectory('build-command')
const mockRegistry = await startMockRegistry()
writeFiles(
  join(folder, 'catalog'),
  createSmallCatalog().map(({ path, bytes }) => [path, bytes]),
)
afterAll(() => mockRegistry.stop())

test('an image without a base is written to a directory, and the output has its digest', async () => {
  const layout = join(folder, 'layout')
  const { code, out } = await runCatalogBot(
    'build',
    join(folder, 'catalog'),
    '-i',
    'scratch',
    '--oci-layout',
    layout,
    '-o',
    'json',
  )
  expect(code).toBe(0)
  const result = JSON.parse(out) as { digest: string; layer: object; platforms: string[] }
  expect(result).toMatchObject({
    layer: { packages: 1, bundles: 2 },
    platforms: expect.arrayContaining(['linux/s390x']),
  })
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    manifests: { digest: string }[]
  }
  expect(index.manifests).toMatchObject([{ digest: result.digest }])
})

test('a catalog that opm would not serve is not built, and the error has the message of opm', async () => {
  const broken = join(folder, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'catalog.yaml'), 'schema: olm.package\nname: foo\n')
  const { code, err } = await runCatalogBot(
    'build',
    broken,
    '-i',
    'scratch',
    '--oci-layout',
    join(folder, 'none'),
  )
  expect(code).toBe(1)
  expect(err).toContain('invalid package "foo"')
})

test('a build without a destination fails, and the error lists the options', async () => {
  const { code, err } = await runCatalogBot('build', join(folder, 'catalog'), '-t', 'quay.io/o/c:v1')
  expect(code).toBe(2)
  expect(err).toContain('--push, --dry-run, and --oci-layout')
})

test('a composite list with a missing image is not built, and the error names the file, the reference, and the next step', async () => {
  const catalog = Object.fromEntries(
    createSmallCatalog().map(({ path, bytes }) => [`configs/${path}`, new TextDecoder().decode(bytes)]),
  )
  mockRegistry.putImage('acme/catalog', '1', {
    labels: { 'operators.operatorframework.io.index.configs.v1': '/configs' },
    files: catalog,
  })
  const list = join(folder, 'list.yaml')
  const extra = `${mockRegistry.host}/acme/extra:1`
  writeFileSync(
    list,
    `name: all\nreferences:\n- name: first\n  image: ${mockRegistry.host}/acme/catalog:1\n- name: extra\n  image: ${extra}\n`,
  )
  const layout = join(folder, 'list-layout')
  const { code, err } = await runCatalogBot(
    ...['build', list, '-i', 'scratch', '--oci-layout', layout, '--insecure-registry', mockRegistry.host],
  )
  const { host } = mockRegistry
  await mockRegistry.stop()
  expect(code).toBe(2)
  expect(err).toContain(`${list}: reference "extra" (${extra}): ${host} doesn't have this image (404`)
  expect(err).toContain('). Correct the reference or push the image.')
  expect(existsSync(layout)).toBe(false)
})
