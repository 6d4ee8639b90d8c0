// Runs `render` as users do, and compares it with the real opm if installed: catalogs, templates, and bundle images.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { bundleAnnotationKeys } from '../../packages/bundle/src/bundle-metadata.ts'
import { startMockRegistry, type MockRegistry } from '../../sandbox/registry/registry.ts'
import { createBundleFiles } from '../packages/bundle/sample-bundles.ts'
import { runOpm } from '../run-opm.ts'
import { findSharedPath } from '../shared-data.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const temporaryDirectory = createSelfRemovingDirectory('render')
let mockRegistry: MockRegistry
const isOpmInstalled = runOpm(['version']) !== undefined
const testIfOpmInstalled = isOpmInstalled ? test : test.skip
const pathOf = (name: string) => join(temporaryDirectory, name)
const writeTestFile = (name: string, content: string | Uint8Array) =>
  writeFiles(temporaryDirectory, { [name]: content })
const runRender = (name: string, ...more: string[]) =>
  runCatalogBot('render', name, ...more, '--insecure-registry', mockRegistry.host)
/** Runs opm asynchronously, because the registry runs in this process and must not be blocked. */
const renderWithOpm = (...parameters: string[]) =>
  new Promise<string>((resolve) =>
    execFile('opm', [...parameters, '--use-http'], { maxBuffer: 1 << 30 }, (_, out) => resolve(out)),
  )
const imageOf = (version: string) => `${mockRegistry.host}/lantern/bundle:v${version}`

beforeAll(async () => {
  mockRegistry = await startMockRegistry()
  for (const version of ['0.9.0', '1.0.0', '1.1.0']) {
    const files = createBundleFiles('lantern', {
      metadata: { name: `lantern.v${version}` },
      spec: {
        version,
        description: `Light <${version}> & more`,
        icon: [{ base64data: 'PHN2Zy8+', mediatype: 'image/svg+xml' }],
        relatedImages: [{ name: 'b', image: 'example.com/b:1' }],
      },
    })
    mockRegistry.putImage('lantern/bundle', `v${version}`, {
      labels: {
        [bundleAnnotationKeys.mediaType]: 'registry+v1',
        [bundleAnnotationKeys.manifests]: 'manifests/',
        [bundleAnnotationKeys.metadata]: 'metadata/',
        [bundleAnnotationKeys.package]: 'lantern',
        [bundleAnnotationKeys.channels]: 'stable',
      },
      files: Object.fromEntries([...files].map(([name, bytes]) => [name, new TextDecoder().decode(bytes)])),
    })
    writeFiles(join(temporaryDirectory, `bundle-${version}`), files)
  }
  mockRegistry.putImage('lantern/other', 'v1', { labels: {}, files: { 'manifests/a.yaml': 'a: 1' } })
  writeTestFile(
    'catalog/c.yaml',
    `---
schema: olm.bundle
name: a
package: p
image: x/y:1
relatedImages: [{name: z, image: q/z:1}, {name: b, image: q/b:1}, {name: a, image: q/b:1}]
properties:
- {type: olm.bundle.object, value: {data: e30=}}
- {type: olm.package, value: {version: 1.0.0, packageName: p, "10": 1, "9": "<&>"}}
- {type: olm.csv.metadata, value: {}}
---
{schema: olm.package, name: p, defaultChannel: "y", dropped: true}
---
{schema: mine, package: p, 4.10: 4.10}
`,
  )
  const csv = (spec: object) =>
    Buffer.from(
      JSON.stringify({
        kind: 'ClusterServiceVersion',
        apiVersion: 'v1',
        metadata: { labels: { a: 'b' } },
        spec,
      }),
    ).toString('base64')
  const blob = (name: string, image: string, ...objects: string[]) =>
    JSON.stringify({
      schema: 'olm.bundle',
      name,
      package: 'p',
      image,
      properties: [
        ...objects.map((data) => ({ type: 'olm.bundle.object', value: { data } })),
        { type: 'olm.package', value: { packageName: 'p', version: '1.0.0' } },
      ],
    })
  const other = Buffer.from('{"kind":"ConfigMap"}').toString('base64')
  writeTestFile(
    'with-objects/c.json',
    [
      blob(
        'whole',
        'x/y:1',
        other,
        csv({ displayName: 'D', version: '1.0.0', minKubeVersion: '1.20.0' }),
        other,
      ),
      blob('without-image', '', csv({ displayName: 'D' })),
      blob('without-csv', 'x/y:3', other),
      blob('without-objects', 'x/y:4'),
    ].join('\n'),
  )
  writeTestFile('with-broken-csv/c.json', blob('broken', 'x/y:1', csv({ displayName: 1 })))
  const list = (versions: string[]) => versions.map((version) => `\n  - image: ${imageOf(version)}`).join('')
  writeTestFile(
    'semver.yaml',
    `schema: olm.semver\nstable:\n  bundles:${list(['0.9.0', '1.0.0', '1.1.0'])}\n`,
  )
  const channel = (...entries: string[]) =>
    `- {schema: olm.package, name: lantern, defaultChannel: stable}
- {schema: olm.channel, package: lantern, name: stable, entries: [${entries.map((name) => `{name: ${name}}`).join()}]}
`
  writeTestFile(
    'basic.yaml',
    `schema: olm.template.basic\nentries:\n${channel('lantern.v1.0.0')}- {schema: olm.bundle, image: "${imageOf('1.0.0')}"}\n`,
  )
  writeTestFile(
    'substitutes.yaml',
    `schema: olm.template.substitutes
entries:
${channel('lantern.v1.0.0')}- schema: olm.bundle
  name: lantern.v1.0.0
  package: lantern
  image: example.com/lantern:1
  properties: [{type: olm.package, value: {packageName: lantern, version: 1.0.0}}]
substitutions:
- {name: "${imageOf('1.1.0')}", base: lantern.v1.0.0}
`,
  )
})
afterAll(() => mockRegistry.stop())

