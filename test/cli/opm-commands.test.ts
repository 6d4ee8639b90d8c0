// The commands with opm's names print the same output as the real opm for the same arguments.
import { describe, expect, jest, test } from '@jest/globals'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { convertTemplate } from '../../src/cli/render.ts'
import { generateDockerfile } from '../../src/cli/generate-dockerfile.ts'
import { initPackage } from '../../src/cli/init.ts'
import { printCatalogObjects } from '../../src/cli/list.ts'
import { renderGraph } from '../../src/cli/graph.ts'
import { runOpm } from '../run-opm.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const createBundleYaml = (version: string) => `---
schema: olm.bundle
package: foo
name: foo.v${version}
image: quay.io/foo/foo:${version}
properties:
  - type: olm.package
    value: {packageName: foo, version: ${version}}
`
const base64Csv = Buffer.from(
  JSON.stringify({
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: 'foo.v1.2.0' },
    spec: { displayName: 'Foo für alle' },
  }),
).toString('base64')

const catalogYaml = `---
schema: olm.package
name: foo
defaultChannel: stable
description: "a <b> & c"
---
schema: olm.channel
package: foo
name: stable
entries:
  - name: foo.v1.0.0
  - name: foo.v1.1.0
    replaces: foo.v1.0.0
    skips: [foo.v0.9.0, foo.v0.9.1]
  - name: foo.v1.2.0
    replaces: foo.v1.1.0
    skips: [foo.v0.9.1]
    skipRange: ">=1.0.0 <1.2.0"
---
schema: olm.channel
package: foo
name: beta
entries:
  - name: foo.v1.2.0
    skips: [foo.v1.1.0]
  - name: foo.v1.1.0
    replaces: foo.v1.0.0
---
schema: olm.deprecations
package: foo
entries:
  - reference: {schema: olm.bundle, name: foo.v1.1.0}
    message: old
${['1.0.0', '1.1.0', '1.2.0'].map(createBundleYaml).join('')}  - type: olm.bundle.object
    value: {data: ${base64Csv}}
