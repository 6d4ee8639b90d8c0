// Compares our renderer and our comparison of CRDs with those of OLM v1. Skipped unless the program is on the PATH: `go
// build -o DIRECTORY/olm-v1-answers` in test/bundle/plain/olm-v1. FUZZ_BUNDLES=5000 runs more cases.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import type { BundleFiles } from '../../../../packages/bundle/src/bundle-files.ts'
import { parseRegistryV1Bundle } from '../../../../packages/bundle/src/plain/registry-v1.ts'
import { renderRegistryV1Objects } from '../../../../packages/bundle/src/plain/render-registry.ts'
import type { PlainManifestRenderOptions } from '../../../../packages/bundle/src/plain/rendering.ts'
import { compareCrds } from '../../../../packages/bundle/src/upgrade/check-crd-upgrade.ts'
import { findMissingProgram } from '../../../left-out.ts'
import { findSharedPath } from '../../../shared-data.ts'
import { installBundleArbitrary } from './random-install-bundle.ts'
import {
  queryOlmV1,
  findJsonDifference,
  sortKubernetesObjects,
  olmV1Program,
  type OlmV1Response,
} from './olm-v1.ts'
import { crdArbitrary } from './random-crd.ts'
import { createSelfRemovingDirectory } from '../../../temporary-directory.ts'

const sharedBundlesDirectory = findSharedPath('bundles')
const generatedBundleCount = Number(process.env['FUZZ_BUNDLES'] ?? 300)
const temporaryDirectory = createSelfRemovingDirectory('catalog-bot-render')

/** Every install mode and every provider. */
const plainManifestRenderOptionSets: readonly PlainManifestRenderOptions[] = [
  { installNamespace: 'operators', certificates: 'cert-manager' },
  { installNamespace: 'operators', certificates: 'openshift-service-ca', watchNamespaces: ['operators'] },
  { installNamespace: 'operators', certificates: 'none', watchNamespaces: ['a'] },
  { installNamespace: 'operators', certificates: 'cert-manager', watchNamespaces: ['a', 'b'] },
]

interface BundleRenderCase {
  readonly directory: string
  readonly options: PlainManifestRenderOptions
}

function compareRenderingWithOlmV1(
  { directory, options }: BundleRenderCase,
  theirs: OlmV1Response,
): string | undefined {
  const loaded = parseRegistryV1Bundle(readBundleFiles(directory))
  const ours = loaded.bundle
    ? renderRegistryV1Objects(loaded.bundle, options)
    : { objects: [], rejections: loaded.rejections }
  const message = ours.rejections.map((rejection) => rejection.message).join('\n')
  // If OLM v1 cannot read a bundle, only that fact is compared, because the message is Go's.
  if (theirs.error.startsWith('load: ') && !loaded.bundle) return undefined
  if (theirs.error !== message) return `theirs: ${theirs.error}, ours: ${message}`
  return findJsonDifference(
    sortKubernetesObjects(ours.objects.map(({ manifest }) => manifest)),
    sortKubernetesObjects(theirs.objects ?? []),
    directory,
  )
}

function readBundleFiles(directory: string): BundleFiles {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(directory.length + 1), new Uint8Array(readFileSync(path))]),
  )
}

function findRenderDifferences(cases: readonly BundleRenderCase[]): readonly string[] {
  const answers = queryOlmV1(cases.map(({ directory, options }) => ({ directory, ...options })))
  return cases.flatMap((one, index) => compareRenderingWithOlmV1(one, answers[index] as OlmV1Response) ?? [])
}

const describeIfOlmV1Installed = findMissingProgram(olmV1Program) === undefined ? describe : describe.skip

describeIfOlmV1Installed('compared with OLM v1', () => {
  test('every published bundle renders to the same objects, or is rejected with the same message', () => {
    const directories =
      sharedBundlesDirectory === undefined ? [] : findBundleDirectories(sharedBundlesDirectory)
    const cases = directories.flatMap((directory) =>
      plainManifestRenderOptionSets.map((options) => ({ directory, options })),
    )
    expect(findRenderDifferences(cases)).toEqual([])
  }, 600_000)

  test('generated bundles with every feature render or are rejected the same way', () => {
    const shapes = fc.sample(installBundleArbitrary, generatedBundleCount)
    const cases = shapes.map((files, index): BundleRenderCase => {
      const directory = join(temporaryDirectory, String(index))
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content))
      }
      return {
        directory,
        options: plainManifestRenderOptionSets[
          index % plainManifestRenderOptionSets.length
        ] as PlainManifestRenderOptions,
      }
    })
    expect(findRenderDifferences(cases)).toEqual([])
  }, 600_000)

  test('upgrades of CRDs break for the same reasons', () => {
    const pairs = fc.sample(fc.tuple(crdArbitrary, crdArbitrary), generatedBundleCount)
    const answers = queryOlmV1(pairs.map(([old, next]) => ({ old: [old], new: [next] })))
    const wrong = pairs.flatMap(([old, next], index) => {
      const ours = compareCrds(old, next, ['v1']).map(({ message }) => normalizeOlmV1Message(message))
      const theirs = (answers[index]?.error ?? '')
        .split('\n')
        .flatMap(parseOlmV1Message)
        .filter((message) => ours.includes(message) || !dependsOnGoMapOrder(message))
      const [a, b] = [[...new Set(ours)].sort(), [...new Set(theirs)].sort()]
      const only = (these: readonly string[], those: readonly string[]) =>
        these.filter((one) => !those.includes(one))
      return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ ours: only(a, b), theirs: only(b, a) }]
    })
    expect(wrong).toEqual([])
  }, 600_000)
})

/** OLM v1 prints one message per line; the first starts with the name of the definition. */
function parseOlmV1Message(line: string): readonly string[] {
  const message = line.replace(/^validating upgrade for CRD "[^"]*": /, '')
  return message === '' ? [] : [normalizeOlmV1Message(message)]
}

/**
 * OLM v1 recognizes an existing problem between two versions by its message, which lists names in random order. With
 * several names it may not recognize the problem.
 */
function dependsOnGoMapOrder(message: string): boolean {
  return / -> .*new required fields: \S+ \S/.test(message)
}

/** Go prints schemas as structs, names in any order, and changes in a separate notation. */
function normalizeOlmV1Message(message: string): string {
  return message
    .replace(/(unhandled changes found).*/s, '$1')
    .replace(/(oneOf (?:constraint|schemas)[^:]*|allowed oneOf schemas \w+):?.*/s, '$1')
    .replace(
      /(new required fields: )\[(.*)\]/,
      (_all, before: string, names: string) => before + names.split(' ').sort().join(' '),
    )
}

function findBundleDirectories(root: string): readonly string[] {
  return listSubdirectories(root).flatMap((name) => listSubdirectories(name))
}

function listSubdirectories(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()
}
