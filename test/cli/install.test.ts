// `install` from the command line: its output and its three exit codes.
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { InstallReport } from '../../src/checks/install/install-report.ts'
import { createSmallBundle } from '../checks/install/small-bundle.ts'
import { parseCatalogBlobsFromLines } from '../checks/install/parse-catalog-lines.ts'
import { runCatalogBotInDirectory } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const temporaryDirectory = createSelfRemovingDirectory('install')
const writeTestFile = (path: string, content: Uint8Array | string) =>
  writeFiles(temporaryDirectory, { [path]: content })
const catalogLines = [
  'foo/stable 1.1.0 replaces 1.0.0',
  'foo/stable 1.0.0',
  'lone/stable 1.0.0',
  'lone 1.0.0 needs Red',
]
writeTestFile(
  'catalog/catalog.json',
  parseCatalogBlobsFromLines(catalogLines)
    .map((blob) => JSON.stringify(blob))
    .join('\n'),
)
writeFiles(join(temporaryDirectory, 'bundle'), createSmallBundle('foo.v1.1.0', 'foo'))
writeFiles(join(temporaryDirectory, 'lone'), createSmallBundle('lone.v1.0.0', 'lone'))

test('install reports whether a package installs, in its text and its exit code', async () => {
  const install = (...parameters: string[]) =>
    runCatalogBotInDirectory(temporaryDirectory, 'install', 'catalog', ...parameters)
  const [yes, no, unknown, absent] = await Promise.all([
    install('--package', 'foo', '--bundle', 'foo.v1.1.0=bundle', '--objects', '-o', 'json'),
    install('--package', 'lone', '--offline'),
    install('--package', 'foo', '--offline'),
    install('--package', 'nowhere'),
  ])
  expect(yes).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(yes.out)).toMatchObject({
    package: 'foo',
    installs: 'yes',
    channels: [{ channel: 'stable', bundle: 'foo.v1.1.0', objects: [{ kind: 'Deployment' }] }],
  })
  expect(no.code).toBe(1)
  expect(no.out).toContain('No version of lone in channel stable can be installed from this catalog')
  expect(unknown.code).toBe(2)
  expect(unknown.out).toContain('foo, channel stable: foo.v1.1.0: inconclusive')
  expect(absent).toMatchObject({ code: 2, out: '', err: expect.stringContaining('has no package "nowhere"') })
})

test('a bundle that was not opened is inconclusive, in the exit code and in the text', async () => {
  const lone = ['install', 'catalog', '--package', 'lone', '--with', 'rukpak-registry'] as const
  const [closed, opened] = await Promise.all([
    runCatalogBotInDirectory(temporaryDirectory, ...lone, '--offline'),
    runCatalogBotInDirectory(temporaryDirectory, ...lone, '--bundle', 'lone.v1.0.0=lone'),
  ])
  expect(closed.code).toBe(2)
  expect(closed.out).toContain('lone, channel stable: inconclusive')
  expect(closed.out).toMatch(/RukPak registry +unknown/)
  expect(closed.out).not.toMatch(/ok +(?:Every version|OLM v0 unpacks|The catalog runs)/)
  expect(opened.code).toBe(0)
  expect(opened.out).toMatch(/RukPak registry +yes/)
})

test('a catalog with all manifests of the bundle needs no image, and --beside adds another catalog', async () => {
  const objects = [...createSmallBundle('inline.v1.0.0', 'inline')]
    .filter(([path]) => path.startsWith('manifests/'))
    .map(([, bytes]) => ({
      type: 'olm.bundle.object',
      value: { data: Buffer.from(bytes).toString('base64') },
    }))
  const blobs = parseCatalogBlobsFromLines(['inline/stable 1.0.0', 'inline 1.0.0 needs Red'])
  const red = parseCatalogBlobsFromLines(['red/stable 1.0.0', 'red 1.0.0 gives Red'])
  const written = (blobs as Readonly<Record<string, unknown>>[]).map((blob) =>
    blob['schema'] === 'olm.bundle'
      ? { ...blob, image: '', properties: [...(blob['properties'] as object[]), ...objects] }
      : blob,
  )
  const text = (all: readonly unknown[]) => all.map((blob) => JSON.stringify(blob)).join('\n')
  writeTestFile('inline/catalog.json', text(written))
  writeTestFile('red/catalog.json', text(red))
  const install = (...parameters: string[]) =>
    runCatalogBotInDirectory(
      temporaryDirectory,
      'install',
      'inline',
      '--package',
      'inline',
      '--offline',
      ...parameters,
    )
  const [alone, beside] = await Promise.all([
    install(),
    install('--beside', 'others:10=red', '--bundle', 'red.v1.0.0=bundle', '-o', 'json'),
  ])
  expect(alone.code).toBe(1)
  expect(alone.out).toContain('No version of inline in channel stable can be installed from this catalog')
  expect(beside.err).toBe('')
  const { channels } = JSON.parse(beside.out) as InstallReport
  const [channel] = channels
  expect(channel?.comesAlong).toMatchObject([{ name: 'red.v1.0.0', package: 'red' }])
  const stepOf = (wanted: string) => channel?.steps.find(({ id }) => id === wanted)
  expect(stepOf('running')).toMatchObject({ outcome: 'passed' })
  expect(stepOf('unpacking')?.facts).toContain('The catalog contains the manifests of inline.v1.0.0.')
})
