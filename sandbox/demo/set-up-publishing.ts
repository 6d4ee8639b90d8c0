// The settings for catalog images, in the demo's repository and on the side of the bot administrator.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MockRegistry } from '../registry/registry.ts'

export const botConfigPath = '.github/catalog-bot.yml'
export const catalogImageRepository = 'coast/catalog'
const baseImageRepository = 'coast/opm'

/** A base image in the registry, the section of the configuration, and the bot administrator's list in a file. */
export function setUpCatalogPublishing(
  registry: MockRegistry,
  directory: string,
): { readonly config: string; readonly environment: Readonly<Record<string, string>> } {
  const platforms = ['linux/amd64', 'linux/arm64']
  registry.putImage(baseImageRepository, 'latest', { platforms, files: { 'bin/opm': 'a program' } })
  const targets = join(directory, 'push-targets.yml')
  writeFileSync(
    targets,
    `- github: coast/operators\n  push: [${registry.host}/${catalogImageRepository}]\n  bases: [${registry.host}/${baseImageRepository}]\n`,
  )
  const config = [
    '# Publish each catalog as an image.',
    'publish:',
    '  - catalog: catalogs/*',
    `    repository: ${registry.host}/${catalogImageRepository}`,
    "    tags: ['v{version}']",
    `    base: ${registry.host}/${baseImageRepository}:latest`,
    '',
  ].join('\n')
  return { config, environment: { PUBLISH_TARGETS: targets } }
}
