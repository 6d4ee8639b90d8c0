// The public API for programs that import the package.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { diffCatalogs, drawGraph, readCatalog, validateDirectory } from '../src/index.ts'
import { createSelfRemovingDirectory } from './temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('api')
beforeAll(() => {
  for (const [name, text] of Object.entries(catalogTexts)) {
    mkdirSync(join(temporaryDirectory, name, 'cat'), { recursive: true })
    writeFileSync(join(temporaryDirectory, name, 'cat', 'catalog.yaml'), text)
  }
})
const resolveTestFilePath = (name: string) => join(temporaryDirectory, name)

const createBundleYaml = (version: string) => `---
schema: olm.bundle
package: cat
name: cat.v${version}
image: quay.io/cats/cat:v${version}
properties:
  - type: olm.package
    value: {packageName: cat, version: ${version}}
`
const packageAndChannelYaml =
  '---\nschema: olm.package\nname: cat\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: cat\nname: stable\n'
const catalogTexts = {
  one: `${packageAndChannelYaml}entries:\n  - name: cat.v1.0.0\n${createBundleYaml('1.0.0')}`,
  two: `${packageAndChannelYaml}entries:\n  - name: cat.v1.0.0\n  - {name: cat.v1.1.0, replaces: cat.v1.0.0}\n${createBundleYaml('1.0.0')}${createBundleYaml('1.1.0')}`,
  broken: `${packageAndChannelYaml}entries:\n  - name: cat.v1.0.0\n  - name: cat.v1.1.0\n${createBundleYaml('1.0.0')}${createBundleYaml('1.1.0')}`,
}

describe('a directory', () => {
  test('that opm accepts passes, and warnings of our own rules do not change that', () => {
    expect(validateDirectory(resolveTestFilePath('one'), { profile: 'opm' })).toEqual({
      passed: true,
      findings: [],
    })
    const { passed, findings } = validateDirectory(resolveTestFilePath('one'))
    expect(passed).toBe(true)
    expect(findings.map(({ rule }) => rule)).toContain('image-by-tag')
  })

  test('is validated with the severities that the caller sets', () => {
    const rules = { 'image-by-tag': 'error' } as const
    expect(validateDirectory(resolveTestFilePath('one'), { rules }).passed).toBe(false)
    expect(
      validateDirectory(resolveTestFilePath('one'), { rules: { 'image-by-tag': 'off' } }).findings.map(
        ({ rule }) => rule,
      ),
    ).not.toContain('image-by-tag')
  })

  test("that opm rejects fails with opm's message and a finding with a location", () => {
    const { passed, message, findings } = validateDirectory(resolveTestFilePath('broken'), { profile: 'opm' })
    expect(passed).toBe(false)
    expect(message).toContain('multiple channel heads found')
    expect(findings).toEqual([
      expect.objectContaining({
        rule: 'several-heads',
        at: expect.objectContaining({ file: 'cat/catalog.yaml' }),
      }),
    ])
  })

  test('that does not exist throws an error', () => {
    for (const call of [validateDirectory, readCatalog])
      expect(() => call(resolveTestFilePath('none'))).toThrow('no such file')
  })
})

test('a catalog contains the packages and bundles of its files, with their locations', () => {
  const { packages, bundles } = readCatalog(resolveTestFilePath('two'))
  expect(packages).toEqual([expect.objectContaining({ name: 'cat', defaultChannel: 'stable' })])
  expect(bundles.map(({ name, place }) => [name, place.file])).toEqual([
    ['cat.v1.0.0', 'cat/catalog.yaml'],
    ['cat.v1.1.0', 'cat/catalog.yaml'],
  ])
})

describe('the difference between two catalogs', () => {
  test('is returned as data and as text', () => {
    const { packages, text } = diffCatalogs(resolveTestFilePath('one'), resolveTestFilePath('two'))
    expect(packages).toMatchObject([
      { name: 'cat', kind: 'changed', bundles: { added: [{ name: 'cat.v1.1.0', version: '1.1.0' }] } },
    ])
    expect(text).toContain('1.1.0 added to channel stable, replaces 1.0.0')
  })

  test('is empty if they are the same', () => {
    expect(diffCatalogs(resolveTestFilePath('two'), resolveTestFilePath('two')).packages).toEqual([])
  })
})

test('a graph is drawn in each format', () => {
  const catalog = readCatalog(resolveTestFilePath('two'))
  expect(drawGraph(catalog)).toEqual([expect.stringContaining('cat.v1.1.0')])
  expect(drawGraph(catalog, { format: 'svg', packages: ['cat'] })).toEqual([expect.stringMatching(/^<svg /)])
  expect(drawGraph(catalog, { format: 'svg', packages: ['dog'] })).toEqual([])
})
