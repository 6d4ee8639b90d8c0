// Catalogs after bundles are added to them: computed from Git trees, validated, and described.
import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { defaultOpmRuleSet } from '../../../packages/fbc/src/model/rule-set.ts'
import { validatePostReleaseCatalogs } from '../../../src/checks/bundles/validate-post-release-catalogs.ts'
import {
  createBundleImageNameFormatter,
  formatPlaceholderImage,
} from '../../../src/checks/bundles/post-release-catalog.ts'
import { parseImageReference } from '../../../packages/fbc/src/go/reference/image-reference.ts'
import { readPostReleaseCatalogs } from '../../../src/evaluate/read-check-input.ts'
import { readBundleDirectories } from '../../../src/evaluate/read-bundle-directories.ts'
import { formatDescriptionLinesAsText } from '../../../src/report/describe-change.ts'
import { describePostReleaseCatalogChanges } from '../../../src/report/evaluation-report.ts'
import {
  base,
  createBundleDirectoryFiles,
  emptyRepositoryLayout,
  createFakeGitRepository,
  result,
  type FileTree,
} from './bundle-trees.ts'
import { noopCache } from '../../../src/catalogs/memory-cache.ts'

async function buildCatalogs(before: FileTree, after: FileTree, image?: string) {
  const { paths, read } = createFakeGitRepository(before, after)
  const loader = {
    cache: noopCache,
    load: async (_repository: unknown, tree: string, root: string) => {
      const text = (tree === base ? before : after)[`${root}/catalog.yaml`]
      const facts = text === undefined ? undefined : parseCatalogFile(new TextEncoder().encode(text))
      return facts && assembleCatalog([{ path: 'catalog.yaml', facts }])
    },
  }
  const context = { repository: read, loader, base, result }
  const projected = await readPostReleaseCatalogs(
    await readBundleDirectories({ paths }, { ...context, layout: emptyRepositoryLayout }),
    context,
    createBundleImageNameFormatter(image),
  )
  const channels = projected[0]?.changes[0]?.result?.channels.map(({ name, entries }) => [
    name,
    entries.map((entry) => [entry.name, entry.replaces, ...entry.skips]),
  ])
  return {
    projected,
    channels,
    text: formatDescriptionLinesAsText(describePostReleaseCatalogChanges(projected)),
    findings: validatePostReleaseCatalogs(projected, defaultOpmRuleSet, {}),
  }
}

const createReleaseConfigYaml = (more: string) =>
  `catalog_templates:\n  - template_name: t.yaml\n    channels: [${more.startsWith('Fast') ? 'Fast' : 'stable'}]\n${more.startsWith('Fast') ? '' : more}`

function createCiYamlWithCatalogMapping(type: string): FileTree {
  return {
    'operators/foo/ci.yaml': `fbc:
  enabled: true
  catalog_mapping: [{template_name: t.yaml, type: ${type}, catalog_names: [v4.19, v4.20]}]
`,
  }
}

const imageDigest = `sha256:${'a'.repeat(64)}`
const createBundleYaml = (version: string) => `---
schema: olm.bundle
name: foo.v${version}
package: foo
image: quay.io/foo/foo@${imageDigest}
properties: [{type: olm.package, value: {packageName: foo, version: ${version}}}]
`
const renderedCatalogYaml = `schema: olm.package
name: foo
defaultChannel: stable
---
schema: olm.channel
package: foo
name: stable
entries: [{name: foo.v1.0.0}]
${createBundleYaml('1.0.0')}`
const basicFiles: FileTree = {
  ...createCiYamlWithCatalogMapping('olm.template.basic'),
  'operators/foo/catalog-templates/t.yaml': `schema: olm.template.basic
entries:
- {schema: olm.package, name: foo, defaultChannel: stable}
- {schema: olm.channel, package: foo, name: stable, entries: [{name: foo.v1.0.0}]}
- {schema: olm.bundle, image: 'quay.io/foo/foo@${imageDigest}'}
`,
  'catalogs/v4.19/foo/catalog.yaml': renderedCatalogYaml,
  'catalogs/v4.20/foo/catalog.yaml': renderedCatalogYaml,
}
const releaseConfigPath = 'operators/foo/1.1.0/release-config.yaml'
const addRelease = (files: FileTree, version: string, config: string): FileTree => ({
  ...files,
  ...createBundleDirectoryFiles(version),
  [`operators/foo/${version}/release-config.yaml`]: createReleaseConfigYaml(config),
})

