// Bundles from a pull request to its verdict, with a real repository, real bundle images in a registry, and the
// registry access of the App. Only the store is in memory.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { evaluatePullSnapshot } from '../../src/evaluate/evaluate.ts'
import { createInMemoryCache, noopPullHistoryStore } from '../../src/catalogs/memory-cache.ts'
import { createCatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'
import { createRegistryLookupService, type RegistryLookupService } from '../../src/catalogs/registries.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { defaultBundlePullLimits, type BundlePullBudget } from '../../src/adapters/registry/cached-bundles.ts'
import { buildBundleImage, type OlmBundleBlob } from '../../sandbox/registry/bundle-image.ts'
import { startMockRegistry, type MockRegistry } from '../../sandbox/registry/registry.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import type { OriginFiles } from '../adapters/git/origin.ts'
import { createOwnershipScenario } from '../checks/ownership/ownership-scenario.ts'

const scenario = await createOwnershipScenario('bundles')
const mockRegistry = await startMockRegistry()
const catalogFileReaderPool = createCatalogFileReaderPool(1)
let registries: RegistryLookupService | undefined
afterEach(async () => {
  await registries?.close()
  registries = undefined
})
afterAll(() => Promise.all([scenario.close(), mockRegistry.stop(), catalogFileReaderPool.close()]))

function createBundleBlob(version: string, kind = 'Foo'): Omit<OlmBundleBlob, 'image'> {
  return {
    name: `foo.v${version}`,
    package: 'foo',
    properties: [
      { type: 'olm.package', value: { packageName: 'foo', version } },
      { type: 'olm.gvk', value: { group: 'foo.example.com', kind, version: 'v1' } },
    ],
  }
}
/** Pushes a bundle image with the content of `blob`, and returns its reference by digest. */
const pushBundleImage = (blob: Omit<OlmBundleBlob, 'image'>) =>
  mockRegistry.putImage('foo/bundle', undefined, buildBundleImage({ ...blob, image: '' })).reference
const createValidBundleBlob = (version: string) => ({
  ...createBundleBlob(version),
  image: pushBundleImage(createBundleBlob(version)),
})

/** A catalog file of the package with these bundles in one chain. */
function renderCatalogFile(...blobs: readonly OlmBundleBlob[]): string {
  const entries = blobs.map(({ name }, index) => ({
    name,
    ...(index > 0 && { replaces: blobs[index - 1]?.name }),
  }))
  return [
    { schema: 'olm.package', name: 'foo', defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: 'foo', entries },
    ...blobs.map((blob) => ({ schema: 'olm.bundle', ...blob })),
  ]
    .map((document) => `---\n${JSON.stringify(document, null, 1)}\n`)
    .join('')
}

/** Returns a function that evaluates the change from `base` to `head`. All its calls share one store. */
async function createChangeEvaluator(
  base: OriginFiles,
  head: OriginFiles,
  bundles?: BundlePullBudget,
  environment: Readonly<Record<string, string>> = {},
) {
  const owners: OriginFiles = { 'config.yaml': 'maintainers:\n  - alice\n' }
  const from = scenario.origin.commit({ ...owners, ...base })
  const to = scenario.origin.commit({ ...owners, ...head }, [from])
  await scenario.fetchPull(from, to)
  const store = createInMemoryCache(systemClock)
  registries = await createRegistryLookupService({
    clock: systemClock,
    store,
    environment,
    insecure: [mockRegistry.host],
    ...(bundles && { bundles }),
  })
  const shared = registries
  return async () => {
    mockRegistry.requests.length = 0
    const askRegistries = shared.forEvaluation()
    const { verdict } = await evaluatePullSnapshot(
      createTestPullSnapshot({ author: scenario.fakeAccounts.person('alice'), base: from, head: to }),
      {
        repository: scenario.mirror,
        loader: createCatalogLoader(catalogFileReaderPool, store),
        ask: async (question) => {
          // The images check does not cover the old heads that an install test upgrades from.
          if (question.kind === 'install')
            return { kind: 'unknown', reason: 'nobody installs', retryAfter: 60 }
          return question.kind === 'image' || question.kind === 'bundle'
            ? askRegistries(question)
            : scenario.fakeAccounts.answer(question)
        },
        memory: noopPullHistoryStore,
      },
    )
    const outcome = verdict.outcomes.find(({ check }) => check === 'images')
    if (!outcome) throw new Error('no images')
    return {
      verdict: verdict.kind,
      retryAfter: verdict.retryAfter,
      unanswered: outcome.unanswered,
      findings: outcome.findings,
      rules: outcome.findings.map(({ rule }) => rule),
      layers: mockRegistry.requests.filter(({ kind }) => kind === 'blob').length,
    }
  }
}
const getCatalogPath = (version: string) => `catalogs/${version}/foo/catalog.yaml`

/** Evaluates the addition of a bundle to a catalog that has foo.v1.0.0. */
const createAdditionEvaluator = (added: OlmBundleBlob, environment?: Readonly<Record<string, string>>) =>
  createChangeEvaluator(
    { [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0')) },
    { [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0'), added) },
    undefined,
    environment,
  )

describe('a bundle that a change adds', () => {
  test('passes if its image matches, and is not pulled again', async () => {
    const evaluate = await createAdditionEvaluator(createValidBundleBlob('1.1.0'))
    expect(await evaluate()).toMatchObject({ rules: [], unanswered: [], layers: 2 })
    expect(await evaluate()).toMatchObject({ rules: [], unanswered: [], layers: 0 })
  })
  test('is blocked if its image contains another version, and the finding shows both', async () => {
    const wrong = { ...createBundleBlob('1.1.0'), image: pushBundleImage(createBundleBlob('1.0.9')) }
    const { verdict, findings } = await (await createAdditionEvaluator(wrong))()
    expect(verdict).toBe('blocked')
    expect(findings).toMatchObject([{ rule: 'bundle-not-its-image', at: { file: getCatalogPath('v4.20') } }])
    expect(findings[0]?.what).toMatch(/name is foo\.v1\.1\.0 in the catalog and foo\.v1\.0\.9 in the image/)
  })
  test('is rejected if it has the image of its predecessor', async () => {
    const { image } = createValidBundleBlob('1.0.0')
    const evaluate = await createAdditionEvaluator({ ...createBundleBlob('1.1.0'), image })
    expect((await evaluate()).rules).toEqual(['bundle-not-its-image'])
  })
  test.each<[string, Parameters<MockRegistry['putImage']>[2], string]>([
    [
      'a chart',
      {
        files: { 'Chart.yaml': 'apiVersion: v2\nname: foo\nversion: 1.1.0\n', 'templates/a.yaml': 'a: 1\n' },
      },
      'foreign-bundle-format',
    ],
    [
      'plain manifests',
      { files: { 'manifests/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' } },
      'foreign-bundle-format',
    ],
    ['an operator', { files: { 'usr/bin/operator': 'x' } }, 'unreadable-bundle'],
  ])('is rejected if its image is %s', async (_name, content, rule) => {
    const image = mockRegistry.putImage('foo/other', undefined, content).reference
    const evaluate = await createAdditionEvaluator({ ...createBundleBlob('1.1.0'), image })
    expect((await evaluate()).rules).toEqual([rule])
  })
  test('is inconclusive without a finding while its layers are unavailable', async () => {
    const evaluate = await createAdditionEvaluator(createValidBundleBlob('1.2.0'))
    const restoreRegistry = mockRegistry.fail(({ kind }) => kind === 'blob', {
      status: 404,
      code: 'BLOB_UNKNOWN',
    })
    const { verdict, findings, unanswered } = await evaluate()
    expect([verdict, findings]).toEqual(['unknown', []])
    expect(unanswered).toMatchObject([{ question: expect.stringMatching(/^the content of /) }])
    restoreRegistry()
  })
})

describe('image data in findings about a bundle', () => {
  const wrong = () => ({
    ...createBundleBlob('1.1.0', 'Guess'),
    image: pushBundleImage(createBundleBlob('1.0.9', 'Secret')),
  })
  const credentials = (more: Readonly<Record<string, string>> = {}) => ({
    DOCKER_AUTH_CONFIG: JSON.stringify({ auths: { [mockRegistry.host]: { username: 'u', password: 'p' } } }),
    ...more,
  })
  const shownIn = async (environment: Readonly<Record<string, string>>) => {
    const { verdict, findings } = await (await createAdditionEvaluator(wrong(), environment))()
    return { verdict, text: JSON.stringify(findings) }
  }
  test('is hidden if catalog-bot uses credentials, and the verdict is blocked anyway', async () => {
    const { verdict, text } = await shownIn(credentials())
    expect(verdict).toBe('blocked')
    expect(text).toMatch(/name foo\.v1\.1\.0 differs from the image/)
    expect(text).not.toMatch(/1\.0\.9|Secret/)
  })
  test('is shown if SHOWN_REGISTRIES allows it', async () => {
    const { text } = await shownIn(
      credentials({ SHOWN_REGISTRIES: `other.example,${mockRegistry.host}/foo` }),
    )
    expect(text).toMatch(/Secret/)
  })
  test('is hidden if the image is in an internal registry', async () => {
    const { text } = await shownIn({ INTERNAL_REGISTRIES: `${mockRegistry.host}=127.0.0.1/32` })
    expect(text).not.toMatch(/1\.0\.9|Secret/)
  })
  test('is shown if the image is public', async () => {
    const { text } = await shownIn({})
    expect(text).toMatch(/Secret/)
  })
})

describe('a bundle that the base already has', () => {
  test('is not pulled if its file is moved or reformatted', async () => {
    const text = renderCatalogFile(createValidBundleBlob('1.0.0'), createValidBundleBlob('1.1.0'))
    const evaluate = await createChangeEvaluator(
      { [getCatalogPath('v4.20')]: text },
      { 'catalogs/v4.20/foo/moved.yaml': text.replaceAll('\n ', ' ') },
    )
    expect(await evaluate()).toMatchObject({ rules: [], unanswered: [] })
    expect(mockRegistry.requests).toEqual([])
  })
  test('is compared again if its blob changes and its image does not', async () => {
    const blob = createValidBundleBlob('1.0.0')
    const edited = { ...blob, properties: createBundleBlob('1.0.0', 'Bar').properties }
    const evaluate = await createChangeEvaluator(
      { [getCatalogPath('v4.20')]: renderCatalogFile(blob) },
      { [getCatalogPath('v4.20')]: renderCatalogFile(edited) },
    )
    expect((await evaluate()).rules).toEqual(['bundle-differs-from-image'])
  })
})

describe('a bundle name that another catalog has', () => {
  const others = (text: string): OriginFiles => ({
    [getCatalogPath('v4.18')]: renderCatalogFile(createValidBundleBlob('1.0.0')),
    [getCatalogPath('v4.19')]: text,
    [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0')),
  })
  test('cannot get another digest, even if the change touches no other catalog', async () => {
    const base = others(renderCatalogFile(createValidBundleBlob('1.0.0'), createValidBundleBlob('1.1.0')))
    const rebuilt = createBundleBlob('1.1.0')
    const image = mockRegistry.putImage('foo/bundle', undefined, {
      ...buildBundleImage({ ...rebuilt, image: '' }),
      labels: { rebuilt: 'yes' },
    }).reference
    const evaluate = await createChangeEvaluator(base, {
      ...base,
      [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0'), { ...rebuilt, image }),
    })
    const { verdict, findings } = await evaluate()
    expect(verdict).toBe('blocked')
    expect(findings).toMatchObject([
      {
        rule: 'bundle-republished',
        at: { file: getCatalogPath('v4.20') },
        data: { image, published: createValidBundleBlob('1.1.0').image, catalog: 'catalogs/v4.19' },
      },
    ])
  })
  test('with the same image passes without a pull, because the base already has that image', async () => {
    const base = others(renderCatalogFile(createValidBundleBlob('1.0.0'), createValidBundleBlob('1.1.0')))
    const evaluate = await createChangeEvaluator(base, {
      ...base,
      [getCatalogPath('v4.20')]: renderCatalogFile(
        createValidBundleBlob('1.0.0'),
        createValidBundleBlob('1.1.0'),
      ),
    })
    expect(await evaluate()).toMatchObject({ rules: [], unanswered: [], layers: 0 })
  })
  test('is found in a single-file catalog, but not in a catalog that ignores its directory', async () => {
    const flat = renderCatalogFile(createValidBundleBlob('1.0.0'), createValidBundleBlob('1.1.0'))
    const other = {
      ...createBundleBlob('1.1.0'),
      image: pushBundleImage(createBundleBlob('1.1.0', 'Rebuilt')),
    }
    const base: OriginFiles = {
      'catalogs/v4.19/catalog.yaml': flat,
      [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0')),
    }
    const head = { [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0'), other) }
    expect((await (await createChangeEvaluator(base, { ...base, ...head }))()).rules).toContain(
      'bundle-republished',
    )
    await registries?.close()
    const ignored: OriginFiles = {
      [getCatalogPath('v4.19')]: flat,
      'catalogs/v4.19/.indexignore': 'foo\n',
      'catalogs/v4.19/bar/catalog.yaml': '---\nschema: olm.package\nname: bar\n',
      [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0')),
    }
    expect((await (await createChangeEvaluator(ignored, { ...ignored, ...head }))()).rules).not.toContain(
      'bundle-republished',
    )
  })
})

test('bundles above the budget are pulled over several evaluations, each once, and reported', async () => {
  const many = Array.from({ length: 30 }, (_, index) => createValidBundleBlob(`2.0.${index}`))
  const evaluate = await createChangeEvaluator(
    { [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0')) },
    { [getCatalogPath('v4.20')]: renderCatalogFile(createValidBundleBlob('1.0.0'), ...many) },
    { ...defaultBundlePullLimits, pulls: 12 },
  )
  const first = await evaluate()
  expect(first).toMatchObject({ verdict: 'unknown', retryAfter: 2, layers: 24, findings: [] })
  expect(first.unanswered).toMatchObject([
    {
      question: expect.stringContaining('and 17 other bundle images'),
      reason: 'catalog-bot pulls at most 12 bundles per run; the next run will pull this bundle',
    },
  ])
  expect(await evaluate()).toMatchObject({ verdict: 'unknown', layers: 24 })
  expect(await evaluate()).toMatchObject({ layers: 12, unanswered: [], findings: [] })
})