describe('the output is identical to that of opm for', () => {
  testIfOpmInstalled.each(['json', 'yaml'])('a catalog, as %s', async (format) => {
    const mine = await runRender(pathOf('catalog'), '-o', format)
    expect(mine).toMatchObject({
      code: 0,
      err: '',
      out: await renderWithOpm('render', pathOf('catalog'), '-o', format),
    })
    expect(mine.out).not.toBe('')
  })
  testIfOpmInstalled.each(['json', 'yaml'])('a real catalog, as %s', async (format) => {
    const catalog = findSharedPath('community-operators', 'catalogs', 'v4.16')
    if (catalog === undefined) return
    const mine = await runRender(catalog, '-o', format)
    expect(mine.out === (await renderWithOpm('render', catalog, '-o', format))).toBe(true)
  })
  testIfOpmInstalled.each(['json', 'yaml'])(
    'a catalog and a bundle image migrated, as %s',
    async (format) => {
      const sources = [pathOf('with-objects'), imageOf('1.0.0')]
      const level = ['--migrate-level', 'bundle-object-to-csv-metadata', '-o', format]
      const mine = await runRender(sources[0] ?? '', ...sources.slice(1), ...level)
      expect(mine).toMatchObject({ code: 0, out: await renderWithOpm('render', ...sources, ...level) })
      expect(mine.out.match(/olm\.csv\.metadata/g)).toHaveLength(2)
      expect(await runRender(sources[0] ?? '', ...sources.slice(1), '--migrate', '-o', format)).toEqual(mine)
    },
  )
  testIfOpmInstalled('a bundle directory', async () => {
    const mine = await runRender(pathOf('bundle-1.0.0'))
    expect(mine).toMatchObject({ code: 0, out: await renderWithOpm('render', pathOf('bundle-1.0.0')) })
    expect(mine.out).toContain('lantern.v1.0.0')
  })
  testIfOpmInstalled('bundle images', async () => {
    const mine = await runRender(imageOf('1.0.0'), imageOf('1.1.0'))
    expect(mine).toMatchObject({
      code: 0,
      out: await renderWithOpm('render', imageOf('1.0.0'), imageOf('1.1.0')),
    })
    expect(mine.out).toContain('lantern.v1.1.0')
  })
  testIfOpmInstalled.each(['semver', 'basic', 'substitutes'])('a %s template', async (name) => {
    const mine = await runRender(pathOf(`${name}.yaml`), '-o', 'yaml')
    expect(mine).toMatchObject({
      code: 0,
      err: '',
      out: await renderWithOpm('alpha', 'render-template', name, pathOf(`${name}.yaml`), '-o', 'yaml'),
    })
    expect(mine.out).toContain(
      `image: ${imageOf('1.0.0').replace('1.0.0', name === 'substitutes' ? '1.1.0' : '1.0.0')}`,
    )
  })
})

describe('rendering at a migration level', () => {
  const level = ['--migrate-level', 'bundle-object-to-csv-metadata']
  testIfOpmInstalled.each(['catalog', 'bundle-1.0.0', 'objects'])(
    '%s matches the output of opm',
    async (name) => {
      const whole = await runRender(pathOf('semver.yaml'))
      writeTestFile('objects/catalog.json', whole.out)
      const mine = await runRender(pathOf(name), ...level)
      expect(mine).toMatchObject({
        code: 0,
        err: '',
        out: await renderWithOpm('render', pathOf(name), ...level),
      })
      if (name === 'objects') expect(mine.out).not.toContain('olm.bundle.object')
    },
  )
  test('migrates a ClusterServiceVersion that is stored as YAML', async () => {
    const data = Buffer.from('kind: ClusterServiceVersion\nspec: {version: 1.0.0}\n').toString('base64')
    const properties = [{ type: 'olm.bundle.object', value: { data } }]
    const blob = { schema: 'olm.bundle', name: 'a', package: 'p', image: 'x/y:1', properties }
    writeTestFile('yaml-manifest/c.json', JSON.stringify(blob))
    const { out } = await runRender(pathOf('yaml-manifest'), ...level)
    expect(out).toContain('olm.csv.metadata')
    expect(out).not.toContain('olm.bundle.object')
    if (isOpmInstalled) expect(out).toBe(await renderWithOpm('render', pathOf('yaml-manifest'), ...level))
  })
})

