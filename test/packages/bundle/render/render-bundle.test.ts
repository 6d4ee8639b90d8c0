import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import { readRegistryBundle } from '../../../../packages/bundle/src/registry-bundle.ts'
import {
  findOpmMigrationError,
  renderBundle,
  type OlmBundleBlob,
} from '../../../../packages/bundle/src/render/render-bundle.ts'
import type { BundleFiles } from '../../../../packages/bundle/src/bundle-files.ts'
import { findMissingProgram } from '../../../left-out.ts'
import { createBundleFiles, createCrd, sampleBundles } from '../sample-bundles.ts'
import { bundleArbitrary } from '../random-bundle.ts'
import { createSelfRemovingDirectory } from '../../../temporary-directory.ts'
import { writeFiles } from '../../../write-files.ts'

const isOpmInstalled = findMissingProgram('opm') === undefined

const sampleBundleNames = Object.keys(sampleBundles)
// opm's migration reads the CSV with a type that requires a string as release, and aborts the entire run.
const unmigratableBundleName = 'release-as-number'
const formatTestImageName = (name: string) => `quay.io/test/${name}:v1`

function renderBundleBlob(name: string, image: string, csvMetadata: boolean): OlmBundleBlob {
  const { bundle, problem } = readRegistryBundle(createBundleFiles(name, sampleBundles[name]))
  if (!bundle) throw new Error(problem)
  return renderBundle(bundle, image, { csvMetadata })
}