describe('a bundle with a release configuration', () => {
  test('is added to the catalogs of its basic template as configured', async () => {
    const after = addRelease(basicFiles, '1.1.0', '    replaces: foo.v1.0.0\n')
    const { channels, text, findings } = await buildCatalogs(basicFiles, after)
    expect(channels).toEqual([
      [
        'stable',
        [
          ['foo.v1.0.0', ''],
          ['foo.v1.1.0', 'foo.v1.0.0'],
        ],
      ],
    ])
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(text.join('\n')).toContain('foo in v4.19, v4.20:')
    expect(text.join('\n')).toContain('1.1.0 added to channel stable, replaces 1.0.0')
    expect(text.join('\n')).toContain('image not built yet: not-built.invalid/foo:1.1.0')
  })

  test('is shown with the expected name of its image', async () => {
    const after = addRelease(basicFiles, '1.1.0', '    replaces: foo.v1.0.0\n')
    const { text } = await buildCatalogs(basicFiles, after, 'quay.io/org/{package}:v{version}')
    expect(text.at(-1)).toBe('  expected image: quay.io/org/foo:v1.1.0')
    expect((await buildCatalogs(basicFiles, after)).text.at(-1)).toBe(
      '  image not built yet: not-built.invalid/foo:1.1.0',
    )
  })

  test('gets errors at a line of the configuration if opm would reject the catalog', async () => {
    const after = addRelease(basicFiles, '1.1.0', '')
    const { findings } = await buildCatalogs(basicFiles, after)
    const errors = findings.filter(({ severity }) => severity === 'error')
    expect(errors.length).toBeGreaterThan(0)
    expect(new Set(errors.map(({ at }) => `${at?.file}:${at?.line}`))).toEqual(
      new Set([`${releaseConfigPath}:2`]),
    )
  })

  test('is not added if the catalogs already contain it', async () => {
    const after = addRelease(basicFiles, '1.0.0', '')
    expect((await buildCatalogs(basicFiles, after)).projected).toEqual([])
  })

  test('that was merged without a configuration is added when it gets one', async () => {
    const before = { ...basicFiles, ...createBundleDirectoryFiles('1.1.0') }
    const after = { ...before, [releaseConfigPath]: createReleaseConfigYaml('    replaces: foo.v1.0.0\n') }
    const { channels } = await buildCatalogs(before, after)
    expect(channels?.[0]?.[1]).toContainEqual(['foo.v1.1.0', 'foo.v1.0.0'])
    expect((await buildCatalogs(after, before)).projected).toEqual([])
  })

  test('creates a template that does not exist yet', async () => {
    const before = createCiYamlWithCatalogMapping('olm.template.basic')
    const after = addRelease(before, '1.1.0', '')
    const { channels, text } = await buildCatalogs(before, after)
    expect(channels).toEqual([['stable', [['foo.v1.1.0', '']]]])
    expect(text.join('\n')).toContain('foo is new in v4.19, v4.20')
  })

  test('is added to a semver template with keys in any case', async () => {
    const before: FileTree = {
      ...createCiYamlWithCatalogMapping('olm.semver'),
      'operators/foo/catalog-templates/t.yaml': `Schema: olm.semver
GenerateMinorChannels: true
FAST: {Bundles: [{Image: 'quay.io/foo/foo@${imageDigest}'}]}
`,
      'catalogs/v4.19/foo/catalog.yaml': renderedCatalogYaml,
    }
    const after = addRelease(before, '1.0.1', 'Fast')
    const { channels } = await buildCatalogs(before, after)
    expect(channels).toEqual([
      [
        'fast-v1.0',
        [
          ['foo.v1.0.0', ''],
          ['foo.v1.0.1', '', 'foo.v1.0.0'],
        ],
      ],
    ])
  })

  test('reports an image in the template that no catalog contains', async () => {
    const before = {
      ...basicFiles,
      'catalogs/v4.19/foo/catalog.yaml': '',
      'catalogs/v4.20/foo/catalog.yaml': '',
    }
    const after = addRelease(before, '1.1.0', '')
    const { text, findings } = await buildCatalogs(before, after)
    expect(findings).toEqual([])
    expect(text.join('\n')).toContain(`do not contain quay.io/foo/foo@${imageDigest} yet`)
  })
})

