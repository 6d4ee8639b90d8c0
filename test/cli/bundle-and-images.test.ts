import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startMockRegistry } from '../../sandbox/registry/registry.ts'
import { createBundleFiles } from '../packages/bundle/sample-bundles.ts'
import { startScriptedRegistry, type ScriptedRegistry } from '../adapters/registry/scripted-registry.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { runCatalogBot } from './command.ts'
import { writeFiles } from '../write-files.ts'

const checkImages = (name: string, ...more: string[]) =>
  runCatalogBot('images', join(folder, name), '--insecure-registry', scriptedRegistry.host, ...more)

const createCsvSpec = () => ({
  installModes: [{ type: 'AllNamespaces', supported: true }],
  install: { strategy: 'deployment', spec: {} },
})

const folder = createSelfRemovingDirectory('cli')
let scriptedRegistry: ScriptedRegistry
const writeTestFile = (path: string, bytes: Uint8Array | string) => writeFiles(folder, { [path]: bytes })
beforeAll(async () => {
  scriptedRegistry = await startScriptedRegistry()
  scriptedRegistry.add('org/there', '1')
  const modes = createCsvSpec()
  for (const [path, bytes] of createBundleFiles('good', { spec: modes })) writeTestFile(`good/${path}`, bytes)
  const installable = {
    installModes: modes.installModes.map((mode) => ({ ...mode, supported: false })),
    install: modes.install,
  }
  for (const [path, bytes] of createBundleFiles('bad', { spec: installable }))
    writeTestFile(`bad/${path}`, bytes)
  for (const [path, bytes] of createBundleFiles('refused', { spec: { version: 1 } }))
    writeTestFile(`refused/${path}`, bytes)
  for (const [path, bytes] of createBundleFiles('misspelt', {
    files: {
      'manifests/csv.yaml': `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: misspelt.v1.0.0
  annotations: {olm.skiprange: <1.0.0}
spec: {displayName: M, version: 1.0.0, install: {strategy: deployment}, installModes: [{type: AllNamespaces, supported: true}]}
`,
    },
  }))
    writeTestFile(`misspelt/${path}`, bytes)
  const bundle = (name: string, image: string) =>
    `---\nschema: olm.bundle\nname: ${name}\npackage: foo\nimage: ${image}\n`
  writeTestFile(
    'catalog/c.yaml',
    bundle('a', `${scriptedRegistry.host}/org/there:1`) + bundle('b', `${scriptedRegistry.host}/org/gone:1`),
  )
  writeTestFile('whole/c.yaml', bundle('a', `${scriptedRegistry.host}/org/there:1`))
})
afterAll(() => scriptedRegistry.close())

test('a nonexistent path is reported as neither a file, a directory, nor an image reference', async () => {
  const { code, err } = await runCatalogBot('bundle', 'validate', './not-there')
  expect(code).toBe(2)
  expect(err).toContain('"./not-there" is neither an existing file or directory nor an image reference')
})

