import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readRegistryBundle } from '../../src/bundle/registry-bundle.ts'
import { renderBundle, type OlmBundle } from '../../src/bundle/render-bundle.ts'
import { bundleFiles, crd, shapes } from './bundle-shapes.ts'

const hasOpm = spawnSync('opm', ['version']).status === 0
if (!hasOpm)
  console.warn('left out: comparing rendered bundles with opm render, because opm is not installed')

const names = Object.keys(shapes)
// opm's migration reads the CSV with a type that wants the release as text, and gives up on the whole run.
const cannotMigrate = 'release-as-number'
const imageOf = (name: string) => `quay.io/test/${name}:v1`

function ours(name: string, image: string, csvMetadata: boolean): OlmBundle {
  const { bundle, problem } = readRegistryBundle(bundleFiles(name, shapes[name]))
  if (!bundle) throw new Error(problem)
  return renderBundle(bundle, image, { csvMetadata })
}

// Between entries of one image opm's order is by chance.
function settled(blob: OlmBundle): OlmBundle {
  const relatedImages =
    blob.relatedImages &&
    [...blob.relatedImages].sort((a, b) => (a.image + ' ' + a.name < b.image + ' ' + b.name ? -1 : 1))
  return JSON.parse(JSON.stringify({ ...blob, relatedImages })) as OlmBundle
}

;(hasOpm ? describe : describe.skip)('a rendered bundle is what opm render gives', () => {
  let folder: string
  const theirs = new Map<string, OlmBundle>()
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bundles-'))
    for (const name of names)
      for (const [path, bytes] of bundleFiles(name, shapes[name])) {
        mkdirSync(dirname(join(folder, name, path)), { recursive: true })
        writeFileSync(join(folder, name, path), bytes)
      }
    const render = (mode: string, shown: readonly string[], ...options: string[]) => {
      const text = execFileSync(
        'opm',
        ['render', '-o', 'json', ...options, ...shown.map((name) => join(folder, name))],
        {
          encoding: 'utf8',
          maxBuffer: 1 << 26,
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      )
      for (const blob of text.split(/^(?=\{$)/m)) {
        const parsed = JSON.parse(blob) as OlmBundle
        theirs.set(`${mode} ${parsed.package}`, parsed)
      }
    }
    const image = ['--alpha-image-ref-template', 'quay.io/test/{{.Package}}:v1']
    render('plain', names)
    render('image', names, ...image)
    const migratable = names.filter((name) => name !== cannotMigrate)
    render('migrated', migratable, ...image, '--migrate-level', 'bundle-object-to-csv-metadata')
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('for at least twenty shapes', () => {
    expect(names.length).toBeGreaterThanOrEqual(20)
    expect(theirs.size).toBe(names.length * 3 - 1)
  })
  test.each(names)('%s', (name) => {
    expect(settled(ours(name, '', false))).toEqual(settled(theirs.get(`plain ${name}`) as OlmBundle))
    expect(settled(ours(name, imageOf(name), false))).toEqual(
      settled(theirs.get(`image ${name}`) as OlmBundle),
    )
    if (name === cannotMigrate) return
    expect(settled(ours(name, imageOf(name), true))).toEqual(
      settled(theirs.get(`migrated ${name}`) as OlmBundle),
    )
  })
})

describe('what opm refuses', () => {
  test.each<[string, Parameters<typeof bundleFiles>[1], string]>([
    ['no manifests', { files: { 'manifests/csv.yaml': undefined } }, 'no bundle objects found'],
    [
      'no ClusterServiceVersion',
      { files: { 'manifests/csv.yaml': { apiVersion: 'v1', kind: 'ConfigMap' } } },
      'no csv in bundle',
    ],
    [
      'no annotations',
      { files: { 'metadata/annotations.yaml': undefined } },
      'Could not find annotations file',
    ],
    [
      'an owned CRD that is not there',
      { spec: { customresourcedefinitions: { owned: [{ name: 'a.b', version: 'v1', kind: 'A' }] } } },
      "couldn't find a.b v1 A in bundle",
    ],
    [
      'an owned CRD in another version',
      {
        spec: {
          customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v2', kind: 'Foo' }] },
        },
        files: { 'manifests/crd.yaml': crd('foos', 'example.com', 'Foo', ['v1']) },
      },
      "couldn't find",
    ],
  ])('%s', (_name, shape, problem) => {
    expect(readRegistryBundle(bundleFiles('x', shape)).problem).toContain(problem)
  })
})
