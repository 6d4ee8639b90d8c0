// The demo's world: a GitHub with the coast's catalog repository, its people, and a registry with its images.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { bundleDocuments, bundleImage } from '../sandbox/bundle-image.ts'
import { startGitHub, type GitHub } from '../sandbox/github.ts'
import { startRegistry, type Registry } from '../sandbox/registry.ts'
import type { ImageContent } from '../sandbox/registry-image.ts'
import { newPrivateKey } from '../sandbox/settings.ts'
import type { Repo } from '../sandbox/world.ts'

export const repositoryName = 'coast/operators'
const fixture = join(import.meta.dirname, '..', '..', 'fixtures', 'demo', 'repository')
const people = ['harbormaster', 'alice', 'bob', 'carol', 'dave', 'erin', 'mallory'] as const

export interface Coast {
  readonly github: GitHub
  readonly registry: Registry
  readonly repository: Repo
  /** The repository's files as they began, by path. */
  readonly files: Readonly<Record<string, string>>
  /** What the bot needs in its environment to serve this world. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export interface CoastOptions {
  /** A folder for repositories and the bot's data. */
  readonly directory: string
  readonly sweepSeconds?: number
  /** Checks all traffic against GitHub's OpenAPI document. */
  readonly validateTraffic?: boolean
  /** Changes to the repository's first files. */
  readonly files?: Readonly<Record<string, string>>
}

/** The App's permissions and events, as app.yml asks for them. */
export const permissions = {
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  actions: 'read',
  metadata: 'read',
  members: 'read',
} as const
export const events = [
  'pull_request',
  'pull_request_review',
  'issue_comment',
  'check_run',
  'check_suite',
  'push',
  'merge_group',
  'workflow_run',
]

export async function openCoast(options: CoastOptions): Promise<Coast> {
  const registry = await startRegistry({})
  const { host } = registry
  const files = { ...readFixture(host), ...options.files }
  for (const [path, text] of Object.entries(files))
    if (path.startsWith('catalogs/')) publishImages(registry, text)

  const github = await startGitHub({
    directory: join(options.directory, 'github'),
    ...(options.validateTraffic !== undefined && { validateTraffic: options.validateTraffic }),
  })
  for (const login of people) github.createUser(login)
  github.createOrganization('coast', ['harbormaster'])
  const repository = await github.createRepository('coast', 'operators', { files })
  github.createWorkflow(repositoryName, 'build-catalogs.yml', {
    dispatchTypes: ['catalog-changed'],
    milliseconds: 300,
  })
  const webhookSecret = randomBytes(24).toString('hex')
  const privateKey = newPrivateKey()
  const { app } = github.installApp({ slug: 'catalog-bot', privateKey, webhookSecret, events, permissions }, [
    repositoryName,
  ])
  return {
    github,
    registry,
    repository,
    files,
    environment: {
      APP_ID: String(app.id),
      PRIVATE_KEY: privateKey,
      WEBHOOK_SECRET: webhookSecret,
      GITHUB_API_URL: github.url,
      GITHUB_URL: github.url,
      GITHUB_THROTTLE: 'off',
      DATA_DIR: join(options.directory, 'bot'),
      SWEEP_SECONDS: String(options.sweepSeconds ?? 300),
      INSECURE_REGISTRIES: host,
      LOG_LEVEL: 'info',
    },
    async stop() {
      await github.stop()
      await registry.stop()
    },
  }
}

function readFixture(host: string): Record<string, string> {
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