/** Renders the files with opm, and migrates them if there is an image. */
function renderBundleWithOpm(files: BundleFiles, image = ''): { blob?: OlmBundleBlob; error?: string } {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  try {
    writeFiles(folder, files)
    const migration = [
      '--alpha-image-ref-template',
      image,
      '--migrate-level',
      'bundle-object-to-csv-metadata',
    ]
    const run = spawnSync('opm', ['render', folder, ...(image === '' ? [] : migration)], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, HELP_ALPHA: 'true' },
    })
    // opm renders a bundle without a package, but omits it from the output.
    if (run.status === 0 && run.stdout === '') return {}
    if (run.status === 0) return { blob: JSON.parse(run.stdout) as OlmBundleBlob }
    const errorMatch = /^[\d/]+ [\d:]+ (?:render reference "[^"]*": )?(?<error>(?:.|\n)*)/m.exec(
      run.stderr.slice(findOpmFatalErrorOffset(run.stderr)),
    )
    // For some mistakes opm prints the entire document with a marker.
    return {
      error:
        errorMatch?.groups?.error?.trimEnd().replace(/ at offset \d+ \(indicated by <==\)(?:.|\n)*$/, '') ??
        run.stderr,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Where opm's final error starts, after its warnings. */
function findOpmFatalErrorOffset(stderr: string): number {
  return Math.max(0, stderr.search(/^[\d/]+ [\d:]+ (?:render reference |migrate: )/m))
}

// opm orders the entries of one image randomly.
function sortRelatedImages(blob: OlmBundleBlob): OlmBundleBlob {
  const relatedImages =
    blob.relatedImages &&
    [...blob.relatedImages].sort((a, b) => (a.image + ' ' + a.name < b.image + ' ' + b.name ? -1 : 1))
  return JSON.parse(JSON.stringify({ ...blob, relatedImages })) as OlmBundleBlob
}

;(isOpmInstalled ? describe : describe.skip)('a rendered bundle is what opm render gives', () => {
  const folder = createSelfRemovingDirectory('bundles')
  const theirs = new Map<string, OlmBundleBlob>()
  beforeAll(() => {
    for (const name of sampleBundleNames)
      writeFiles(join(folder, name), createBundleFiles(name, sampleBundles[name]))
    const render = (mode: string, shown: readonly string[], ...options: string[]) => {
      const text = execFileSync(
        'opm',
        ['render', '-o', 'json', ...options, ...shown.map((name) => join(folder, name))],
        { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] },
      )
      for (const blob of text.split(/^(?=\{$)/m)) {
        const parsed = JSON.parse(blob) as OlmBundleBlob
        theirs.set(`${mode} ${parsed.package}`, parsed)
      }
    }
    const image = ['--alpha-image-ref-template', 'quay.io/test/{{.Package}}:v1']
    render('plain', sampleBundleNames)
    render('image', sampleBundleNames, ...image)
    const migratable = sampleBundleNames.filter((name) => name !== unmigratableBundleName)
    render('migrated', migratable, ...image, '--migrate-level', 'bundle-object-to-csv-metadata')
  })

  test('for at least twenty shapes', () => {
    expect(sampleBundleNames.length).toBeGreaterThanOrEqual(20)
    expect(theirs.size).toBe(sampleBundleNames.length * 3 - 1)
  })
  test.each(sampleBundleNames)('%s', (name) => {
    expect(sortRelatedImages(renderBundleBlob(name, '', false))).toEqual(
      sortRelatedImages(theirs.get(`plain ${name}`) as OlmBundleBlob),
    )
    expect(sortRelatedImages(renderBundleBlob(name, formatTestImageName(name), false))).toEqual(
      sortRelatedImages(theirs.get(`image ${name}`) as OlmBundleBlob),
    )
    if (name === unmigratableBundleName) return
    expect(sortRelatedImages(renderBundleBlob(name, formatTestImageName(name), true))).toEqual(
      sortRelatedImages(theirs.get(`migrated ${name}`) as OlmBundleBlob),
    )
  })
})

describe('what opm rejects is rejected with the same message', () => {
  const spec = (value: unknown) => ({ csv: { spec: value } })
  const crdAs = (change: object) => ({
    files: { 'manifests/crd.yaml': { ...createCrd('foos', 'example.com', 'Foo', ['v1']), ...change } },
  })
  const listed = (file: 'dependencies' | 'properties', entry: object) => ({
    files: { [`metadata/${file}.yaml`]: { [file]: [entry] } },
  })
  const apis = (text: string) => `error checking provided apis in bundle x.v1.0.0: ${text}`
  const properties = (text: string) => `get properties for bundle "x.v1.0.0": ${text}`
  test.each<[string, Parameters<typeof createBundleFiles>[1], string]>([
    ['no manifests', { files: { 'manifests/csv.yaml': '# nothing\n' } }, 'no bundle objects found'],
    [
      'no ClusterServiceVersion',
      { files: { 'manifests/csv.yaml': { apiVersion: 'v1', kind: 'ConfigMap' } } },
      'no csv in bundle',
    ],
    [
      'no annotations',
      { files: { 'metadata/annotations.yaml': '# nothing\n' } },
      'Could not find annotations file',
    ],
    [
      'a CSV without a spec',
      spec(undefined),
      apis(
        'error getting apiservice definitions: error unmarshaling into object map: unexpected end of JSON input',
      ),
    ],
    [
      'a spec that is a string',
      spec('text'),
      apis(
        'error getting apiservice definitions: error unmarshaling into object map: json: cannot unmarshal string into Go value of type map[string]*json.RawMessage',
      ),
    ],
    [
      'an owned CRD that does not exist',
      { spec: { customresourcedefinitions: { owned: [{ name: 'a.b', version: 'v1', kind: 'A' }] } } },
      apis("couldn't find b/v1/A (a) in bundle. found: map[]"),
    ],
    [
      'an owned CRD in another version',
      {
        spec: {
          customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v9', kind: 'Foo' }] },
        },
        files: {
          'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v2', 'v1']),
          'manifests/other.yaml': createCrd('as', 'example', 'A', ['v1']),
        },
      },
      apis(
        "couldn't find example.com/v9/Foo (foos) in bundle. found: map[example/v1/A (as):{} example.com/v1/Foo (foos):{} example.com/v2/Foo (foos):{}]",
      ),
    ],
    [
      'an owned CRD without a group',
      { spec: { customresourcedefinitions: { owned: [{ name: 'foos' }] } } },
      apis("couldn't parse plural.group from crd name: foos"),
    ],
    [
      'a required CRD without a group',
      { spec: { customresourcedefinitions: { required: [{ name: 'foos' }] } } },
      properties("get required apis: couldn't parse plural.group from crd name: foos"),
    ],
    [
      'a version that is a number',
      { spec: { version: 1 } },
      'failed to derive properties: json: cannot unmarshal number into Go value of type string',
    ],
    [
      'a release that is a boolean',
      { spec: { release: true } },
      'failed to derive properties: release field must be a string or number',
    ],
    [
      'a CRD of the wrong shape',
      crdAs({ spec: { versions: [{ name: 'v1', served: 'yes' }] } }),
      'error decoding v1 CRD: json: cannot unmarshal string into Go struct field CustomResourceDefinitionVersion.spec.versions.served of type bool',
    ],
    [
      'a related image that is not a string',
      { spec: { relatedImages: [{ image: 1 }] } },
      'get related images for bundle "x.v1.0.0": json: cannot unmarshal number into Go struct field RelatedImage.image of type string',
    ],
    [
      'a dependency with an invalid GVK',
      listed('dependencies', { type: 'olm.gvk', value: 'K' }),
      properties(
        'parse property[0] of type "olm.gvk": json: cannot unmarshal string into Go value of type property.GVK',
      ),
    ],
    [
      'a dependency without a value',
      listed('dependencies', { type: 'olm.package' }),
      properties('parse property[0] of type "olm.package": unexpected end of JSON input'),
    ],
    [
      'an invalid package property',
      listed('properties', { type: 'olm.package', value: { version: 1 } }),
      properties(
        'parse property[0] of type "olm.package": json: cannot unmarshal number into Go struct field Package.version of type string',
      ),
    ],
    [
      'an annotation that is a number',
      { metadata: { annotations: { a: 1 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations of type string',
    ],
  ])('%s', (_name, shape, problem) => {
    const files = createBundleFiles('x', shape)
    expect(readRegistryBundle(files).problem).toBe(problem)
    if (isOpmInstalled) expect(renderBundleWithOpm(files).error).toBe(problem)
  })

  test.each<[string, object, string]>([
    [
      'a number instead of a string',
      { minKubeVersion: 1 },
      'migrate: json: cannot unmarshal number into Go struct field ClusterServiceVersionSpec.spec.minKubeVersion of type string',
    ],
    [
      'a release that is a number',
      { release: 1, minKubeVersion: 1 },
      'migrate: json: cannot unmarshal number into Go struct field ClusterServiceVersionSpec.spec.release of type string',
    ],
    [
      'a release with leading zeros',
      { release: '01' },
      'migrate: Numeric PreRelease version must not contain leading zeroes "01"',
    ],
    ['an empty release', { release: '' }, 'migrate: Prerelease is empty'],
    ['an invalid version', { version: 'one' }, 'migrate: Invalid character(s) found in major number "0one"'],
    [
      'a short version with a pre-release',
      { version: '1.0-rc' },
      'migrate: Short version cannot contain PreRelease/Build meta data',
    ],
  ])('only when migrating: %s', (_name, spec, problem) => {
    const files = createBundleFiles('x', { spec: spec as Record<string, unknown> })
    const { bundle } = readRegistryBundle(files)
    if (!bundle) throw new Error('no bundle')
    expect(findOpmMigrationError(bundle, 'quay.io/a/b:1')).toBe(problem)
    expect(findOpmMigrationError(bundle, '')).toBeUndefined()
    if (isOpmInstalled) expect(renderBundleWithOpm(files, 'quay.io/a/b:1').error).toBe(problem)
  })
})

;(isOpmInstalled ? describe : describe.skip)('bundles of random shapes', () => {
  const unmigrated = { seed: 20_260_821, numRuns: 40 }
  test.each([
    ['as they are', ''],
    ['migrated', 'quay.io/test/image:v1'],
  ])('%s are rendered or rejected as by opm', (_how, image) => {
    for (const texts of fc.sample(bundleArbitrary, unmigrated)) {
      const files = new Map(
        Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]),
      )
      const { bundle, problem } = readRegistryBundle(files)
      const rejection = problem ?? (bundle && findOpmMigrationError(bundle, image))
      const theirs = renderBundleWithOpm(files, image)
      const context = JSON.stringify(texts)
      // opm names one of several missing CRDs at random.
      const settledError = (text: string | undefined) => text?.replace(/couldn't find \S+ \([^)]*\)/, '')
      expect({ context, error: settledError(rejection) }).toEqual({
        context,
        error: settledError(theirs.error),
      })
      if (!bundle || rejection !== undefined || !theirs.blob) continue
      const ours = renderBundle(bundle, image, { csvMetadata: true })
      expect({ context, blob: sortRelatedImages(ours) }).toEqual({
        context,
        blob: sortRelatedImages(theirs.blob),
      })
    }
  })
})