describe('bundle', () => {
  test('validate passes a good directory and fails a bad one', async () => {
    expect(await runCatalogBot('bundle', 'validate', join(folder, 'good'))).toMatchObject({
      code: 0,
      out: expect.stringContaining('registry+v1, passed'),
    })
    const bad = await runCatalogBot('bundle', 'validate', join(folder, 'bad'), '-o', 'json')
    expect(bad.code).toBe(1)
    expect(JSON.parse(bad.out)).toMatchObject({
      passed: false,
      findings: [{ rule: 'unusable-install-modes' }],
    })
  })
  test('validate opens charts and bundles in images, and compares labels', async () => {
    const images = await startMockRegistry()
    try {
      const chart = 'apiVersion: v2\nname: foo\nversion: 1.0.0\n'
      images.putImage('org/chart', '1', {
        files: { 'foo/Chart.yaml': chart, 'foo/templates/a.yaml': 'a: {{ .Values.a }}' },
      })
      const text = new TextDecoder()
      const files = [...createBundleFiles('good', { spec: createCsvSpec() })].map(([path, bytes]) => [
        path,
        text.decode(bytes),
      ])
      const labels = { 'operators.operatorframework.io.bundle.channels.v1': 'alpha' }
      images.putImage('org/bundle', '1', {
        labels,
        files: Object.fromEntries(files) as Record<string, string>,
      })
      const validate = (name: string) =>
        runCatalogBot(
          'bundle',
          'validate',
          `${images.host}/org/${name}:1`,
          '--insecure-registry',
          images.host,
        )
      expect(await validate('chart')).toMatchObject({
        code: 0,
        out: expect.stringContaining('helm+v3, passed'),
      })
      expect((await validate('bundle')).out).toContain('[labels-disagree]')
      expect((await validate('none')).code).toBe(2)
    } finally {
      await images.stop()
    }
  })
  test('validate shows the location, the message, and the source line', async () => {
    const { out } = await runCatalogBot('bundle', 'validate', join(folder, 'misspelt'))
    expect(out).toContain('manifests/csv.yaml:5:17: error: OLM ignores the annotation olm.skiprange')
    expect(out).toContain('5 |   annotations: {olm.skiprange: <1.0.0}')
    expect(out).toMatch(/misspelt: registry\+v1, failed/)
  })
  test('validate reports the message of opm if opm rejects the bundle', async () => {
    const { code, out } = await runCatalogBot('bundle', 'validate', join(folder, 'refused'), '-o', 'json')
    expect({ code, ...JSON.parse(out) }).toMatchObject({
      code: 1,
      passed: false,
      message: 'failed to derive properties: json: cannot unmarshal number into Go value of type string',
    })
  })
  test('validate reports values of a wrong type, as operator-sdk does', async () => {
    const { install } = createCsvSpec()
    const spec = {
      ...install.spec,
      clusterPermissions: [{ serviceAccountName: 'a', rules: [{ verbs: 'get' }] }],
    }
    for (const [path, bytes] of createBundleFiles('mistyped', {
      spec: { ...createCsvSpec(), install: { ...install, spec } },
    }))
      writeTestFile(`mistyped/${path}`, bytes)
    const { code, out } = await runCatalogBot('bundle', 'validate', join(folder, 'mistyped'))
    expect(code).toBe(1)
    expect(out).toContain('rules[0].verbs is the string "get", but Kubernetes expects a list')
  })
  test('validate runs only the requested suites, and rejects an unknown one', async () => {
    const rulesOf = async (...more: string[]) => {
      const { out } = await runCatalogBot('bundle', 'validate', join(folder, 'good'), '-o', 'json', ...more)
      return (JSON.parse(out) as { findings: { rule: string }[] }).findings.map(({ rule }) => rule)
    }
    expect(await rulesOf()).toEqual([])
    expect(await rulesOf('--suite', 'operatorhubv2')).toContain('no-provider')
    expect(await rulesOf('--suite', 'operatorframework')).toEqual(
      expect.arrayContaining(['no-icon', 'no-provider']),
    )
    expect(await runCatalogBot('bundle', 'validate', join(folder, 'good'), '--suite', 'good')).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown suite "good"'),
    })
  })
  test('render prints the blob', async () => {
    expect(JSON.parse((await runCatalogBot('bundle', 'render', join(folder, 'good'))).out)).toMatchObject({
      schema: 'olm.bundle',
      name: 'good.v1.0.0',
      image: '',
    })
  })
})

describe('images', () => {
  test('reports missing images, summarizes by registry, and resumes from saved answers', async () => {
    const answers = join(folder, 'answers')
    const first = await checkImages('catalog', '--resume', answers)
    expect(first).toMatchObject({ code: 1, err: '' })
    expect(first.out).toContain(`missing: ${scriptedRegistry.host}/org/gone:1`)
    expect(first.out).toMatch(/: 2 \((?:1 ok, 1 missing|1 missing, 1 ok)\)/)
    expect(readFileSync(answers, 'utf8').trim().split('\n')).toHaveLength(2)
    const requestsBefore = scriptedRegistry.requests.length
    await checkImages('catalog', '--resume', answers)
    expect(scriptedRegistry.requests).toHaveLength(requestsBefore)
  })
  test('an image without an answer from its registry does not pass', async () => {
    writeTestFile('away/catalog.json', JSON.stringify({ schema: 'olm.bundle', name: 'a.v1', package: 'a', image: 'localhost:1/org/a:1' })) // prettier-ignore
    const ran = await runCatalogBot('images', join(folder, 'away'), '--insecure-registry', 'localhost:1')
    expect(ran).toMatchObject({ code: 2, out: expect.stringContaining('unknown: localhost:1/org/a:1') })
  })
  test('passes if all images exist, and fails for a nonexistent directory', async () => {
    expect((await checkImages('whole')).code).toBe(0)
    expect((await runCatalogBot('images', join(folder, 'nowhere'))).code).toBe(2)
  })
})

test('escape codes in a catalog or an argument do not reach the terminal', async () => {
  const image = `${scriptedRegistry.host}/org/\u001b[2Jgone`
  writeTestFile(
    'hostile/catalog.json',
    JSON.stringify({ schema: 'olm.bundle', name: 'a.v1', package: 'a', image }),
  )
  const { out } = await checkImages('hostile')
  expect(out).toContain('malformed: ')
  expect(out).toContain('\\u{1b}[2J')
  const { code, err } = await runCatalogBot('bundle', 'validate', `${folder}/\u001b[2Jnowhere`)
  expect(code).toBe(2)
  expect(`${out}${err}`).not.toContain('\u001b')
})
