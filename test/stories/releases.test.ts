// A merged bundle directory gets into the catalogs. The bot opens one pull request for it, even if it crashes,
// evaluates it like any other, and merges it by the role from the configuration.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runGitForText } from '../../sandbox/github/git/git-store.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { createBundleDirectoryFiles, type FileTree } from '../checks/bundles/bundle-trees.ts'
import {
  createFakeDigest,
  createReleasableBundleFiles,
  releaseRepositoryFiles,
  templatePath,
} from '../release/worker/release-files.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

const botConfigPath = '.github/catalog-bot.yml'

describe('a repository with catalogs that are generated from bundles', () => {
  let story: StoryEnvironment
  const config = (more: string) =>
    `bundles:\n  image: ${story.demo.registry.host}/foo/{package}:{version}\n${more}`
  const own = (): readonly MockPull[] =>
    [...story.demo.repository.pulls.values()].filter(({ author }) => author.login === 'catalog-bot[bot]')
  /** Builds the image of a bundle directory, as its pipeline does. Returns its digest. */
  const build = (version: string, files: FileTree = createBundleDirectoryFiles(version)): string => {
    const { registry } = story.demo
    const root = `operators/foo/${version}/`
    const inside = Object.entries(files)
      .filter(([path]) => path.startsWith(root) && !path.endsWith('release-config.yaml'))
      .map(([path, text]) => [path.slice(root.length), text] as const)
    const annotations = inside.find(([path]) => path === 'metadata/annotations.yaml')?.[1] ?? ''
    const labels = Object.fromEntries(
      annotations
        .split('\n')
        .slice(1)
        .flatMap((line) => {
          const [key = '', value = ''] = line.trim().split(': ')
          return key === '' ? [] : [[key, value]]
        }),
    )
    registry.putImage('foo/foo', version, { labels, files: Object.fromEntries(inside) })
    return registry.manifest('foo/foo', version)?.digest ?? ''
  }
  const propose = (version: string, replaces: string): Promise<MockPull> =>
    story.demo.github.openPull({
      repository: demoRepositoryName,
      author: 'alice',
      title: `foo ${version}`,
      changes: createReleasableBundleFiles(version, replaces),
    })

  beforeAll(async () => {
    story = await startStoryEnvironment({ sweepSeconds: 2, environment: { LEASE_SECONDS: '2' } })
    const { github, registry } = story.demo
    const old = `${registry.host}/foo/foo@${build('1.0.0')}`
    const files = Object.entries({ ...releaseRepositoryFiles, [botConfigPath]: config('') }).map(
      ([path, text]) => [path, text.replaceAll(`quay.io/foo/foo@${createFakeDigest('a')}`, old)],
    )
    await github.pushToBase(demoRepositoryName, Object.fromEntries(files) as Record<string, string>)
    await story.start({ CATALOG_BOT_CRASH_AT: 'release-opened' })
  })
  afterAll(() => story.close())

  test('gets no pull request from the bot without a configuration for it', async () => {
    build('1.1.0')
    const pull = await propose('1.1.0', 'foo.v1.0.0')
    await story.waitUntil('it is merged', () => pull.merged !== null)
    await story.demo.github.pushToBase(demoRepositoryName, {
      [botConfigPath]: config(
        '  release: {enabled: true}\nautomation:\n  - account: catalog-bot[bot]\n    packages: [foo]\n    channels: [stable]\n    changes: [add-bundle, add-edge, edit-sources]\n',
      ),
    })
    await story.waitUntil('it is looked at', () => story.log.some((line) => line.includes('"release"')))
    expect(own()).toEqual([])
  })

  test('gets one pull request for a merged bundle, even if the bot is killed right after opening it', async () => {
    const pull = await propose('1.2.0', 'foo.v1.0.0')
    await story.waitUntil('it is merged', () => pull.merged !== null)
    expect(own()).toEqual([])
    // Its image is pushed after the merge.
    build('1.2.0')
    expect(await story.bot().exited).toBe('SIGKILL')
    await story.start()
    await story.waitUntil('the release is merged', () => own().some(({ merged: at }) => at !== null))
    expect(own().map(({ headRef }) => headRef)).toEqual(['catalog-bot/add/foo/1.2.0'])
  })

  test('has the bundle in its template and catalogs by digest, after a merge with all checks', async () => {
    const { repository, registry, github } = story.demo
    const image = `${registry.host}/foo/foo@${registry.manifest('foo/foo', '1.2.0')?.digest}`
    for (const path of [templatePath, 'catalogs/v4.19/foo/catalog.yaml', 'catalogs/v4.20/foo/catalog.yaml'])
      expect(await runGitForText(repository.path, 'show', `main:${path}`)).toContain(image)
    const [release] = own()
    if (!release) throw new Error('there is none')
    expect(github.checkRuns(release).map(({ name }) => name)).toContain('catalog-bot / ownership')
    await story.waitUntil('it says that it is merged', () => release.comments.length === 1)
    expect(repository.issues.size).toBe(0)
  })
})
