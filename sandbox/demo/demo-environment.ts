// The demo environment: a GitHub with the catalog repository and its users, and a registry with its images.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseOlmBundleBlobs, buildBundleImage } from '../registry/bundle-image.ts'
import type { MockRegistry } from '../registry/registry.ts'
import type { MockImageSpec } from '../registry/registry-image.ts'
import type { MockRepository } from '../github/github-data.ts'
import { botConfigPath, setUpCatalogPublishing } from './set-up-publishing.ts'
import { startBotEnvironment, type BotEnvironment, type BotEnvironmentOptions } from './bot-environment.ts'

export const demoRepositoryName = 'coast/operators'
const demoFixtureDirectory = join(import.meta.dirname, '..', '..', 'fixtures', 'demo', 'repository')
const demoUserLogins = ['harbormaster', 'alice', 'bob', 'carol', 'dave', 'erin', 'mallory'] as const

export interface DemoEnvironment extends Pick<BotEnvironment, 'github' | 'registry' | 'stop'> {
  readonly repository: MockRepository
  /** The initial files of the repository, by path. */
  readonly files: Readonly<Record<string, string>>
  /** The environment variables that catalog-bot needs to serve this environment. */
  readonly environment: Readonly<Record<string, string>>
}

export interface DemoEnvironmentOptions extends BotEnvironmentOptions {
  /** Changes to the initial files of the repository. */
  readonly files?: Readonly<Record<string, string>>
  /**
   * Whether catalog-bot publishes catalog images to the registry. By default, it only dispatches a workflow for
   * that.
   */
  readonly publishes?: boolean
}

export async function startDemoEnvironment(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const botEnvironment = await startBotEnvironment(options)
  try {
    return await setUpDemoRepository(botEnvironment, options)
  } catch (error) {
    // Otherwise the servers would keep a failed process alive.
    await botEnvironment.stop()
    throw error
  }
}

async function setUpDemoRepository(
  { github, registry, installBot, stop }: BotEnvironment,
  { files: changed = {}, publishes = false, directory }: DemoEnvironmentOptions,
): Promise<DemoEnvironment> {
  const fixed = readDemoCatalogFiles(registry.host)
  const publishing = publishes ? setUpCatalogPublishing(registry, directory) : undefined
  const files = {
    ...fixed,
    ...(publishing && { [botConfigPath]: `${fixed[botConfigPath] ?? ''}${publishing.config}` }),
    ...changed,
  }
  for (const [path, text] of Object.entries(files))
    if (path.startsWith('catalogs/')) pushCatalogImages(registry, text)

  for (const login of demoUserLogins) github.createUser(login)
  github.createOrganization('coast', ['harbormaster'])
  const repository = await github.createRepository('coast', 'operators', { files })
  github.createWorkflow(demoRepositoryName, 'build-catalogs.yml', {
    dispatchTypes: ['catalog-changed'],
    milliseconds: 300,
  })
  const environment = { ...installBot(demoRepositoryName), ...publishing?.environment }
  return { github, registry, repository, files, environment, stop }
}

/** The initial files of the catalog repository, by path. Images refer to this registry. */
export function readDemoCatalogFiles(host: string): Record<string, string> {
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
 * Pushes all images that a catalog references by tag to the registry. Bundle images match their blobs; other images
 * have arbitrary content. `wanted` selects bundles by name, including their related images.
 */
export function pushCatalogImages(
  registry: MockRegistry,
  text: string,
  wanted: (bundle: string) => boolean = () => true,
): void {
  for (const blob of parseOlmBundleBlobs(text)) {
    if (!wanted(blob.name)) continue
    for (const { image } of blob.relatedImages ?? [])
      pushImageToMockRegistry(registry, image, { files: { name: image } })
    pushImageToMockRegistry(registry, blob.image, buildBundleImage(blob))
  }
}

function pushImageToMockRegistry(registry: MockRegistry, reference: string, content: MockImageSpec): void {
  const [, repository, tag] = /^([^@]+):([\w.-]+)$/.exec(reference.replace(`${registry.host}/`, '')) ?? []
  if (repository !== undefined && reference.startsWith(`${registry.host}/`))
    registry.putImage(repository, tag, content)
}
