// The demo's world: a GitHub with the coast's catalog repository, its people, and a registry with its images.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseBundleBlobs, buildBundleImage } from '../registry/bundle-image.ts'
import type { MockRegistry } from '../registry/registry.ts'
import type { ImageContent } from '../registry/registry-image.ts'
import type { MockRepository } from '../github/github-data.ts'
import { botConfigPath, setUpPublishing } from './set-up-publishing.ts'
import { openBotEnvironment, type BotEnvironment, type BotEnvironmentOptions } from './bot-environment.ts'

export const demoRepositoryName = 'coast/operators'
const demoFixtureDirectory = join(import.meta.dirname, '..', '..', 'fixtures', 'demo', 'repository')
const demoUsers = ['harbormaster', 'alice', 'bob', 'carol', 'dave', 'erin', 'mallory'] as const

export interface DemoEnvironment extends Pick<BotEnvironment, 'github' | 'registry' | 'stop'> {
  readonly repository: MockRepository
  /** The repository's files as they began, by path. */
  readonly files: Readonly<Record<string, string>>
  /** What the bot needs in its environment to serve this world. */
  readonly environment: Readonly<Record<string, string>>
}

export interface DemoEnvironmentOptions extends BotEnvironmentOptions {
  /** Changes to the repository's first files. */
  readonly files?: Readonly<Record<string, string>>
  /** Whether the bot publishes catalog images to the registry. Default: it asks a workflow to do that, and no more. */
  readonly publishes?: boolean
}

export async function openDemoEnvironment(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const botEnvironment = await openBotEnvironment(options)
  try {
    return await setUpDemoRepository(botEnvironment, options)
  } catch (error) {
    // Servers that go on would keep alive a process that has nothing to show.
    await botEnvironment.stop()
    throw error
  }
}

async function setUpDemoRepository(
  { github, registry, installBot, stop }: BotEnvironment,
  { files: changed = {}, publishes = false, directory }: DemoEnvironmentOptions,
): Promise<DemoEnvironment> {
  const fixed = readCatalogFixture(registry.host)
  const publishing = publishes ? setUpPublishing(registry, directory) : undefined
  const files = {
    ...fixed,
    ...(publishing && { [botConfigPath]: `${fixed[botConfigPath] ?? ''}${publishing.config}` }),
    ...changed,
  }
  for (const [path, text] of Object.entries(files))
    if (path.startsWith('catalogs/')) pushCatalogImages(registry, text)

  for (const login of demoUsers) github.createUser(login)
  github.createOrganization('coast', ['harbormaster'])
  const repository = await github.createRepository('coast', 'operators', { files })
  github.createWorkflow(demoRepositoryName, 'build-catalogs.yml', {
    dispatchTypes: ['catalog-changed'],
    milliseconds: 300,
  })
  const environment = { ...installBot(demoRepositoryName), ...publishing?.environment }
  return { github, registry, repository, files, environment, stop }
}

/** The files of the catalog repository as they begin, by path; images are named at this registry. */
export function readCatalogFixture(host: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(demoFixtureDirectory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name)
      files[relative(demoFixtureDirectory, path)] = readFileSync(path, 'utf8').replaceAll(
        'registry.example',
        host,
      )
    }
  return files
}

/**
 * Puts what a catalog's text names by tag into the registry: bundles as their blobs say they are, everything else as
 * something to pull. `wanted` chooses among the bundles by name; their related images come with them.
 */
export function pushCatalogImages(
  registry: MockRegistry,
  text: string,
  wanted: (bundle: string) => boolean = () => true,
): void {
  for (const blob of parseBundleBlobs(text)) {
    if (!wanted(blob.name)) continue
    for (const { image } of blob.relatedImages ?? [])
      pushImageByReference(registry, image, { files: { name: image } })
    pushImageByReference(registry, blob.image, buildBundleImage(blob))
  }
}

function pushImageByReference(registry: MockRegistry, reference: string, content: ImageContent): void {
  const [, repository, tag] = /^([^@]+):([\w.-]+)$/.exec(reference.replace(`${registry.host}/`, '')) ?? []
  if (repository !== undefined && reference.startsWith(`${registry.host}/`))
    registry.putImage(repository, tag, content)
}