describe('a composite list', () => {
  const published = `schema: olm.package
name: torch
defaultChannel: main
---
schema: olm.channel
name: main
package: torch
entries: [{name: torch.v1}]
`
  const listOf = (...images: string[]) =>
    `name: all\nreferences:\n${images.map((image, at) => `- name: entry-${at}\n  image: ${image}\n`).join('')}`
  const catalogImage = (name: string, label: string, files: Record<string, string>) => {
    mockRegistry.putImage('torch/catalog', name, {
      labels: { 'operators.operatorframework.io.index.configs.v1': label },
      files,
    })
    return `${mockRegistry.host}/torch/catalog:${name}`
  }

  test('combines all its bundles and catalogs into one catalog', async () => {
    const torch = catalogImage('v1', '/configs', {
      'configs/torch/catalog.yaml': published,
      'configs/.indexignore': 'notes.yaml\n',
      'configs/notes.yaml': 'this: is no catalog',
      'bin/opm': 'a program',
    })
    writeTestFile('list.yaml', listOf(imageOf('1.0.0'), torch))
    const mine = await runRender(pathOf('list.yaml'), '-o', 'yaml')
    expect(mine).toMatchObject({ code: 0, err: '' })
    writeTestFile('published/catalog.yaml', published)
    const alone = [
      await runRender(imageOf('1.0.0'), '-o', 'yaml'),
      await runRender(pathOf('published'), '-o', 'yaml'),
    ]
    expect(mine.out).toBe(alone.map(({ out }) => out).join(''))
    expect(mine.out).toContain('name: torch')
  })
  testIfOpmInstalled('with a catalog image matches the output of opm', async () => {
    const torch = catalogImage('v2', 'configs/', { 'configs/torch/catalog.yaml': published })
    expect(await runRender(torch)).toMatchObject({ code: 0, out: await renderWithOpm('render', torch) })
  })
  test('with an image that has no bundle or catalog fails with the cause', async () => {
    writeTestFile('bad-list.yaml', listOf(imageOf('1.0.0'), `${mockRegistry.host}/lantern/other:v1`))
    expect(await runRender(pathOf('bad-list.yaml'))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('reference "entry-1": '),
    })
    writeTestFile('odd-list.yaml', listOf(catalogImage('v3', '/', { a: '' })))
    expect(await runRender(pathOf('odd-list.yaml'))).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('does not name a directory'),
    })
  })
  test('with a missing image is not rendered, and the error names the file, the reference, and the next step', async () => {
    const path = pathOf('gone-list.yaml')
    const gone = `${mockRegistry.host}/acme/extra:1`
    writeTestFile('gone-list.yaml', listOf(imageOf('1.0.0'), gone))
    const { code, err } = await runRender(path)
    expect(code).toBe(2)
    expect(err).toContain(
      `${path}: reference "entry-1" (${gone}): ${mockRegistry.host} doesn't have this image (404`,
    )
    expect(err).toContain('). Correct the reference or push the image.')
  })
})

describe('invalid input', () => {
  testIfOpmInstalled('a CSV that cannot be migrated fails in both, with the same message', async () => {
    const level = ['--migrate-level', 'bundle-object-to-csv-metadata']
    const errorMessage =
      'migrate: json: cannot unmarshal number into Go struct field ClusterServiceVersionSpec.spec.displayName of type string'
    expect(await runRender(pathOf('with-broken-csv'), ...level)).toMatchObject({
      code: 1,
      out: '',
      err: `Error: ${errorMessage}\n`,
    })
    expect(runOpm(['render', pathOf('with-broken-csv'), ...level])).toMatchObject({
      code: 1,
      err: expect.stringContaining(errorMessage),
    })
  })
  test('fails with a message that has the cause', async () => {
    writeTestFile('broken/c.yaml', 'schema: 1')
    expect(await runRender(pathOf('broken'))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^Error: render ".*broken": /),
    })
    writeTestFile('no-template.yaml', 'schema: olm.package')
    expect(await runRender(pathOf('no-template.yaml'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('unknown template schema: olm.package'),
    })
    expect(await runRender(`${mockRegistry.host}/lantern/other:v1`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not a bundle'),
    })
  })
  test('a missing image fails, and a mistyped path is not requested from a registry', async () => {
    expect(await runRender(imageOf('7'))).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('v7'),
    })
    for (const name of ['nowhere', 'no/where', './no.where/x', '../x.y/z'])
      expect(await runRender(name)).toMatchObject({
        code: 2,
        err: expect.stringContaining('neither an existing file or directory nor an image'),
      })
  })
})
