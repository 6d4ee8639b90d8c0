// Our renderer and our comparison of CRDs beside OLM v1's own. Left out where that was not built:
// go build -o DIRECTORY/olm-v1-answers in test/bundle/plain/olm-v1, with DIRECTORY on the PATH. FUZZ_BUNDLES=5000 tries more.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import fc from '../../seeded.ts'
import type { BundleFiles } from '../../../src/bundle/bundle-files.ts'
import { loadRegistryV1 } from '../../../src/bundle/plain/registry-v1.ts'
import { renderRegistry } from '../../../src/bundle/plain/render-registry.ts'
import type { RenderOptions } from '../../../src/bundle/plain/rendering.ts'
import { compareCrds } from '../../../src/bundle/upgrade/compare-crds.ts'
import { missingProgram } from '../../left-out.ts'
import { sharedPath } from '../../shared.ts'
import { installShape } from './install-shapes.ts'
import { askOlmV1, difference, inOrder, olmV1, type Answer } from './olm-v1.ts'
import { randomCrd } from './random-crd.ts'

const shared = sharedPath('bundles')
const generated = Number(process.env['FUZZ_BUNDLES'] ?? 300)
const folder = mkdtempSync(join(tmpdir(), 'catalog-bot-render-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = {
  env: [{ name: 'A', value: 'set' }, { name: 'NEW' }],
  envFrom: [{ configMapRef: { name: 'settings' } }],
  volumes: [{ name: 'data', emptyDir: {} }],
  volumeMounts: [{ name: 'data', mountPath: '/x' }],
  tolerations: [{ key: 'a', operator: 'Exists' }, { operator: 'Exists' }],
  resources: { limits: { cpu: '1' } },
  nodeSelector: { disk: 'fast' },
  affinity: {
    nodeAffinity: {},
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'host' }] },
  },
  annotations: { a: 'config', c: 'config' },
}

/** Every install mode, every provider, and a configuration for all deployments. */
const choices: readonly RenderOptions[] = [
  { installNamespace: 'operators', certificates: 'cert-manager' },
  { installNamespace: 'operators', certificates: 'openshift-service-ca', watchNamespaces: ['operators'] },
  { installNamespace: 'operators', certificates: 'none', watchNamespaces: ['a'], deploymentConfig: config },
  { installNamespace: 'operators', certificates: 'cert-manager', watchNamespaces: ['a', 'b'] },
]

interface Case {
  readonly directory: string
  readonly options: RenderOptions
}

function compare({ directory, options }: Case, theirs: Answer): string | undefined {
  const loaded = loadRegistryV1(filesOf(directory))
  const ours = loaded.bundle
    ? renderRegistry(loaded.bundle, options)
    : { objects: [], refusals: loaded.refusals }
  const message = ours.refusals.map((refusal) => refusal.message).join('\n')
  // Of what they cannot read, only that they cannot is compared: the words are Go's.
  if (theirs.error.startsWith('load: ') && !loaded.bundle) return undefined
  if (theirs.error !== message) return `theirs: ${theirs.error}, ours: ${message}`
  return difference(
    inOrder(ours.objects.map(({ manifest }) => manifest)),
    inOrder(theirs.objects ?? []),
    directory,
  )
}

function filesOf(directory: string): BundleFiles {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(directory.length + 1), new Uint8Array(readFileSync(path))]),
  )
}

function differences(cases: readonly Case[]): readonly string[] {
  const answers = askOlmV1(cases.map(({ directory, options }) => ({ directory, ...options })))
  return cases.flatMap((one, index) => compare(one, answers[index] as Answer) ?? [])
}

const describeWhereBuilt = missingProgram(olmV1) === undefined ? describe : describe.skip

describeWhereBuilt('beside OLM v1', () => {
  test('every published bundle renders to the same objects, or is refused in the same words', () => {
    const directories = shared === undefined ? [] : bundlesBelow(shared)
    const cases = directories.flatMap((directory) => choices.map((options) => ({ directory, options })))
    expect(differences(cases)).toEqual([])
  }, 600_000)

  test('so do bundles with every feature of the format', () => {
    const shapes = fc.sample(installShape, generated)
    const cases = shapes.map((files, index): Case => {
      const directory = join(folder, String(index))
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content))
      }
      return { directory, options: choices[index % choices.length] as RenderOptions }
    })
    expect(differences(cases)).toEqual([])
  }, 600_000)

  test('upgrades of CRDs break for the same reasons', () => {
    const pairs = fc.sample(fc.tuple(randomCrd, randomCrd), generated)
    const answers = askOlmV1(pairs.map(([old, next]) => ({ old: [old], new: [next] })))
    const wrong = pairs.flatMap(([old, next], index) => {
      const ours = compareCrds(old, next, ['v1']).map(({ message }) => comparable(message))
      const theirs = (answers[index]?.error ?? '')
        .split('\n')
        .flatMap(theirMessage)
        .filter((message) => ours.includes(message) || !isByChance(message))
      const [a, b] = [[...new Set(ours)].sort(), [...new Set(theirs)].sort()]
      const only = (these: readonly string[], those: readonly string[]) =>
        these.filter((one) => !those.includes(one))
      return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ ours: only(a, b), theirs: only(b, a) }]
    })
    expect(wrong).toEqual([])
  }, 600_000)
})

/** One of theirs a line, behind the name of the definition on the first. */
function theirMessage(line: string): readonly string[] {
  const message = line.replace(/^validating upgrade for CRD "[^"]*": /, '')
  return message === '' ? [] : [comparable(message)]
}

/**
 * OLM v1 knows an old problem between two versions by its words, and those have names in whatever order: with several it
 * may not know it again.
 */
function isByChance(message: string): boolean {
  return / -> .*new required fields: \S+ \S/.test(message)
}

/** Go prints schemas as its structs, lists of names in any order, and what changed in a notation of its own. */
function comparable(message: string): string {
  return message
    .replace(/(unhandled changes found).*/s, '$1')
    .replace(/(oneOf (?:constraint|schemas)[^:]*|allowed oneOf schemas \w+):?.*/s, '$1')
    .replace(
      /(new required fields: )\[(.*)\]/,
      (_all, before: string, names: string) => before + names.split(' ').sort().join(' '),
    )
}

function bundlesBelow(root: string): readonly string[] {
  return foldersIn(root).flatMap((name) => foldersIn(name))
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()
}
