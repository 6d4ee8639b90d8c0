// The demo's world: a GitHub with the coast's catalog repository, its people, and a registry with its images.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { bundleDocuments, bundleImage } from '../registry/bundle-image.ts'
import type { Registry } from '../registry/registry.ts'
import type { ImageContent } from '../registry/registry-image.ts'
import type { Repo } from '../github/world.ts'
import { configPath, furnishPublishing } from './furnish-publishing.ts'
import { openBotWorld, type BotWorld, type BotWorldOptions } from './bot-world.ts'

export const repositoryName = 'coast/operators'
const fixture = join(import.meta.dirname, '..', '..', 'fixtures', 'demo', 'repository')
const people = ['harbormaster', 'alice', 'bob', 'carol', 'dave', 'erin', 'mallory'] as const

export interface DemoWorld extends Pick<BotWorld, 'github' | 'registry' | 'stop'> {
  readonly repository: Repo
  /** The repository's files as they began, by path. */
  readonly files: Readonly<Record<string, string>>
  /** What the bot needs in its environment to serve this world. */
  readonly environment: Readonly<Record<string, string>>
}

export interface DemoWorldOptions extends BotWorldOptions {
  /** Changes to the repository's first files. */
  readonly files?: Readonly<Record<string, string>>
  /** Whether the bot publishes catalog images to the registry. Default: it asks a workflow to do that, and no more. */
  readonly publishes?: boolean
}

export async function openDemoWorld(options: DemoWorldOptions): Promise<DemoWorld> {
  const world = await openBotWorld(options)
  try {
    return await furnished(world, options)
  } catch (error) {
    // Servers that go on would keep alive a process that has nothing to show.
    await world.stop()
    throw error
  }
}

async function furnished(
  { github, registry, installBot, stop }: BotWorld,
  { files: changed = {}, publishes = false, directory }: DemoWorldOptions,
): Promise<DemoWorld> {
  const fixed = readFixture(registry.host)
  const publishing = publishes ? furnishPublishing(registry, directory) : undefined
  const files = {
    ...fixed,
    ...(publishing && { [configPath]: `${fixed[configPath] ?? ''}${publishing.config}` }),
    ...changed,
  }
  for (const [path, text] of Object.entries(files))
    if (path.startsWith('catalogs/')) publishImages(registry, text)

  for (const login of people) github.createUser(login)
  github.createOrganization('coast', ['harbormaster'])
  const repository = await github.createRepository('coast', 'operators', { files })
  github.createWorkflow(repositoryName, 'build-catalogs.yml', {
    dispatchTypes: ['catalog-changed'],
    milliseconds: 300,
  })
  const environment = { ...installBot(repositoryName), ...publishing?.environment }
  return { github, registry, repository, files, environment, stop }
}

/** The files of the catalog repository as they begin, by path; images are named at this registry. */
export function readFixture(host: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(fixture, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name)
      files[relative(fixture, path)] = readFileSync(path, 'utf8').replaceAll('registry.example', host)
    }
  return files
}

/**
 * Puts what a catalog's text names by tag into the registry: bundles as their blobs say they are, everything else as
 * something to pull. `wanted` chooses among the bundles by name; their related images come with them.
 */
export function publishImages(
  registry: Registry,
  text: string,
  wanted: (bundle: string) => boolean = () => true,
): void {
  for (const blob of bundleDocuments(text)) {
    if (!wanted(blob.name)) continue
    for (const { image } of blob.relatedImages ?? []) put(registry, image, { files: { name: image } })
    put(registry, blob.image, bundleImage(blob))
  }
}

function put(registry: Registry, reference: string, content: ImageContent): void {
  const [, repository, tag] = /^([^@]+):([\w.-]+)$/.exec(reference.replace(`${registry.host}/`, '')) ?? []
  if (repository !== undefined && reference.startsWith(`${registry.host}/`))
    registry.putImage(repository, tag, content)
}