---
schema: x.custom
package: foo
b: 1
a: {"10": x, "2": y, z: "<&>", e: 1.5e10}
`

const temporaryDirectory = createSelfRemovingDirectory('opm-commands')
const catalogDirectory = join(temporaryDirectory, 'cat')
const catalogFilePath = join(catalogDirectory, 'catalog.yaml')
mkdirSync(catalogDirectory)
writeFileSync(catalogFilePath, catalogYaml)
writeFileSync(join(temporaryDirectory, 'README.md'), '# Foo\n\nIt foos.\n')
writeFileSync(join(temporaryDirectory, 'icon.png'), Buffer.from('89504e470d0a1a0a0000', 'hex'))

/** The output of a command, and its exit code. */
async function captureCommandOutput(
  run: () => unknown,
): Promise<{ code: unknown; out: string; err: string }> {
  const captured = { out: '', err: '' }
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation(((text: string) => {
      captured.out += text
      return true
    }) as never),
    jest.spyOn(process.stderr, 'write').mockImplementation(((text: string) => {
      captured.err += text
      return true
    }) as never),
  ]
  const before = process.exitCode
  try {
    await run()
    return { code: process.exitCode, ...captured }
  } finally {
    process.exitCode = before
    for (const spy of spies) spy.mockRestore()
  }
}

async function expectSameOutputAsOpm(parameters: readonly string[], run: () => unknown): Promise<string> {
  const ours = await captureCommandOutput(run)
  const theirs = runOpm(parameters)
  if (theirs) expect(ours).toMatchObject({ code: theirs.code, out: theirs.out })
  expect(ours.code).toBe(0)
  return ours.out
}

describe('convert-template', () => {
  test.each([
    ['basic', 'json'],
    ['basic', 'yaml'],
    ['substitutes', 'json'],
    ['substitutes', 'yaml'],
  ] as const)('%s as %s', async (kind, output) => {
    const out = await expectSameOutputAsOpm(
      ['alpha', 'convert-template', kind, catalogFilePath, '-o', output],
      () => convertTemplate(kind, catalogFilePath, { output }),
    )
    expect(out).toContain(`olm.template.${kind}`)
    expect(out.includes('packageName')).toBe(kind === 'substitutes')
  })

  test('rejects an invalid catalog with the message of opm', async () => {
    writeFileSync(join(temporaryDirectory, 'broken.yaml'), 'schema: olm.bundle\nimage: [1]\n')
    const ours = await captureCommandOutput(() =>
      convertTemplate('basic', join(temporaryDirectory, 'broken.yaml'), { output: 'json' }),
    )
    expect(ours).toMatchObject({ code: 1, out: '', err: expect.stringContaining('parse bundle: ') })
    const theirs = runOpm(['alpha', 'convert-template', 'basic', join(temporaryDirectory, 'broken.yaml')])
    if (theirs) expect(ours.err).toContain(/parse bundle: .*/.exec(theirs.err)?.[0])
  })
})

describe('list', () => {
  test.each([
    ['packages', undefined, 'Foo für alle'],
    ['channels', undefined, 'foo.v1.2.0'],
    ['channels', 'foo', 'beta'],
    ['bundles', 'foo', '>=1.0.0 <1.2.0'],
  ] as const)('%s %s', async (kind, name, holds) => {
    const out = await expectSameOutputAsOpm(
      ['alpha', 'list', kind, catalogDirectory, ...(name === undefined ? [] : [name])],
      () => printCatalogObjects(kind, catalogDirectory, name, { output: 'text' }),
    )
    expect(out).toContain(holds)
  })

  test('as JSON is a list of rows', async () => {
    const { out } = await captureCommandOutput(() =>
      printCatalogObjects('bundles', catalogDirectory, 'foo', { output: 'json' }),
    )
    expect((JSON.parse(out) as unknown[])[0]).toEqual({
      package: 'foo',
      channel: 'beta',
      bundle: 'foo.v1.1.0',
      replaces: 'foo.v1.0.0',
      skips: [],
      skipRange: '',
      image: 'quay.io/foo/foo:1.1.0',
    })
  })

  test('rejects an unknown package', async () => {
    expect(
      await captureCommandOutput(() =>
        printCatalogObjects('channels', catalogDirectory, 'bar', { output: 'text' }),
      ),
    ).toEqual({ code: 1, out: '', err: 'Error: package "bar" not found\n' })
  })
})

describe('render-graph', () => {
  test.each([
    ['all', [], {}],
    ['one package', ['-p', 'foo'], { packageName: 'foo' }],
    ['no such package', ['-p', 'bar'], { packageName: 'bar' }],
    ['edges that OLM v0 ignores', ['--draw-v0-semantics'], { drawV0Semantics: true }],
    [
      'from a minimum bundle',
      ['--minimum-edge', 'foo.v1.1.0', '--draw-v0-semantics'],
      { minimumEdge: 'foo.v1.1.0', drawV0Semantics: true },
    ],
  ])('%s', async (_, flags: readonly string[], options) => {
    const out = await expectSameOutputAsOpm(['alpha', 'render-graph', catalogDirectory, ...flags], () =>
      renderGraph([catalogDirectory], options),
    )
    expect(out.includes('linkStyle')).toBe(flags.length === 1 && flags[0] === '--draw-v0-semantics')
    expect(out.includes('foo.v1.0.0')).toBe(!flags.includes('--minimum-edge') && !flags.includes('bar'))
  })

  test('reports an unknown bundle with the message of opm', async () => {
    expect(
      await captureCommandOutput(() => renderGraph([catalogDirectory], { minimumEdge: 'foo.v9' })),
    ).toMatchObject({ code: 1, err: 'Error: unknown minimum edge name: "foo.v9"\n' })
  })
})

describe('init', () => {
  test.each(['json', 'yaml'] as const)('a package as %s', async (output) => {
    const [description, icon] = [join(temporaryDirectory, 'README.md'), join(temporaryDirectory, 'icon.png')]
    const flags = ['-c', 'stable', '-d', description, '-i', icon, '-o', output]
    const out = await expectSameOutputAsOpm(['init', 'foo', ...flags], () =>
      initPackage('foo', { defaultChannel: 'stable', description, icon, output }),
    )
    expect(out).toContain('image/png')
  })

  test('only a name', () => expectSameOutputAsOpm(['init', 'foo'], () => initPackage('foo', {})))

  test('an SVG icon, which opm rejects', async () => {
    const icon = join(temporaryDirectory, 'icon.svg')
    writeFileSync(icon, '<svg xmlns="http://www.w3.org/2000/svg"/>')
    const { out } = await captureCommandOutput(() => initPackage('foo', { icon }))
    expect(JSON.parse(out)).toMatchObject({ icon: { mediatype: 'image/svg+xml' } })
  })
})

test('generate dockerfile writes the same file as opm, and never overwrites one', async () => {
  const order = { baseImage: 'a/b:c', builderImage: 'd/e:f', extraLabels: ['x=y', 'x=z'] }
  const written = join(temporaryDirectory, 'cat.Dockerfile')
  const { err, code } = await captureCommandOutput(() => generateDockerfile(catalogDirectory, order))
  expect({ err, code }).toEqual({ err: `Wrote ${written}\n`, code: 0 })
  expect(() => generateDockerfile(catalogDirectory, order)).toThrow('EEXIST')
  const ours = readFileSync(written, 'utf8')
  expect(ours).toContain('LABEL "x"="z"')
  rmSync(written)
  const theirs = runOpm([
    'generate',
    'dockerfile',
    catalogDirectory,
    '-i',
    'a/b:c',
    '-b',
    'd/e:f',
    '-l',
    'x=y',
    '-l',
    'x=z',
  ])
  if (theirs) expect(ours).toBe(readFileSync(written, 'utf8'))
})