describe('a package without templates', () => {
  const of = (mode: string): FileTree => ({ 'operators/foo/ci.yaml': `updateGraph: ${mode}\n` })
  const olds = {
    ...createBundleDirectoryFiles('1.0.0'),
    ...createBundleDirectoryFiles('1.1.0', '  replaces: foo.v1.0.0\n'),
  }
  test.each([
    [
      'replaces-mode',
      '1.1.1',
      '  replaces: foo.v1.1.0\n',
      [
        ['foo.v1.0.0', ''],
        ['foo.v1.1.0', 'foo.v1.0.0'],
        ['foo.v1.1.1', 'foo.v1.1.0'],
      ],
    ],
    [
      'semver-mode',
      '1.0.5',
      '',
      [
        ['foo.v1.0.0', ''],
        ['foo.v1.0.5', 'foo.v1.0.0'],
        ['foo.v1.1.0', 'foo.v1.0.5'],
      ],
    ],
    [
      'semver-skippatch',
      '1.1.1',
      '',
      [
        ['foo.v1.0.0', ''],
        ['foo.v1.1.1', 'foo.v1.0.0', 'foo.v1.1.0'],
      ],
    ],
  ])('has the graph of its update mode: %s', async (mode, version, more, entries) => {
    const before = { ...of(mode), ...olds }
    const { channels } = await buildCatalogs(before, {
      ...before,
      ...createBundleDirectoryFiles(version, more),
    })
    expect(channels).toEqual([['stable', entries]])
  })

  test('shows the effect of another update mode, and nothing for other settings', async () => {
    const ciYaml = (mode: string, more = '') => ({
      'operators/foo/ci.yaml': `reviewers: [alice${more}]\nupdateGraph: ${mode}\n`,
    })
    const bundles = { ...createBundleDirectoryFiles('1.0.0'), ...createBundleDirectoryFiles('1.1.0') }
    const before = { ...bundles, ...ciYaml('replaces-mode') }
    const { text, findings, projected } = await buildCatalogs(before, {
      ...bundles,
      ...ciYaml('semver-mode'),
    })
    expect(text.join('\n')).toContain('1.1.0')
    expect(projected[0]?.at.whole).toEqual({ file: 'operators/foo/ci.yaml', line: 2, column: 1 })
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(
      (await buildCatalogs(before, { ...bundles, ...ciYaml('replaces-mode', ', bob') })).projected,
    ).toEqual([])
  })

  test('gets a warning about a second head at the ClusterServiceVersion', async () => {
    const before = { ...of('replaces-mode'), ...olds }
    const { findings } = await buildCatalogs(before, {
      ...before,
      ...createBundleDirectoryFiles('1.2.0', '  replaces: foo.v1.0.0\n'),
    })
    const error = findings.find(({ rule }) => rule === 'several-heads')
    expect(error?.severity).toBe('warning')
    expect(error?.at?.file).toBe('operators/foo/1.2.0/manifests/foo.clusterserviceversion.yaml')
  })

  test('gets no finding about a problem that its base already has', async () => {
    const before = {
      ...of('replaces-mode'),
      ...olds,
      ...createBundleDirectoryFiles('1.2.0', '  replaces: foo.v1.0.0\n'),
    }
    const { findings } = await buildCatalogs(before, {
      ...before,
      ...createBundleDirectoryFiles('1.3.0', '  replaces: foo.v1.2.0\n'),
    })
    expect(findings.filter(({ rule }) => rule === 'several-heads')).toEqual([])
  })
})

test('a placeholder is a valid image reference for any name of the directory', () => {
  for (const [directory, version] of [
    ['Foo_bar', '1.0.0+build'],
    ['---', '-x'],
    ['é', 'ü'.repeat(200)],
  ] as const)
    expect(parseImageReference(formatPlaceholderImage(directory, version)).reference).toBeDefined()
})
